"""Captions in the annotation files of COCO (Chen et al. 2015) and, alike, YJ Captions (Miyazaki and Shimizu 2016)."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.text_lines import whole_json
from groundling.errors import UserError, did_you_mean


class Annotation(NamedTuple):
    """One caption: where it stands in the file, the number of its picture, and the text, which may be blank."""

    place: str
    picture: int
    text: str


def read(path: Path) -> Iterator[Annotation]:
    """The captions under "annotations". What else the file holds (pictures, licences) is not needed."""
    content = whole_json(path)
    listed = content.get("annotations") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise UserError(f'{path}: no list "annotations"; is this a file of captions in COCO\'s layout?')
    if not listed:
        raise UserError(f"{path}: holds no caption")
    seen: set[tuple[int, int]] = set()
    for count, fields in enumerate(listed, start=1):
        place = f"{path.name}: annotation {count}"
        try:
            if not isinstance(fields, dict):
                raise BadRow("not a JSON object")
            picture, own = _number(fields, "image_id"), _number(fields, "id")
            if (picture, own) in seen:
                raise BadRow(f"caption {own} of picture {picture} is there twice; fetch the file again")
            seen.add((picture, own))
            yield Annotation(place, picture, checks.needed_field(fields, "caption"))
        except BadRow as problem:
            raise UserError(f"{place}: {problem}") from None


def _number(fields: Mapping[str, object], name: str) -> int:
    if name not in fields:
        raise BadRow(f'no field "{name}"{did_you_mean(name, fields)}')
    value = fields[name]
    if type(value) is not int or not 0 <= value < 10**12:
        raise BadRow(f'"{name}" must be a whole number of at most 12 digits')
    return value
