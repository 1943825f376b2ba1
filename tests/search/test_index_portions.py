"""Files of a folder are decoded in portions: the index, what it leaves out and what it tells are the same as before."""

import errno
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import colours
import numpy as np
import pytest
from colours import Toy, mean_colour, paint_many

from groundling.decoding.processes import Process
from groundling.decoding.workers import PORTION
from groundling.errors import UserError
from groundling.model import Vectors
from groundling.search import Index, build, index_pictures
from groundling.search.build import cut

pytest.importorskip("faiss")

toy = colours.toy


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Portions are smaller where there are many."""
    monkeypatch.setattr(build, "_threads", lambda: 2)


HARMFUL = b"harmful"  # behind the end of a picture, where no decoder looks


def crashes_over_some(data: bytes) -> Any:
    if data.endswith(HARMFUL):
        os.kill(os.getpid(), signal.SIGSEGV)
    return mean_colour(data)


def photos_with_broken_ones(folder: Path, count: int) -> list[str]:
    """Names in the order in which they are encoded; the third is cut off, and the seventh is no picture."""
    paint_many(folder, count)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.png"))
    whole = (folder / names[2]).read_bytes()
    (folder / names[2]).write_bytes(whole[: len(whole) // 2])
    (folder / names[6]).write_text("no picture")
    return names


def test_vectors_are_those_of_one_picture_after_another_to_the_last_bit(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = photos_with_broken_ones(tmp_path / "photos", 150)
    asked, plain = [], Process.files

    def noted(self: Process, files: Any, work: Any) -> Any:
        asked.append(len(files))
        return plain(self, files, work)

    monkeypatch.setattr(Process, "files", noted)
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    good = [name for name in names if name not in (names[2], names[6])]
    assert built.skipped.keys() == {names[2], names[6]}
    assert built.skipped[names[6]] == "not a picture of a known format"
    assert (built.count, built.encoded) == (148, 148)
    assert 4 < max(asked) <= PORTION
    one_by_one = [toy.encode_prepared([mean_colour((tmp_path / "photos" / name).read_bytes())])[0] for name in good]
    index = Index.open(tmp_path / "index")
    assert index.entries.table["name"].to_pylist() == good
    np.testing.assert_array_equal(index.store.vectors(np.arange(148)), np.stack(one_by_one))


def test_a_picture_over_which_the_decoder_crashes_is_named_and_no_other(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_many(tmp_path / "photos", 40)
    bad = sorted((tmp_path / "photos").glob("*.png"))[5]
    bad.write_bytes(bad.read_bytes() + HARMFUL)
    monkeypatch.setattr(Toy, "preparation", staticmethod(crashes_over_some))
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert built.skipped == {bad.name: "not a readable picture (the decoder crashed)"}
    assert built.count == 39


def test_pictures_are_encoded_together_as_a_model_wants_them_broken_ones_left_out(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in a batch changes the last bits of a vector, so that batches must not depend on the portions."""
    names = photos_with_broken_ones(tmp_path / "photos", 14)
    sizes, plain, lock = [], Toy.encode_prepared, threading.Lock()

    def noted(self: Toy, prepared: Sequence[Any]) -> Vectors:
        with lock:
            sizes.append(len(prepared))
        return plain(self, prepared)

    monkeypatch.setattr(Toy, "encode_prepared", noted)
    monkeypatch.setattr(Toy, "batch", 4)
    assert index_pictures(tmp_path / "photos", tmp_path / "index", "toy").skipped.keys() == {names[2], names[6]}
    assert sorted(sizes) == [2, 3, 3, 4]  # of four, less one; of four, less one; of four; and the rest


def test_progress_is_told_picture_by_picture(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    photos_with_broken_ones(tmp_path / "photos", 40)
    told: list[int] = []

    class Noted:
        def advance(self, units: int = 1, note: str = "") -> None:
            told.append(units)

    @contextmanager
    def noted(title: str, total: int, done: int = 0) -> Iterator[Noted]:
        assert (title, total, done) == ("Pictures", 40, 0)
        yield Noted()

    monkeypatch.setattr(build, "bar", noted)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert [units for units in told if units] == [1] * 40


def test_who_leaves_early_does_not_wait_for_the_rest_of_a_portion(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Ctrl-C: what is encoded when something goes wrong is kept, and nothing more is encoded."""
    paint_many(tmp_path / "photos", 120)
    plain, full = Toy.encode_prepared, threading.Event()

    def breaks(self: Toy, prepared: Sequence[Any]) -> Vectors:
        if not full.is_set():
            full.set()
            raise OSError(errno.ENOSPC, "No space left on device")
        return plain(self, prepared)

    monkeypatch.setattr(Toy, "encode_prepared", breaks)
    toy.pause = 0.3
    with pytest.raises(UserError, match="no room is left there"):
        index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    done = toy.encoded
    assert done < 10  # of thirty in a portion
    toy.pause = 0
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    assert (built.count, built.encoded, toy.encoded) == (120, 120 - done, 120)


@pytest.mark.parametrize(("count", "at_once", "most"), [(1000, 1, 32), (1000, 5, 32), (7, 1, 32), (700, 334, 32)])
def test_portions_hold_everything_once_and_get_small(
    count: int, at_once: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_threads", lambda: 4)
    portions = [list(some) for some in cut(range(count), at_once, most)]
    assert [one for some in portions for one in some] == list(range(count))
    sizes = [len(some) for some in portions]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) <= max(at_once, most) and all(size % at_once == 0 for size in sizes[:-1])
    assert sizes[0] == (most // at_once * at_once if count == 1000 else at_once)
    assert sizes[-1] <= at_once
