"""Whether the pictures a table names are there and can be read."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path, PurePosixPath

from groundling.corpus.formats.checks import BadRow, short
from groundling.decoding.structure import PictureError
from groundling.decoding.thumbnail import load_whole
from groundling.decoding.workers import Workers, shared
from groundling.errors import did_you_mean
from groundling.progress import bar

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".ppm"})
_MOST_REMEMBERED = 1_000_000  # names of which is known whether they are there
_MOST_COMPARED = 50_000  # names looked at for "did you mean", over all rows


class Nearest:
    """ "did you mean", for as many names as can be compared without a long wait: a wrong table must not take hours."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = list(islice(known, _MOST_COMPARED))
        self._left = _MOST_COMPARED

    def __call__(self, name: str) -> str:
        if self._left < len(self._known):
            return ""
        self._left -= len(self._known)
        same_file = [known for known in self._known if PurePosixPath(known).name == PurePosixPath(name).name]
        return did_you_mean(name, same_file or self._known)


class PictureFolder:
    """Answers "is there such a picture?" once per name, and names the nearest one where there is not."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._there: dict[str, bool] = {}
        self._nearest: Nearest | None = None

    def require(self, name: str) -> None:
        if name not in self._there:
            if len(self._there) >= _MOST_REMEMBERED:
                self._there.clear()  # rows of one picture mostly stand together
            self._there[name] = _is_file(self.root / name)
        if not self._there[name]:
            self._nearest = self._nearest or Nearest(picture_files(self.root))
            raise BadRow(f'no picture named "{short(name)}" in {self.root.name}/{self._nearest(name)}')


def picture_files(root: Path) -> Iterator[str]:
    """Paths below `root` of all files that are named like pictures, in a fixed order."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        for file in sorted(files):
            path = Path(folder, file)
            if path.suffix.lower() in SUFFIXES and not file.startswith("."):
                yield path.relative_to(root).as_posix()


def unreadable(root: Path, names: Sequence[str]) -> dict[str, str]:
    """Pictures that do not decode to their last pixel, and why."""
    bad: dict[str, str] = {}
    workers = shared()
    with ThreadPoolExecutor(workers.count) as pool, bar("Checking pictures", len(names)) as progress:
        for name, reason in zip(names, pool.map(lambda name: _failure(workers, root / name), names), strict=True):
            if reason:
                bad[name] = reason
            progress.advance()
    return bad


def _failure(workers: Workers, path: Path) -> str:
    try:
        data = path.read_bytes()
        if not data:
            return "the file is empty"
        workers.decode(data, load_whole)
    except PictureError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name longer than the file system allows
        return False
