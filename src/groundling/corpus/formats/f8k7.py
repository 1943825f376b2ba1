"""F8K-7: the photos that are in both Flickr8k and Multi30K, with human captions in seven languages."""

from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.flickr8k import pictures_in
from groundling.corpus.formats.photo_lines import add_photos
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import plain_or_gzipped
from groundling.corpus.info import CorpusInfo

TRANSLATED = frozenset({"fr", "cs", "ar"})  # from an English caption; the other languages saw only the photo


def read(data: Path) -> Corpus:
    """The corpus in data/f8k7/captions.jsonl(.gz); its image features are looked for in data/flickr8k."""
    builder = Builder("f8k7")
    add_photos(builder, captions_file(data), origin)
    flickr8k = data / "flickr8k"
    return builder.corpus(pictures_in(flickr8k), CorpusInfo(features=features_in(flickr8k)))


def captions_file(data: Path) -> Path:
    return plain_or_gzipped(data / "f8k7" / "captions.jsonl")


def origin(language: str, told: str) -> str:
    return "translation" if language in TRANSLATED else "human"
