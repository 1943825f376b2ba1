"""Karpathy's JSON files with his splits of Flickr30k and COCO (Karpathy and Fei-Fei 2015), captions in English."""

from pathlib import Path
from typing import Any

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import first_file, whole_json
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError

FILES = {"flickr30k": "dataset_flickr30k.json", "coco": "dataset_coco.json"}


def read(data: Path, dataset: str) -> Corpus:
    """The corpus `dataset` ("flickr30k" or "coco"): its JSON file, or that gzipped, is in data/<dataset>, data/karpathy
    or data.

    COCO's "restval" photos train, as in all papers since. Blank captions are left out and counted in `info`.
    """
    path = file(data, dataset)
    if path is None:
        place = data / dataset / FILES[dataset]
        raise UserError(f"{place}: no such file; unpack Karpathy's caption_datasets.zip there")
    content = whole_json(path)
    images = content.get("images") if isinstance(content, dict) else None
    if not isinstance(images, list):
        raise UserError(f'{path}: no list "images"; is this one of Karpathy\'s dataset files?')
    builder = Builder(f"{dataset}-karpathy")
    blank = 0
    for number, image in enumerate(images, start=1):
        try:
            blank += _add(builder, image)
        except BadRow as problem:
            raise UserError(f"{path.name}: image {number}: {problem}") from None
    if not len(builder):
        raise UserError(f"{path}: holds no caption")
    skipped = {"rows": blank, "pictures": 0, "captions": 0} if blank else None
    info = CorpusInfo(skipped=skipped, features=features_in(path.parent, data / dataset))
    return builder.corpus(_pictures(path.parent, dataset), info)


def _add(builder: Builder, image: Any) -> int:
    """Adds one image and its captions; returns how many of them were blank."""
    if not isinstance(image, dict):
        raise BadRow("not a JSON object")
    folder, file = checks.optional_field(image, "filepath"), checks.needed_field(image, "filename")
    name = checks.picture_name(f"{folder}/{file}" if folder else file)
    if name in builder:
        raise BadRow(f'"{name}" is there twice')
    split = checks.needed_field(image, "split")
    row = builder.picture(name, "train" if split == "restval" else checks.split_name(split))
    sentences = image.get("sentences")
    if not isinstance(sentences, list) or not all(isinstance(sentence, dict) for sentence in sentences):
        raise BadRow('"sentences" must be a list of objects with a field "raw"')
    texts = [checks.needed_field(sentence, "raw") for sentence in sentences]
    if not any(text.strip() for text in texts):
        raise BadRow(f'"{name}" has no caption')
    for text in texts:
        if text.strip():
            builder.caption(row, "en", checks.caption_text(text))
    return sum(not text.strip() for text in texts)


def file(data: Path, dataset: str) -> Path | None:
    """Where the JSON file of `dataset` lies, if it is there."""
    return first_file((data / dataset, data / "karpathy", data), FILES[dataset])


def _pictures(folder: Path, dataset: str) -> Path | None:
    """Flickr30k's photos lie in one folder; COCO's names begin with train2014/ or val2014/."""
    if dataset == "coco":
        return folder.resolve() if (folder / "val2014").is_dir() else None
    names = ("flickr30k-images", "images")
    return next(((folder / name).resolve() for name in names if (folder / name).is_dir()), None)
