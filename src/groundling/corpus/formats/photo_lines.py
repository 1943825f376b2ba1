"""Captions in several languages, one photo a line.

{"image": "….jpg", "split": "train", "captions": {"en": […], "de": […], …}}, and perhaps "origins": {"en": "human", …}.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from groundling.corpus.formats import checks
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.errors import UserError

#: (language, what the line says of its origin, "" where it says nothing) → the origin of its captions
Origin = Callable[[str, str], str]


def add_photos(builder: Builder, path: Path, origin: Origin, below: str = "") -> None:
    """All photos of a file, their names below the folder `below`; a mistake is an error that names its line."""
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            _add(builder, json.loads(line), origin, below)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path.name}:{number}: broken JSON ({error})") from None
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}") from None
    if not len(builder):
        raise UserError(f"{path}: holds no caption")


def _add(builder: Builder, photo: Any, origin: Origin, below: str) -> None:
    if not isinstance(photo, dict):
        raise BadRow("not a JSON object")
    name = below + checks.picture_name(checks.needed_field(photo, "image"))
    if name in builder:
        raise BadRow(f'the photo "{name}" is there twice')
    row = builder.picture(name, checks.split_name(checks.needed_field(photo, "split")))
    captions, origins = photo.get("captions"), photo.get("origins") or {}
    if not isinstance(captions, dict) or not all(isinstance(texts, list) for texts in captions.values()):
        raise BadRow('"captions" must hold a list of captions for each language')
    if not isinstance(origins, dict):
        raise BadRow('"origins" must name the origin of the captions in each language')
    if not any(captions.values()):
        raise BadRow(f'the photo "{name}" has no caption')
    for language, texts in captions.items():
        told = origin(language, str(origins.get(language, "")))
        for text in texts:
            if not isinstance(text, str):
                raise BadRow(f'a caption in "{language}" is not text')
            builder.caption(row, checks.language_code(language), checks.caption_text(text), told)
