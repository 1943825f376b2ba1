"""F8K-7: the photos that are in both Flickr8k and Multi30K, with human captions in seven languages.

One JSON object per line: {"image": "….jpg", "split": "train", "captions": {"en": […], "de": […], …}}.
"""

import json
from pathlib import Path
from typing import Any

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.flickr8k import pictures_in
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import numbered_lines, plain_or_gzipped
from groundling.errors import UserError

TRANSLATED = frozenset({"fr", "cs", "ar"})  # from an English caption; the other languages saw only the photo


def read(data: Path) -> Corpus:
    """The corpus in data/f8k7/captions.jsonl(.gz); its image features are looked for in data/flickr8k."""
    path = plain_or_gzipped(data / "f8k7" / "captions.jsonl")
    builder = Builder("f8k7")
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            _add(builder, json.loads(line))
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path.name}:{number}: broken JSON ({error})") from None
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}") from None
    if not len(builder):
        raise UserError(f"{path}: holds no caption")
    flickr8k = data / "flickr8k"
    return builder.corpus(pictures_in(flickr8k), features_in(flickr8k))


def _add(builder: Builder, photo: Any) -> None:
    if not isinstance(photo, dict):
        raise BadRow("not a JSON object")
    name = checks.picture_name(checks.needed_field(photo, "image"))
    if name in builder:
        raise BadRow(f'the photo "{name}" is there twice')
    row = builder.picture(name, checks.split_name(checks.needed_field(photo, "split")))
    captions = photo.get("captions")
    if not isinstance(captions, dict) or not all(isinstance(texts, list) for texts in captions.values()):
        raise BadRow('"captions" must hold a list of captions for each language')
    if not any(captions.values()):
        raise BadRow(f'the photo "{name}" has no caption')
    for language, texts in captions.items():
        origin = "translation" if language in TRANSLATED else "human"
        for text in texts:
            if not isinstance(text, str):
                raise BadRow(f'a caption in "{language}" is not text')
            builder.caption(row, checks.language_code(language), checks.caption_text(text), origin)
