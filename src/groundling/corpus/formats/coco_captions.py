"""COCO photos of 256 × 256 pixels with captions in five languages, gathered from public repositories; and together with
F8K-7, photographs with captions in ten languages.

data/coco/captions.jsonl(.gz) holds them; the photos, whole and squeezed to squares, lie in data/coco/photos/ under the
names in the file, or features.npy and names.txt in data/coco/.
"""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import f8k7
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.flickr8k import pictures_in
from groundling.corpus.formats.photo_lines import add_photos
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import plain_or_gzipped
from groundling.corpus.info import CorpusInfo

CHINESE_DEV = 400  # photos


def read(data: Path) -> Corpus:
    builder = Builder("coco-captions")
    add_photos(builder, captions_file(data), origin)
    folder = data / "coco"
    return builder.corpus(photos_in(folder), CorpusInfo(features=features_in(folder)))


def with_f8k7(data: Path) -> Corpus:
    """Both corpora as one: pictures are named by their folders, such as flickr8k/images/NAME and coco/photos/NAME."""
    flickr, coco = pictures_in(data / "flickr8k"), photos_in(data / "coco")
    builder = Builder("photos")
    add_photos(builder, f8k7.captions_file(data), f8k7.origin, _below(flickr, "flickr8k/images/"))
    add_photos(builder, captions_file(data), origin, _below(coco, "coco/photos/"))
    return builder.corpus(None if flickr is None or coco is None else data.resolve())


def english_chinese(data: Path) -> Corpus:
    """The same, but 400 of the training photos with Chinese captions, drawn by their names, are dev photos: the file
    has no Chinese in its dev split, and models are chosen on it."""
    corpus = read(data)
    chinese = np.unique(corpus.owners[corpus.languages == "zh"])
    training = [int(number) for number in chinese if corpus.splits[number] == "train"]
    training.sort(key=lambda number: hashlib.sha256(str(corpus.pictures[number]).encode()).digest())
    splits = corpus.splits.copy()
    splits[training[:CHINESE_DEV]] = "dev"
    both = replace(corpus, name="coco-en-zh", splits=splits).keep_captions(np.isin(corpus.languages, ["en", "zh"]))
    return both.keep_pictures(np.isin(np.arange(len(both.pictures)), both.owners))


def captions_file(data: Path) -> Path:
    return plain_or_gzipped(data / "coco" / "captions.jsonl")


def photos_in(folder: Path) -> Path | None:
    return (folder / "photos").resolve() if (folder / "photos").is_dir() else None


def origin(language: str, told: str) -> str:
    """Machine translations, checked by people or not, are the machine's; what people wrote or translated is theirs."""
    return "machine" if told.startswith("machine") else "human"


def _below(folder: Path | None, usual: str) -> str:
    return usual if folder is None else f"{folder.parent.name}/{folder.name}/"
