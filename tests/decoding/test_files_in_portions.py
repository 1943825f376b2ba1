"""Many files decoded by one process, through memory that it shares: the same pixels, each in its place."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bombs
import numpy as np
import pytest
from PIL import Image

from groundling.decoding import cores as cores_module
from groundling.decoding import shared_memory
from groundling.decoding.answers import read_many
from groundling.decoding.cores import cores
from groundling.decoding.shared_memory import HEAD, SIZE, SharedMemory
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import Decoded, DecodeLimits, Workers
from groundling.vision.preprocessing import Preprocessing, Upright

CUT = Preprocessing(32)
File = tuple[Path, bytes]


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(DecodeLimits(patience=30), count=1)
    yield made
    made.close()


def stored(folder: Path, *contents: bytes) -> list[File]:
    files = [(folder / f"{number:03}", hashlib.sha256(data).digest()) for number, data in enumerate(contents)]
    for (path, _), data in zip(files, contents, strict=True):
        path.write_bytes(data)
    return files


def different(count: int) -> list[bytes]:
    """Pictures of different sizes and formats."""
    kinds = ("JPEG", "PNG", "WEBP")
    return [bombs.photograph(40 + 3 * number, 90 - number, kinds[number % 3]) for number in range(count)]


def test_the_pixels_are_those_of_the_same_work_here_in_order(workers: Workers, tmp_path: Path) -> None:
    files = stored(tmp_path, *different(7))
    for work in (CUT, Upright(64)):  # of one size, and each of its own
        found = list(workers.files(files, work))
        assert len(found) == 7
        for (path, _), array in zip(files, found, strict=True):
            np.testing.assert_array_equal(array, work(path.read_bytes()))
    assert list(workers.files([], CUT)) == []


def test_of_files_is_told_what_is_told_of_one_picture(workers: Workers, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[306] = "2019:07:31 18:05:00"
    Image.new("RGB", (70, 50)).save(tmp_path / "dated.jpg", exif=exif)
    contents = [*different(3), (tmp_path / "dated.jpg").read_bytes()]
    found = list(workers.decoded_files(stored(tmp_path, *contents), CUT))
    for data, seen in zip(contents, found, strict=True):
        alone = workers.decode(data, CUT)
        assert isinstance(seen, Decoded)
        assert (seen.format, seen.size, seen.taken, seen.data) == (alone.format, alone.size, alone.taken, b"")
        np.testing.assert_array_equal(seen.array, alone.array)
    assert (found[3].format, found[3].size, found[3].taken) == ("JPEG", (70, 50), "2019-07-31T18:05:00")


def test_a_relative_path_means_what_it_means_here_and_now(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((path, key),) = stored(tmp_path, different(1)[0])
    list(workers.files([(path, key)], CUT))  # the process is there, and stays in the folder that it was started in
    monkeypatch.chdir(tmp_path)
    (found,) = workers.files([(Path(path.name), key)], CUT)
    np.testing.assert_array_equal(found, CUT(path.read_bytes()))


@pytest.mark.parametrize("shares", [True, False])
def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(
    shares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shares:
        monkeypatch.setattr(shared_memory, "make", lambda: None)
    workers = Workers(DecodeLimits(patience=60), count=1)
    files = stored(tmp_path, *different(3))
    files[1][0].unlink()
    os.mkfifo(files[1][0])
    found = list(workers.files(files, CUT))
    workers.close()
    assert str(found[1]) == "changed while it was being read"
    for row in (0, 2):
        np.testing.assert_array_equal(found[row], CUT(files[row][0].read_bytes()))


def test_what_cannot_be_decoded_is_told_in_its_place(workers: Workers, tmp_path: Path) -> None:
    whole = different(6)
    files = stored(tmp_path, whole[0], b"no picture", whole[2], whole[3], bombs.scans(5000), whole[5])
    files[2][0].unlink()
    files[3][0].write_bytes(whole[1])
    found = list(workers.files(files, CUT))
    assert [str(one) for one in found[1:4]] == [
        "not a picture of a known format",
        "No such file or directory",
        "changed while it was being read",
    ]
    assert isinstance(found[4], PictureError) and "scans" in str(found[4])
    for row in (0, 5):
        np.testing.assert_array_equal(found[row], CUT(whole[row]))


def crashes_over_png(data: bytes) -> np.ndarray:
    if data.startswith(b"\x89PNG"):
        os.kill(os.getpid(), signal.SIGSEGV)
    return CUT(data)


def sleeps_over_one(data: bytes) -> np.ndarray:
    if data == different(2)[1]:
        time.sleep(60)
    return CUT(data)


@pytest.mark.parametrize(
    ("work", "lost", "why"),
    [(crashes_over_png, (1, 4), "decoder crashed"), (sleeps_over_one, (1,), "longer than 4 seconds")],
)
def test_a_process_that_ends_costs_the_picture_it_was_at(
    work: object, lost: tuple[int, ...], why: str, tmp_path: Path
) -> None:
    workers = Workers(DecodeLimits(patience=4), count=1)
    list(workers.files(stored(tmp_path, different(1)[0]), CUT))  # it is there: modules may take long to load
    files = stored(tmp_path, *different(6))
    found = list(workers.files(files, work))
    workers.close()
    for row, ((path, _), one) in enumerate(zip(files, found, strict=True)):
        if row in lost:
            assert isinstance(one, PictureError) and why in str(one)
        else:
            np.testing.assert_array_equal(one, CUT(path.read_bytes()))


def megabytes(data: bytes) -> np.ndarray:
    """One for the first of the different pictures, two for the second."""
    count = different(10).index(data) + 1
    return np.full((count, 2**20), count, dtype=np.uint8)


def test_arrays_that_do_not_fit_into_the_memory_together_or_at_all(workers: Workers, tmp_path: Path) -> None:
    contents = different(10)
    sizes = (3, 3, 3, 1, 9, 2, 7, 1)  # the memory has eight megabytes, less the head
    chosen = [contents[size - 1] for size in sizes]
    found = list(workers.files(stored(tmp_path, *chosen), megabytes))
    assert [array.shape for array in found] == [(size, 2**20) for size in sizes]
    assert all((array == len(array)).all() for array in found)


def denied(*_: object) -> int:
    raise PermissionError


@pytest.mark.parametrize("lacks", ["memory", "permission", "seals"])
def test_where_the_system_has_no_such_memory_pictures_are_sent(
    lacks: str, workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lacks == "memory":
        monkeypatch.delattr(os, "memfd_create")
    elif lacks == "permission":
        monkeypatch.setattr(os, "memfd_create", denied)
    else:
        monkeypatch.setattr("fcntl.fcntl", denied)
    assert shared_memory.make() is None
    files = stored(tmp_path, *different(3), b"no picture")
    files.append((tmp_path / "missing", bytes(32)))
    *found, broken, missing = workers.files(files, CUT)
    for (path, _), array in zip(files, found, strict=False):
        np.testing.assert_array_equal(array, CUT(path.read_bytes()))
    assert (str(broken), str(missing)) == ("not a picture of a known format", "No such file or directory")


def notes_and_sleeps(data: bytes) -> np.ndarray:
    Path(f"begun-{hashlib.sha256(data).hexdigest()}").touch()
    time.sleep(0.6)
    return CUT(data)


def test_who_leaves_early_does_not_wait_for_the_rest(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = workers.files(stored(tmp_path, *different(8)), notes_and_sleeps)
    next(results)
    results.close()
    assert len(list(tmp_path.glob("begun-*"))) < 4


def test_memory_that_is_shared_cannot_be_made_shorter() -> None:
    handle = shared_memory.make()
    assert handle is not None
    with pytest.raises(PermissionError):
        os.ftruncate(handle, 0)
    memory = SharedMemory(handle)
    assert memory.size == SIZE - HEAD
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(handle)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"{",
        b"[1]",
        json.dumps([0, []]).encode(),
        json.dumps([64, [["D", {"array": ["|u1", [8]], "place": [60, 68]}]]]).encode(),  # beyond what was written
        json.dumps([64, [["D", {"array": ["|O8", [1]], "place": [0, 8]}]]]).encode(),
        json.dumps([64, [["D", {"array": ["|u1", [9]], "place": [0, 8]}]]]).encode(),
        json.dumps([64, [["D", {"array": ["|u1", [-1]], "place": [0, 8]}], "x"]]).encode(),
        json.dumps(["all", [["D", {}]]]).encode(),
        json.dumps([0, [["D"]]]).encode(),
    ],
)
def test_nonsense_is_believed_of_no_picture(reply: bytes) -> None:
    handle = shared_memory.make()
    assert handle is not None
    found = read_many(reply, SharedMemory(handle), 3)
    assert len(found) == 1 and isinstance(found[0], PictureError) and "nonsense" in str(found[0])


def test_what_was_answered_stays_as_it_was() -> None:
    """Who writes into the memory later changes no picture that was handed over."""
    handle = shared_memory.make()
    assert handle is not None
    memory = SharedMemory(handle)
    end = memory.put(np.arange(6, dtype=np.float32).reshape(2, 3), 0)
    facts = {"format": "PNG", "size": [3, 2], "taken": "", "array": ["<f4", [2, 3]], "place": [0, 24]}
    more = [["F", {"why": "torn"}], ["D", facts]]
    first, second = read_many(json.dumps([end, [["D", facts], *more]]).encode(), memory, 2)
    memory.put(np.zeros((2, 3), dtype=np.float32), 0)
    assert isinstance(first, Decoded)
    np.testing.assert_array_equal(first.array, [[0, 1, 2], [3, 4, 5]])
    assert str(second) == "torn"


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_files_in_portions as t
workers = t.Workers(count=1)
list(workers.files(t.stored(Path({folder!r}), *t.different(3)), t.CUT))
print(next(iter(workers._usual._running)).process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def shared_by_name() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir()}  # noqa: S108 (nothing is written there)


def test_nothing_is_left_of_a_program_that_was_killed(tmp_path: Path) -> None:
    before = shared_by_name()
    code = KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    decoder = Path(f"/proc/{done.stdout.strip()}/cmdline")
    until = time.monotonic() + 30
    while decoder.exists() and b"groundling" in decoder.read_bytes():
        assert time.monotonic() < until, "the decoding process goes on without anybody to decode for"
        time.sleep(0.05)
    assert not [name for name in shared_by_name() - before if "groundling" in name]


def test_cores_of_a_container_are_those_of_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores_module, "GROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)))
    assert cores() == 64
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores() == 64
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("400000\n")
    assert cores() == 4
    for text, count in (("max 100000\n", 64), ("1600000 100000\n", 16), ("20000 100000\n", 1)):
        (tmp_path / "cpu.max").write_text(text)
        assert cores() == count
