"""Texts in Parquet shards, as a sequence: a row group is read when one of its texts is looked at."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from groundling.checksums import sha256
from groundling.corpus.texts import Rows, Texts

KEPT = 4  # row groups that stay in memory


class ParquetTexts(Texts):
    """Some rows, in rising order, of the column "text" of several files, which count as one table.

    Args:
        files: written by pyarrow; all of them have the column.
        rows: which rows; all of them when left out.
    """

    def __init__(self, files: Sequence[Path], rows: Rows | None = None, groups: "_Groups | None" = None) -> None:
        self.groups, self.whole = groups or _Groups(files), rows is None
        self.rows = np.arange(self.groups.ends[-1], dtype=np.int64) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def one(self, place: int) -> str:
        row = self.rows[place : place + 1] if place >= 0 else self.rows[place:][:1]
        if not len(row):
            raise IndexError(f"text {place} of {len(self)}")
        return next(self._read(row))

    def part(self, places: slice) -> list[str]:
        return list(self._read(self.rows[places]))

    def __iter__(self) -> Iterator[str]:
        return self._read(self.rows)

    def pick(self, places: Rows) -> list[str]:
        return list(self._read(self.rows[places]))

    def at(self, places: Rows) -> "ParquetTexts":
        """Those at these places, which rise; nothing is read yet."""
        return ParquetTexts((), self.rows[places], self.groups)

    def fingerprint(self) -> str:
        """Of what the texts are: of the content of the files, and of the rows."""
        digest = hashlib.sha256()
        for path in dict.fromkeys(path for path, _ in self.groups.places):
            digest.update(sha256(path).encode())
        if not self.whole:
            digest.update(np.ascontiguousarray(self.rows).tobytes())
        return digest.hexdigest()[:32]

    def _read(self, rows: Rows) -> Iterator[str]:
        done = 0
        while done < len(rows):
            group = int(np.searchsorted(self.groups.ends, rows[done], side="right"))
            end = done + int(np.searchsorted(rows[done:], self.groups.ends[group]))
            begin = self.groups.ends[group - 1] if group else 0
            yield from self.groups.taken(group, rows[done:end] - begin)
            done = end


class _Groups:
    """The row groups of the files, numbered through; `ends` says which row each ends before."""

    def __init__(self, files: Sequence[Path]) -> None:
        import pyarrow.parquet as pq

        self.places: list[tuple[Path, int]] = []
        sizes: list[int] = []
        for file in files:
            facts = pq.read_metadata(file)
            for group in range(facts.num_row_groups):
                self.places.append((file, group))
                sizes.append(facts.row_group(group).num_rows)
        self.ends = np.cumsum(sizes) if sizes else np.zeros(1, dtype=np.int64)
        self._column = lru_cache(KEPT)(self._read)

    def taken(self, group: int, rows: Rows) -> list[str]:
        import pyarrow as pa

        column = self._column(group)
        if len(rows) == len(column):
            return list(column.to_pylist())
        return list(column.take(pa.array(rows)).to_pylist())

    def _read(self, group: int) -> Any:
        import pyarrow.parquet as pq

        path, number = self.places[group]
        with pq.ParquetFile(path) as file:
            return file.read_row_group(number, columns=["text"])["text"].combine_chunks()


def chosen(texts: Sequence[str], rows: Rows) -> Sequence[str]:
    """The texts in these rows, which rise; where they lie in files, they stay there."""
    return texts.at(rows) if isinstance(texts, ParquetTexts) else [texts[row] for row in rows.tolist()]
