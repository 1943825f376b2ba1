"""Readers of files of sentence pairs, one file each, chosen by how the name ends.

A reader is a function `(path, wanted) -> Iterator[Row]` that goes through a file once and keeps nothing of it. A
further format is a file here and a line in `READERS`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from groundling.corpus.pairs.readers import jsonl, moses, parquet, separated, tmx
from groundling.corpus.pairs.row import Row, Wanted
from groundling.errors import UserError

Reader = Callable[[Path, Wanted], Iterator[Row]]

#: Ending → reader; each but Parquet may also be gzipped.
READERS: dict[str, Reader] = {
    "tsv": separated.read_tabs,
    "txt": separated.read_tabs,
    "csv": separated.read_commas,
    "jsonl": jsonl.read,
    "parquet": parquet.read,
    "tmx": tmx.read,
}


def reader_of(path: Path, wanted: Wanted) -> Reader:
    """By the ending; files that end in languages, `x.en` and `x.ko`, are Moses', given by one of them or by `x`."""
    name = path.name.lower()
    ending = name.removesuffix(".gz").rpartition(".")[2]
    if ending in READERS and not (ending == "parquet" and name.endswith(".gz")):
        return READERS[ending]
    if moses.files_of(path, wanted):
        return moses.read
    if not path.exists():
        raise UserError(f"{path}: no such file")
    raise UserError(
        f"{path.name}: no file of sentence pairs; write {', '.join(f'.{one}' for one in READERS)} (each but .parquet "
        "also .gz), or Moses files such as x.en and x.ko"
    )


def files_of(path: Path, wanted: Wanted) -> list[Path]:
    """The files that are read: one, or those of Moses."""
    return moses.files_of(path, wanted) if reader_of(path, wanted) is moses.read else [path]
