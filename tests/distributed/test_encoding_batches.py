"""Batches of workers that encode: of the size that their network asks for."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from groundling.distributed.cluster import PORTION, Cluster
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


class AtOnce:
    """In the place of Ray: what is asked for is there at once."""

    def __init__(self) -> None:
        self.most = 0

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4, "GPU": 1}

    def get(self, asked: Any) -> Any:
        return asked[0] if isinstance(asked, tuple) else asked

    def wait(self, waiting: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        self.most = max(self.most, len(waiting))
        return waiting[:1], waiting[1:]


class Ref(tuple[Any]):
    """A promise, which Ray tells from all others."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Actor:
    """Its `tasks` are the names that its methods were called by."""

    def __init__(self, **methods: Any) -> None:
        self.tasks: set[str] = set()
        for name, method in methods.items():
            setattr(self, name, SimpleNamespace(remote=method, options=partial(self._named, method)))

    def _named(self, method: Any, name: str) -> Any:
        self.tasks.add(name)
        return SimpleNamespace(remote=method)


@pytest.mark.parametrize(
    ("at_once", "sizes", "most"),
    [(None, [32] * 31 + [8], 8), (100, [100] * 10, 4), (334, [334, 334, 332], 3), (20, [20] * 50, 8)],
)
def test_batches_are_as_large_as_a_network_asks_for_and_decoded_in_portions(
    at_once: int | None, sizes: list[int], most: int
) -> None:
    """One that encodes has two batches to come, and three that decode two portions each."""
    ray, encoded, prepared = AtOnce(), list[int](), list[int]()

    def prepare(portion: list[Item], known: Any) -> list[Item]:
        prepared.append(len(portion))
        return portion

    def encode(*portions: list[Item]) -> Ref:
        encoded.append(sum(map(len, portions)))
        return Ref([([item for some in portions for item in some], None)])

    decoders = [Actor(prepare=prepare) for _ in range(3)]
    encoders = [Actor(encode=encode, at_once=lambda: at_once)]
    items = [Item(str(number), "") for number in range(1000)]
    found = list(Cluster(ray)._encoded(items, None, decoders, encoders))
    assert [item for seen, _ in found for item in seen] == items
    assert encoded == sizes and ray.most == most
    assert max(prepared) == min(PORTION, at_once or PORTION) and sum(prepared) == 1000
    assert [one.tasks for one in (*decoders, *encoders)] == [{"decode pictures"}] * 3 + [{"encode pictures"}]


def test_shards_are_looked_into_in_turns() -> None:
    decoders = [Actor(members=lambda shard: [Item(f"{shard}/1.jpg", shard)]) for _ in range(2)]
    found = Cluster(AtOnce())._members(decoders, ["a.tar", "b.tar", "c.tar"])
    assert [item.name for item in found] == ["a.tar/1.jpg", "b.tar/1.jpg", "c.tar/1.jpg"]
    assert [one.tasks for one in decoders] == [{"look into a shard"}] * 2
