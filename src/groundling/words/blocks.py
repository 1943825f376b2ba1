"""Rows of a table that are changed a block at a time, since a published model's table is often larger than memory."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Change = Callable[[Matrix], Matrix]

BLOCK = 65_536  # rows


def changed_blocks(table: Matrix, change: Change | None = None) -> Iterator[Matrix]:
    """The rows in blocks, each changed; a table without rows is one block without rows, which has its columns.

    What is held in memory and what is written to a file is cut in the same way: the last bit of a product of matrices
    may depend on how many rows are multiplied at once.
    """
    for at in range(0, max(1, len(table)), BLOCK):
        rows = np.ascontiguousarray(table[at : at + BLOCK], dtype=np.float32)
        yield rows if change is None else change(rows)
