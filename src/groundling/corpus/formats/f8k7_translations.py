"""The photos of F8K-7 with the translations of Multi30K: one English caption and its German, French and Czech versions.

F8K-7 has comparable captions in English and German; these are the translated ones of the same photos (Multi30K task 1),
in F8K-7's splits. Together they allow every experiment on translations against comparable captions.
"""

from pathlib import Path

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import f8k7, multi30k
from groundling.corpus.formats.builder import Builder
from groundling.errors import UserError


def read(data: Path) -> Corpus:
    """Photos, splits and features as in F8K-7, captions as written from data/multi30k/task1."""
    photos, translated = f8k7.read(data), multi30k.read(data, task=1, text="raw")
    row_of = {name: row for row, name in enumerate(translated.pictures.tolist())}
    order = np.argsort(translated.owners, kind="stable")  # captions of one photo stand together
    ends = np.searchsorted(translated.owners[order], np.arange(len(row_of) + 1))
    builder = Builder("f8k7-translations")
    for name, split in zip(photos.pictures.tolist(), photos.splits.tolist(), strict=True):
        original = flickr30k_name(name)
        if original not in row_of:
            raise UserError(f'f8k7: Multi30K task 1 has no photo "{original}" for "{name}"')
        row = builder.picture(name, split)
        for caption in order[ends[row_of[original]] : ends[row_of[original] + 1]].tolist():
            language, origin = str(translated.languages[caption]), str(translated.origins[caption])
            builder.caption(row, language, translated.texts[caption], origin)
    return builder.corpus(photos.root, photos.info)


def flickr30k_name(name: str) -> str:
    """Flickr8k calls a photo 1000268201_693b08cb0e.jpg, Flickr30k 1000268201.jpg."""
    return name.partition("_")[0] + ".jpg" if "_" in name else name
