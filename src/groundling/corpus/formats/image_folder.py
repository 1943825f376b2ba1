"""Hugging Face's imagefolder: pictures in a folder, or in one for each split, and a table `metadata.*` beside them.

A row names its picture, from the folder of the table, as `file_name`, and has captions under one of the usual names.
https://huggingface.co/docs/datasets/image_dataset
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath

from groundling.corpus.formats.rows import NEEDED, read_rows
from groundling.corpus.formats.samples import Sample, SampleFormat, captions_in, split_of
from groundling.errors import UserError

NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
PICTURE = "file_name"


def read(path: Path, language: str) -> Iterator[Sample]:
    place = f"{path.resolve().parent.name}/{path.name}"  # each split has a table of this name
    for row in read_rows(path, needed=(PICTURE,), everything=True):
        where, name = f"{place}:{row.line}", row.fields.get(PICTURE)
        if row.problem or not isinstance(name, str) or not name:
            yield Sample(where, problem=row.problem or f'no "{PICTURE}"')
            continue
        captions = captions_in(row.fields, where, language)
        if not captions:
            yield Sample(where, problem='no caption (as "caption", "text" or "caption_de")')
            continue
        split = _split(path, name)
        yield Sample(where, tuple({"split": split, **caption, "picture": name} for caption in captions))


def _split(path: Path, name: str) -> str:
    """Of the folders that a row names, or else of the one that the table lies in."""
    named = (split_of(Path(folder, "any")) for folder in PurePosixPath(name).parts[:-1])
    return next(filter(None, named), split_of(path))


def suits(path: Path) -> bool:
    """Whether it has such a name, and not the columns of our own tables of captions."""
    if path.name not in NAMES or not path.is_file():
        return False
    try:
        first = next(read_rows(path, needed=(), everything=True), None)
    except UserError:
        return True  # whoever reads it says what is wrong
    return first is None or not set(NEEDED) <= first.fields.keys()


def tables_in(folder: Path) -> list[Path]:
    """The tables of a folder and of those in it, one each."""
    found = sorted(path for name in NAMES for path in (*folder.glob(name), *folder.glob(f"*/{name}")) if suits(path))
    for one, other in pairwise(found):
        if one.parent == other.parent:
            raise UserError(f"{one.parent}: holds {one.name} and {other.name}; give the one to read by its name")
    return found


FORMAT = SampleFormat("Hugging Face's imagefolder (metadata.csv, .jsonl or .parquet)", suits, read)
