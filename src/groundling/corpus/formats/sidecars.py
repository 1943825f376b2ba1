"""Pictures with their captions beside them: dog.jpg, dog.en.txt, dog.cs.txt, one caption per line."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from groundling.corpus.formats.pictures import Nearest, picture_files
from groundling.corpus.formats.rows import Row
from groundling.corpus.formats.text_lines import numbered_lines


class Sidecar(NamedTuple):
    """A text file named `name.<language>.txt`: its path below the folder, and the two parts of its name."""

    path: str
    picture: str
    language: str


def sidecars(folder: Path) -> list[Sidecar]:
    """All files with such a name, in a fixed order; `readme.txt` is none of them."""
    found = []
    for inside, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            picture, _, language = file.removesuffix(".txt").rpartition(".")
            if file.endswith(".txt") and picture and not file.startswith("."):
                place = Path(inside).relative_to(folder)
                found.append(Sidecar((place / file).as_posix(), (place / picture).as_posix(), language))
    return found


def read_sidecars(folder: Path) -> Iterator[tuple[str, Row]]:
    """(file, row) for each caption; a text without its picture, or a picture without a text, is a row's problem.

    A text belongs to the picture of the same name without its suffix, or with it (dog.jpg.en.txt).
    """
    by_name: dict[str, list[str]] = {}
    for picture in picture_files(folder):
        by_name.setdefault(picture, []).append(picture)
        by_name.setdefault(str(PurePosixPath(picture).with_suffix("")), []).append(picture)
    nearest = Nearest(by_name)
    for sidecar in sidecars(folder):
        pictures = by_name.get(sidecar.picture, [])
        if len(pictures) != 1:
            both = f"belongs to both {' and '.join(pictures[:2])}; add the suffix to its name"
            yield sidecar.path, Row(0, {}, both if pictures else f"no picture beside it{nearest(sidecar.picture)}")
            continue
        empty = True
        for number, line in numbered_lines(folder / sidecar.path):
            if line.strip():
                empty = False
                fields = {"picture": pictures[0], "language": sidecar.language, "text": line.rstrip("\r\n")}
                yield sidecar.path, Row(number, fields)
        if empty:
            yield sidecar.path, Row(0, {}, "holds no caption")
