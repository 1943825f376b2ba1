"""Batches of workers that encode: of the size that their network asks for."""

from typing import Any

import numpy as np

from groundling.distributed.sources import Item
from groundling.distributed.workers import Encoder, Loaded, Seen


def test_what_several_decoders_prepared_is_one_batch_filled_up_to_its_size() -> None:
    given: list[list[int]] = []

    def encode(arrays: list[Any]) -> Any:
        given.append([int(array[0]) for array in arrays])
        return np.stack(arrays).astype(np.float32)

    def encoder(at_once: int | None) -> Encoder:
        return Encoder(lambda: Loaded(encode, "", at_once), [], alone=False)

    portions = [
        ([Seen(Item(str(number), ""), fresh=True) for number in some], [np.full(2, number) for number in some])
        for some in ([1, 2], [], [3])
    ]
    for at_once in (5, None):
        seen, vectors = encoder(at_once).encode(*portions)
        assert [one.item.name for one in seen] == ["1", "2", "3"]
        assert vectors is not None and vectors.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert given == [[1, 2, 3, 3, 3], [1, 2, 3]]
    assert encoder(5).encode(([], [])) == ([], None)
