"""A row of a Milvus collection, as it is sent to a server and as it stands in a file that a server imports."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from groundling.model.vectors import Vectors
from groundling.search.entries import Entries, Rows

PORTION = 500  # rows asked for at once
MANY = 100_000  # rows whose names are in memory at once
STRONG = {"consistency_level": "Strong"}  # whoever builds an index must see what was just put in


def portions(rows: Rows, size: int = PORTION) -> Iterator[Rows]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


def quoted(text: str) -> str:
    """As Milvus writes texts in its filters."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def part_of(name: str, language: str) -> str:
    """What decides on the partition: of a caption its language, of a picture the first folder that it is in.

    >>> part_of("2019/italy/beach.jpg", ""), part_of("beach.jpg", ""), part_of("ein Hund", "de")
    ('2019', '', 'de')
    """
    return language or (name.partition("/")[0] if "/" in name else "")


def partitions(entries: Entries, rows: Rows) -> tuple[list[str], Rows]:
    """What decides on the partitions of some rows: all that there is, and which of it each row has."""
    known: dict[str, int] = {}
    chosen = [
        known.setdefault(part, len(known))
        for some in portions(rows, MANY)
        for part in _columns(entries, some, 2)["part"]
    ]
    return list(known), np.array(chosen, dtype=np.int64)


def records(entries: Entries, rows: Rows, vectors: Vectors, layout: int) -> list[dict[str, Any]]:
    """To be sent; `layout` is that of `StoreFacts`."""
    columns = {**_columns(entries, rows, layout), "vector": [vector.tolist() for vector in vectors]}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def as_table(entries: Entries, rows: Rows, vectors: Vectors, layout: int) -> pa.Table:
    """To be imported: a column for each field of the collection, and no other."""
    ends = np.arange(len(rows) + 1, dtype=np.int32) * vectors.shape[1]
    numbers = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
    return pa.table({**_columns(entries, rows, layout), "vector": pa.ListArray.from_arrays(ends, numbers)})


def _columns(entries: Entries, rows: Rows, layout: int) -> dict[str, list[Any]]:
    names, languages, taken = (entries.table[column].take(rows).to_pylist() for column in ("name", "language", "taken"))
    columns = {"id": entries.ids[rows].tolist(), "name": names, "taken": taken}
    if layout > 1:
        columns["part"] = [part_of(name, language) for name, language in zip(names, languages, strict=True)]
    return columns
