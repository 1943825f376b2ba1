"""What `corpus build` reads as a stream: which files a name stands for, and the format of each.

A name may be a pattern: shards/{000..999}.tar, train-*.parquet, {train,val}.tar.
"""

import re
from collections.abc import Iterator
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from groundling.corpus.formats import image_folder, own_tables, picture_files, picture_tables, webdataset
from groundling.corpus.formats.caption_table import corpus_name, table_in
from groundling.corpus.formats.rows import kind_of
from groundling.corpus.formats.samples import Sample, SampleFormat
from groundling.corpus.formats.sidecars import sidecars
from groundling.errors import UserError

#: The first that suits reads a file. A new format is one line here.
FORMATS = (
    webdataset.FORMAT,
    image_folder.FORMAT,
    picture_tables.SAVED,
    picture_tables.PARQUET,
    own_tables.FORMAT,
    picture_files.FORMAT,
)
LARGE = 64 * 2**20  # bytes of a table from which it is not read into memory as a whole
MOST_FILES = 1_000_000
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d+)\.\.(\d+)")


class Source(NamedTuple):
    """Files to be read one after the other.

    Attributes:
        name: what the corpus is called.
        files: each with its format.
        root: the folder that pictures are below which rows name.
    """

    name: str
    files: tuple[tuple[Path, SampleFormat], ...]
    root: Path

    @property
    def is_table(self) -> bool:
        """Whether it is one table of captions, which can be read into memory, too."""
        return len(self.files) == 1 and self.files[0][1] is own_tables.FORMAT

    def samples(self, language: str) -> Iterator[tuple[str, Sample]]:
        """Each sample, and the folder, below `root`, from which it names its pictures."""
        for path, form in self.files:
            folder = (path if path.is_dir() else path.parent).resolve().relative_to(self.root).as_posix()
            below = "" if folder == "." else f"{folder}/"
            for sample in form.read(path, language):
                yield below, sample


def source_of(names: list[str]) -> Source | None:
    """What these names stand for; None for one thing that is read into memory (see `catalogue`)."""
    if len(names) == 1 and not _is_pattern(names[0]):
        paths = _files_in(Path(names[0]).expanduser())
        if paths is None:
            return None
    else:
        paths = list(chain.from_iterable(map(expanded, names)))
    files = tuple((path, _format_of(path)) for path in paths)
    folders = [(path if path.is_dir() else path.parent).resolve() for path in paths]
    root = folders[0]
    while not all(folder.is_relative_to(root) for folder in folders):
        root = root.parent
    name = corpus_name(paths[0]) if len(paths) == 1 else root.name
    return Source(name or "corpus", files, root)


def expanded(pattern: str) -> list[Path]:
    """The files that a pattern stands for: of {000..999} and {a,b} all must be there, of * those that are there."""
    names = _without_braces(pattern)
    found: list[Path] = []
    for name in names:
        if has_magic(name):
            there = sorted(glob(str(Path(name).expanduser())))  # noqa: PTH207 (a pattern of whole paths)
            if not there:
                raise UserError(f"{name}: no file has such a name")
            found += map(Path, there)
        else:
            path = Path(name).expanduser()
            if not path.exists():
                missing = sum(not Path(other).expanduser().exists() for other in names if not has_magic(other))
                more = f" (and {missing - 1:,} more of {len(names):,})" if missing > 1 else ""
                raise UserError(f"{path}: no such file or folder{more}")
            found.append(path)
    return found


def _without_braces(pattern: str) -> list[str]:
    names = [pattern]
    while found := _BRACES.search(names[0]):
        choices = _choices(found[1])
        if len(choices) * len(names) > MOST_FILES:
            raise UserError(f"{pattern}: stands for more than {MOST_FILES:,} files")
        names = [name.replace(found[0], choice, 1) for name in names for choice in choices]
    return list(dict.fromkeys(names))


def _choices(inside: str) -> list[str]:
    if found := _RANGE.fullmatch(inside):
        first, last = int(found[1]), int(found[2])
        if last < first or last - first >= MOST_FILES:
            raise UserError(f"{{{inside}}}: a range goes from the smaller to the larger number, as {{000..999}} does")
        width = len(found[1]) if found[1].startswith("0") else 0
        return [f"{number:0{width}}" for number in range(first, last + 1)]
    return inside.split(",")


def _is_pattern(name: str) -> bool:
    return not Path(name).expanduser().exists() and (has_magic(name) or bool(_BRACES.search(name)))


def _files_in(path: Path) -> list[Path] | None:
    if path.is_file():
        if image_folder.suits(path):
            return [path]
        own = kind_of(path) is not None and not picture_tables.PARQUET.suits(path)
        return [path] if path.suffix == ".tar" or (_is_large(path) if own else kind_of(path)) else None
    if not path.is_dir():
        return None
    if picture_tables.SAVED.suits(path):
        return [path]
    for kind in ("*.tar", "*/*.tar"):
        if found := sorted(path.glob(kind)):
            return found
    if sidecars(path):
        return None
    tables = [file for file in sorted(path.iterdir()) if file.is_file() and file.name.lower().startswith("captions.")]
    if tables:
        table = table_in(path)
        return [table] if table and kind_of(table) and _is_large(table) else None
    if found := image_folder.tables_in(path):
        return found
    for kind in ("*.parquet", "data/*.parquet"):
        if found := sorted(path.glob(kind)):
            return found
    return [path] if picture_files.suits(path) else None


def _is_large(path: Path) -> bool:
    return path.stat().st_size >= LARGE


def _format_of(path: Path) -> SampleFormat:
    for form in FORMATS:
        if form.suits(path):
            return form
    known = "; ".join(form.about for form in FORMATS)
    raise UserError(f"{path}: not one of the formats that are read as shards ({known})")
