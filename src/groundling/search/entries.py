"""The table of an index: what each vector is of, in the order of the vectors."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from groundling.errors import UserError
from groundling.hub import first_line
from groundling.search.search_filter import SearchFilter

SCHEMA = pa.schema(
    {
        "name": pa.string(),  # a path below the folder, or the text of a caption
        "language": pa.string(),  # of a caption
        "size": pa.int64(),  # of a file, in bytes
        "modified": pa.int64(),  # of a file, in nanoseconds; −1: it had just been written, its digest must tell
        "digest": pa.string(),  # SHA-256 of the content
        "taken": pa.string(),  # when a picture was taken, "2019-07-31T18:05:00"
    }
)
MAPPED_FROM = 2**20  # rows
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table; the comments of `SCHEMA` say what its columns are."""

    name: str
    digest: str
    language: str = ""
    size: int = 0
    modified: int = 0
    taken: str = ""

    def to_json(self) -> dict[str, str | int]:
        return {column: getattr(self, column) for column in SCHEMA.names}


class Entries:
    """Rows of `Entry`, kept as Arrow columns: a million of them are opened at once.

    A table of more than that is a file of Arrow's own, which is mapped into memory instead of read.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table.combine_chunks() if len(table) < MAPPED_FROM else table

    @staticmethod
    def of(entries: Sequence[Entry]) -> "Entries":
        columns = {column: [getattr(entry, column) for entry in entries] for column in SCHEMA.names}
        return Entries(pa.Table.from_pydict(columns, schema=SCHEMA))

    @staticmethod
    def load(path: Path) -> "Entries":
        try:
            if path.suffix == ".arrow":
                with pa.memory_map(str(path)) as mapped:
                    table = pa.ipc.open_file(mapped).read_all()
            else:
                with pq.ParquetFile(path) as file:  # read_table would import a library of data sets, and pandas
                    table = file.read()
            table.validate(full=True)  # names that are no text would be noticed only when one is shown
            fits = table.schema == SCHEMA
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last: of the names of columns
            raise UserError(f"{path}: damaged ({first_line(error)}); build the index again") from None
        if not fits:
            raise UserError(f"{path}: not the table of an index; build the index again")
        return Entries(table)

    @property
    def file_type(self) -> str:
        """How the name of its file ends."""
        return "parquet" if len(self) < MAPPED_FROM else "arrow"

    def save(self, path: Path) -> None:
        """In the format of `file_type`, whatever the path is called."""
        if self.file_type == "parquet":
            pq.write_table(self.table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, SCHEMA) as writer:
                writer.write_table(self.table, max_chunksize=MAPPED_FROM)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def value(self, column: str, row: int) -> Any:
        return self.table[column][row].as_py()

    def row(self, row: int) -> Entry:
        return Entry(**{column: self.value(column, row) for column in SCHEMA.names})

    def row_named(self, name: str) -> int | None:
        """The row of a path, or of the name of a file where only one has it."""
        import pyarrow.compute as pc  # here, for a search without conditions needs none of it

        names = self.table["name"]
        row = int(pc.index(names, name).as_py())
        if row >= 0:
            return row
        rows = np.flatnonzero(_array(pc.ends_with(names, f"/{name}")))
        return int(rows[0]) if len(rows) == 1 else None

    def rows(self) -> list[Entry]:
        return [Entry(**row) for row in self.table.to_pylist()]

    @cached_property
    def ids(self) -> Rows:
        """A number for each row that is the same wherever the same content has the same name."""
        pairs = zip(self.table["name"].to_pylist(), self.table["digest"].to_pylist(), strict=True)
        texts = (hashlib.sha256(f"{digest}:{name}".encode()).digest()[:8] for name, digest in pairs)
        return np.array([int.from_bytes(digest, "big") >> 1 for digest in texts], dtype=np.int64)

    @cached_property
    def _by_id(self) -> Rows:
        """Rows in the order of their numbers."""
        return np.argsort(self.ids, kind="stable")

    def rows_of(self, ids: Sequence[int]) -> Rows:
        """The rows of some numbers; −1 for one that no row has."""
        wanted = np.array(ids, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.ids, wanted, sorter=self._by_id), len(self) - 1)
        rows = self._by_id[places]
        return np.where(self.ids[rows] == wanted, rows, -1)

    def mask(self, choice: SearchFilter) -> Mask:
        """Which rows are in the part that was chosen."""
        import pyarrow.compute as pc

        kept = np.ones(len(self), dtype=bool)
        if choice.language:
            kept &= _array(pc.equal(self.table["language"], choice.language))
        if choice.folder:
            kept &= _array(pc.starts_with(self.table["name"], choice.folder + "/"))
        if choice.since:
            kept &= _array(pc.greater_equal(self.table["taken"], choice.since))
        if choice.until:
            kept &= _array(pc.less(self.table["taken"], choice.after)) & _array(pc.not_equal(self.table["taken"], ""))
        return kept


def _array(column: Any) -> Mask:
    return np.asarray(column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column, dtype=bool)
