"""Pictures decoded in processes of their own: the same pixels as here, and nothing that harms who asked."""

import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import bombs
import numpy as np
import pytest
from PIL import Image

from groundling.decoding import opening
from groundling.decoding.processes import LAST
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.thumbnail import Thumbnail
from groundling.decoding.workers import DecodeLimits, LargePicture, Workers
from groundling.vision.preprocessing import Preprocessing, Upright

CUT = Preprocessing(32)


@pytest.fixture
def workers() -> Iterator[Workers]:
    made = Workers(DecodeLimits(seconds=1, patience=20), count=1)
    yield made
    made.close()


def test_the_pixels_are_those_of_the_same_work_here(workers: Workers) -> None:
    for data in (bombs.photograph(), bombs.photograph(300, 40, "PNG"), bombs.photograph(kind="WEBP")):
        found = workers.decode(data, CUT)
        np.testing.assert_array_equal(found.array, CUT(data))
        assert found.size == Image.open(__import__("io").BytesIO(data)).size
        assert workers.decode(data, Thumbnail(20)).data == Thumbnail(20)(data)
    assert workers.decode(bombs.photograph()).format == "JPEG"


def never_ends(data: bytes) -> bytes:
    while True:
        pass


def sleeps(data: bytes) -> bytes:
    time.sleep(60)
    return b""


def takes_memory(data: bytes) -> bytes:
    return bytes(3 * 2**30)


def crashes(data: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGSEGV)
    return b""


def writes(data: bytes) -> bytes:
    Path("written-by-a-decoder").write_bytes(b"x")
    return b""


def opens_many(data: bytes) -> bytes:
    handles = [open(os.devnull) for _ in range(100)]  # noqa: SIM115, PTH123
    return bytes(len(handles))


def limits_of(data: bytes) -> np.ndarray:
    names = ("RLIMIT_AS", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE")
    return np.array([resource.getrlimit(getattr(resource, name))[1] for name in names], dtype=np.float64)


def secrets(data: bytes) -> bytes:
    return "\n".join(os.environ).encode()


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (never_ends, "longer than"),  # of the processor or, on a busy machine, of the clock
        (takes_memory, "more memory"),
        (crashes, "decoder crashed"),
        (writes, "File too large"),
        (opens_many, "Too many open files"),
    ],
)
def test_a_decoder_that_goes_wild_costs_its_own_picture(
    workers: Workers, work: object, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    started = time.monotonic()
    with pytest.raises(PictureError, match=words):
        workers.decode(bombs.photograph(), work)
    assert time.monotonic() - started < 60  # on a machine that others use; it would never end
    np.testing.assert_array_equal(workers.array(bombs.photograph(), CUT), CUT(bombs.photograph()))
    assert not any(path.stat().st_size for path in tmp_path.iterdir())


def test_a_decoder_that_does_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = Workers(DecodeLimits(patience=2), count=1)
    workers.decode(bombs.photograph())
    with pytest.raises(PictureError, match="longer than 2 seconds"):
        workers.decode(bombs.photograph(), sleeps)
    workers.close()


def test_the_system_holds_the_limits_and_no_secret_is_in_reach(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDLING_TOKEN", "secret")
    memory, files, written, core = workers.array(bombs.photograph(), limits_of)
    assert (memory, files, written, core) == (DecodeLimits().memory, 16, 0, 0)
    assert b"TOKEN" not in workers.decode(bombs.photograph(), secrets).data


def computes(data: bytes) -> np.ndarray:
    """How nice the process is in the end, when it has computed for long, or has been made to make way."""
    until, before = time.process_time() + 2, os.getpriority(os.PRIO_PROCESS, 0)
    while time.process_time() < until and os.getpriority(os.PRIO_PROCESS, 0) == before:
        pass
    return tells(data)


def tells(data: bytes) -> np.ndarray:
    return np.array([os.getpriority(os.PRIO_PROCESS, 0)], dtype=np.float64)


@pytest.mark.parametrize("forward", [True, False])
def test_a_picture_that_takes_long_makes_way_and_the_next_does_not(
    forward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = Workers(DecodeLimits(brisk=0.05), count=1)
    last = min(19, os.getpriority(os.PRIO_PROCESS, 0) + LAST)  # whatever the tests themselves run with
    if not forward:  # who is not the superuser may not come forward again
        real = os.setpriority
        monkeypatch.setattr(
            os, "setpriority", lambda kind, one, nice: real(kind, one, nice) if nice == last else denied()
        )
    before = workers.array(bombs.photograph(), tells)[0]
    if before == 19:
        pytest.skip("nobody can come after a process that is the nicest already")
    for _ in range(2):
        assert workers.array(bombs.photograph(), computes)[0] == last
        assert workers.array(bombs.photograph(), tells)[0] == before
    assert len(workers._usual._running) == 1
    workers.close()


def denied() -> None:
    raise PermissionError


def test_closing_ends_what_is_being_decoded() -> None:
    workers = Workers(DecodeLimits(patience=60), count=1)
    workers.decode(bombs.photograph())
    said: list[str] = []

    def ask() -> None:
        try:
            workers.decode(bombs.photograph(), sleeps)
        except PictureError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.2)
    workers.close()
    thread.join(10)
    assert said
    with pytest.raises(PictureError):
        workers.decode(bombs.photograph())


BOMBS = {
    "exif segments": lambda: bombs.exif_segments(),
    "fill": lambda: bombs.fill(),
    "empty chunks": lambda: bombs.empty_chunks(),
    "scans": lambda: bombs.scans(5000),
    "a tall line": lambda: bombs.png(1, 50_000_000, rows=1000),
    "a tall line with all its rows": lambda: bombs.png(1, 200_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_one_sentence_within_seconds(workers: Workers, name: str) -> None:
    data = BOMBS[name]()
    workers.decode(bombs.photograph())
    started = time.monotonic()
    with pytest.raises(PictureError):
        workers.decode(data, CUT)
    assert time.monotonic() - started < 10


def peak(data: bytes) -> np.ndarray:
    """Megabytes that decoding takes on top of what the process has, whatever it had before."""
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
    before = memory("VmRSS")
    Upright(448)(data)
    return np.array([memory("VmHWM") - before], dtype=np.float64)


def memory(line: str) -> float:
    told = Path("/proc/self/status").read_text().partition(f"{line}:")[2].split()[0]
    return int(told) / 1024


def test_a_large_picture_is_small_as_soon_as_it_is_decoded() -> None:
    """8,000² pixels are 256 megabytes in memory; to convert and resize them whole took several times that."""
    data = bombs.png(8000, 8000)
    assert len(data) < 300_000
    workers = Workers(DecodeLimits(seconds=30), count=1)
    with pytest.raises(LargePicture):
        workers.decode_usual(data, peak)
    assert 10 < workers.decode(data, peak).array[0] < 400
    workers.close()


def rests(data: bytes) -> np.ndarray:
    """Megabytes that the process holds when nothing is being decoded."""
    return np.array([memory("VmRSS")], dtype=np.float64)


def test_memory_of_large_pictures_is_given_back() -> None:
    """Four pictures of 49 million pixels, which are 200 megabytes each, through two threads, one at a time."""
    workers = Workers(DecodeLimits(seconds=60), count=2)
    data, small = bombs.png(7000, 7000), bombs.photograph()
    before = workers.decode_large(small, rests).array[0]
    here = memory("VmRSS")
    threads = [threading.Thread(target=lambda: [workers.array(data, Upright(448)) for _ in range(2)]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert workers.decode_large(small, rests).array[0] - before < 100
    assert memory("VmRSS") - here < 100
    workers.close()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "LA", "L", "I;16"])
def test_by_strips_is_as_good_as_whole(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    image = Image.linear_gradient("L").resize((900, 700))
    image = image.convert(mode) if mode != "I;16" else Image.fromarray(np.asarray(image).astype(np.uint16) * 256)
    exif = Image.Exif()
    exif[0x0112] = 6  # lies on its side
    buffer = io.BytesIO()
    image.save(buffer, "PNG", exif=exif)
    whole = CUT(buffer.getvalue()).astype(int)
    monkeypatch.setattr(opening, "LARGE", 1000)
    assert np.abs(CUT(buffer.getvalue()).astype(int) - whole).max() <= 3
    assert Upright(64)(buffer.getvalue()).shape == (900 // 10, 700 // 10, 3)


def test_who_has_too_many_pixels_is_told_so() -> None:
    workers = Workers(DecodeLimits(pixels=1000), count=1)
    with pytest.raises(TooManyPixels, match="64 × 48 pixels"):
        workers.decode(bombs.photograph())
    with pytest.raises(TooManyPixels, match="on a side"):
        Workers(count=1).decode(bombs.png(70_000, 1))
    workers.close()
