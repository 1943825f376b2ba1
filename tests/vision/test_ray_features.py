"""Features that workers of a Ray send: written, not held; and how many pictures their networks ask for."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from groundling import large_arrays
from groundling.distributed.sources import Item
from groundling.distributed.workers import Seen
from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision import from_settings
from groundling.vision.ray_features import make_encoder, ray_features

SMALL = FeatureSettings(backbone="efficientnet-lite0", size=32)
DIM = 1280


class MadeUp:
    """In the place of a cluster: vectors are made of the number that is a picture's name."""

    def run(self, items: Any, shards: Any, job: Any, title: str, skip: Any) -> Iterator[Any]:
        for start in range(0, len(items), 100):
            some = items[start : start + 100]
            seen = [Seen(one, int(one.name).to_bytes(32, "little"), fresh=True) for one in some]
            yield seen, vectors_of([int(one.name) for one in some])


def vectors_of(numbers: list[int]) -> Any:
    return np.array(numbers, dtype=np.float32)[:, None] + np.arange(DIM, dtype=np.float32) / 2**11


def test_features_are_not_held_in_memory_while_they_come_nor_twice_afterwards(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 8000
    size = count * DIM * 4
    monkeypatch.setattr(large_arrays, "LARGE", size)
    items = [Item(str(number), "") for number in range(count)]
    cluster: Any = MadeUp()
    tracemalloc.start()
    try:
        found = ray_features(cluster, items, [], SMALL)
        vectors = found.vectors(["7", "no picture", *map(str, range(2, count))])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(vectors, np.memmap) and peak < size / 2
    assert found.encoded == len(found.names) == count
    expected = vectors_of([7, 0, *range(2, count)])
    expected[1] = 0
    np.testing.assert_array_equal(vectors, expected)
    again = ray_features(cluster, items[:10], [], SMALL)
    assert again.encoded == 0 and again.vectors(["3", "3"]).tolist() == vectors_of([3, 3]).tolist()
    for shard in again.place.glob("*.safetensors"):
        shard.unlink()
    with pytest.raises(UserError, match="lost there meanwhile"):
        again.vectors(["3"])


@pytest.mark.parametrize(
    ("device", "crops", "at_once"), [("cpu", 1, None), ("cuda", 1, 2**24 // 32**2), ("cuda", 10, 2**24 // 32**2 // 5)]
)
def test_a_gpu_is_given_batches_of_one_size_and_a_cpu_what_comes(
    device: str, crops: int, at_once: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = from_settings.backbone_of(SMALL)
    there = replace(made, device=torch.device(device))  # the network itself stays where it is
    monkeypatch.setattr("groundling.vision.ray_features.backbone_of", lambda _: there)
    assert make_encoder({**SMALL.model_dump(), "crops": crops}).at_once == at_once
