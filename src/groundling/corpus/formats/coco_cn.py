"""COCO-CN (Li et al. 2019): what people wrote in Chinese about pictures of COCO."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from groundling.corpus.formats.checks import BadRow, short
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.errors import UserError

FILE = "imageid.human-written-caption.txt"
RELEASE = "coco-cn-version1805v1.1"
_KEY = re.compile(r"([^#\s]+)#(\d{1,6})", re.ASCII)


class Line(NamedTuple):
    """One caption: its line in the file, the name of its picture, and the text, which may be blank."""

    line: int
    picture: str
    text: str


def read(path: Path) -> Iterator[Line]:
    """The captions of a file whose lines are COCO_val2014_000000391895#0, a tab, and the text; empty lines are skipped.

    The number after # tells captions of one picture apart.
    """
    seen: dict[str, int] = {}
    for number, line in numbered_lines(path):
        line = line.rstrip("\r\n")
        if not line.strip():
            continue
        try:
            key, tab, text = line.partition("\t")
            found = _KEY.fullmatch(key)
            if not found or not tab:
                raise BadRow(f'"{short(line)}" is not PICTURE#NUMBER, a tab and a caption')
            first = seen.setdefault(key, number)
            if first != number:
                raise BadRow(f'"{key}" is in line {first}, too; fetch the file again')
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}") from None
        yield Line(number, found[1], text)
    if not seen:
        raise UserError(f"{path}: holds no caption")
