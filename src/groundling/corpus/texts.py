"""Texts in memory-mapped Arrow files, as a sequence: nothing is in memory but what is looked at."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.integer[Any]]


class Texts(Sequence[str]):
    """Texts of which many can be had at once."""

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        return self.part(place) if isinstance(place, slice) else self.one(place)

    @abstractmethod
    def one(self, place: int) -> str: ...

    @abstractmethod
    def part(self, places: slice) -> list[str]: ...

    @abstractmethod
    def pick(self, places: Rows) -> list[str]:
        """Those at these places, which rise."""


class ListedTexts(Texts):
    """In memory."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    def __len__(self) -> int:
        return len(self.texts)

    def one(self, place: int) -> str:
        return self.texts[place]

    def part(self, places: slice) -> list[str]:
        return self.texts[places]

    def pick(self, places: Rows) -> list[str]:
        return [self.texts[place] for place in places.tolist()]


class ArrowTexts(Texts):
    """Some rows, in rising order, of a column of an Arrow file.

    Args:
        path: written by `pyarrow.ipc.new_file`, all batches but the last of one size.
        rows: which rows.
    """

    def __init__(self, path: Path, column: str, rows: Rows) -> None:
        import pyarrow as pa

        self.file = pa.ipc.open_file(pa.memory_map(str(path)))
        self.column, self.rows = column, rows
        self.size = self.file.get_batch(0).num_rows if self.file.num_record_batches else 1

    def __len__(self) -> int:
        return len(self.rows)

    def one(self, place: int) -> str:
        batch, row = divmod(int(self.rows[place]), self.size)
        text: str = self.file.get_batch(batch).column(self.column)[row].as_py()
        return text

    def part(self, places: slice) -> list[str]:
        return list(self._read(self.rows[places]))

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self.rows), self.size):
            yield from self._read(self.rows[start : start + self.size])

    def pick(self, places: Rows) -> list[str]:
        return list(self._read(self.rows[places]))

    def _read(self, rows: Rows) -> Iterator[str]:
        """Batch by batch."""
        batches = rows // self.size
        edges = np.flatnonzero(np.diff(batches)) + 1
        for part in np.split(np.asarray(rows), edges):
            if len(part):
                column = self.file.get_batch(int(part[0]) // self.size).column(self.column)
                yield from column.take(_indices(part % self.size)).to_pylist()


class Codes(Texts):
    """A language for each of many texts: numbers into a list of codes."""

    def __init__(self, codes: Sequence[str], numbers: Rows) -> None:
        self.codes, self.numbers = list(codes), numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def one(self, place: int) -> str:
        return self.codes[int(self.numbers[place])]

    def part(self, places: slice) -> list[str]:
        return [self.codes[number] for number in self.numbers[places].tolist()]

    def pick(self, places: Rows) -> list[str]:
        return [self.codes[number] for number in self.numbers[places].tolist()]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self.numbers), 2**16):
            yield from self[start : start + 2**16]


def _indices(rows: Rows) -> Any:
    import pyarrow as pa

    return pa.array(rows.astype(np.int64))
