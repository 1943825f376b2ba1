"""Batches for a GPU: put together in threads, begun and ended by one thread, in order."""

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.vision import shards
from groundling.vision.backbones import Backbone
from groundling.vision.cache import encode_pixels, encoded
from groundling.vision.overlapped import BEGUN, GPUEncoding, overlapped
from groundling.vision.preprocessing import Pixels, Preprocessing

CUT = Preprocessing(8)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9, 30])
def test_the_results_are_those_of_one_after_the_other(count: int) -> None:
    found = overlapped(lambda x: x + 1, lambda x: 2 * x, lambda x: -x, range(count))
    assert list(found) == [-2 * (x + 1) for x in range(count)]


def test_one_thread_begins_and_ends_all_batches_and_others_put_them_together() -> None:
    put, begun = set[int](), set[int]()

    def note(seen: set[int], batch: int) -> int:
        seen.add(threading.get_ident())
        return batch

    list(overlapped(lambda x: note(put, x), lambda x: note(begun, x), lambda x: note(begun, x), range(20)))
    assert begun == {threading.get_ident()} and threading.get_ident() not in put


def test_later_batches_begin_before_one_ends_and_are_put_together_while_one_is_begun() -> None:
    happened: list[str] = []
    ready = threading.Semaphore(0)

    def put(batch: int) -> int:
        if batch:
            ready.release()
        return batch

    def begin(batch: int) -> int:
        if batch == 0:
            assert ready.acquire(timeout=30), "nothing was put together while the first batch was begun"
        happened.append(f"begin {batch}")
        return batch

    list(overlapped(put, begin, lambda x: happened.append(f"end {x}"), range(6)))
    assert happened[: BEGUN + 2] == [*(f"begin {x}" for x in range(BEGUN + 1)), "end 0"]
    assert happened[-1] == "end 5"


def test_at_most_some_batches_wait() -> None:
    taken = ended = most = 0

    def batches() -> Iterator[int]:
        nonlocal taken, most
        for batch in range(50):
            taken += 1
            most = max(most, taken - ended)
            yield batch

    for _ in overlapped(lambda x: x, lambda x: x, lambda x: x, batches()):
        ended += 1
    assert ended == 50 and most <= 8


@pytest.mark.parametrize("stage", ["put", "begin", "end"])
def test_an_error_is_raised_here(stage: str) -> None:
    def fails(name: str, batch: int) -> int:
        if name == stage and batch == 3:
            raise RuntimeError(f"{name} {batch}")
        return batch

    put, begin, end = (partial(fails, name) for name in ("put", "begin", "end"))
    with pytest.raises(RuntimeError, match=f"{stage} 3"):
        list(overlapped(put, begin, end, range(10)))


class Event:
    """What a GPU has done is done at once here."""

    def record(self) -> None:
        pass

    def synchronize(self) -> None:
        pass


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls of CUDA that encoding makes, without a GPU."""

    class Stream:
        def __init__(self, device: object = None) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            pass

        def wait_event(self, event: Event) -> None:
            assert isinstance(event, Event)

    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: stream)
    monkeypatch.setattr(torch.cuda, "device", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: None)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream: None)


def pictures(count: int) -> list[Pixels]:
    return list(np.random.default_rng(0).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8))


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("count", [1, 5, 6, 13])
def test_all_batches_have_one_size_and_what_fills_up_the_last_is_not_kept(count: int, tmp_path: Path) -> None:
    sizes = []

    def network(x: torch.Tensor) -> torch.Tensor:
        sizes.append(len(x))
        return x.mean(dim=(2, 3))

    backbone, some = Backbone("mean", 3, 8, network), pictures(count)
    keyed = [(bytes([number]) * 32, picture) for number, picture in enumerate(some)]
    found = list(encoded(keyed, GPUEncoding(backbone, CUT, 5), 5, tmp_path, on_gpu=True))
    assert set(sizes) == {5} and len(sizes) == -(-count // 5)
    assert [key[0] for keys, _ in found for key in keys] == list(range(count))
    expected = encode_pixels(backbone, some, CUT)
    np.testing.assert_allclose(np.concatenate([features for _, features in found]), expected, rtol=1e-6)
    assert sum(len(keys) for keys, _ in shards.read_all(tmp_path, 3)) == count


@pytest.mark.usefixtures("no_gpu")
def test_features_that_are_no_numbers_are_refused() -> None:
    backbone = Backbone("broken", 3, 8, lambda x: x.mean(dim=(2, 3)) / 0)
    with pytest.raises(ValueError, match="broken gave features that are not finite"):
        list(GPUEncoding(backbone, CUT, 4)([pictures(4)]))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_as_on_a_cpu() -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 6, 8), torch.nn.Flatten())
    some, here = pictures(23), Backbone("tiny", 6, 8, network.requires_grad_(False))
    expected = encode_pixels(here, some, CUT)
    batches = [some[start : start + 5] for start in range(0, 23, 5)]
    found = np.concatenate(list(GPUEncoding(here.to(torch.device("cuda")), CUT, 5)(batches)))
    np.testing.assert_allclose(found, expected, atol=1e-3)
