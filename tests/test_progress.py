"""Progress: silent in the library, a line now and then in a log, a live bar on a terminal."""

import io
import sys
from collections.abc import Iterator

import pytest

from groundling import progress


class Clock:
    """A clock that only moves when it is told to."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.fixture
def shown() -> Iterator[None]:
    progress.show(True)
    yield
    progress.show(False)


def test_the_library_is_silent_until_it_is_told_to_speak(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    progress.show(False)
    with progress.bar("Counting", 10) as bar:
        clock.now += 100
        bar.advance(5)
    assert capsys.readouterr() == ("", "")


def test_a_log_gets_a_line_every_fifteen_seconds_with_the_time_left(
    shown: None, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.bar("Counting", 10) as bar:
        for _ in range(4):  # 8 s a piece: lines after 16 s and 32 s
            clock.now += 8
            bar.advance(note="easy")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["Counting: 2/10, 64 s left easy", "Counting: 4/10, 48 s left easy"]


def test_the_time_left_of_a_resumed_job_counts_what_this_process_did(
    shown: None, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """900 of 1,000 were done yesterday; today one takes 20 s, so the other 99 take 1,980 s."""
    with progress.bar("Counting", 1000, done=900) as bar:
        clock.now += 20
        bar.advance()
    assert capsys.readouterr().err.splitlines() == ["Counting: 901/1000, 1980 s left"]


def test_where_nobody_knows_how_much_is_to_come_what_is_done_is_told(
    shown: None, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.bar("Reading words.vec", None) as bar:
        clock.now += 16
        bar.advance(209_048)
    assert capsys.readouterr().err == "Reading words.vec: 209048\n"


def test_a_bar_inside_another_is_silent_and_the_outer_goes_on(
    shown: None, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress.bar("Outer", 2) as outer:
        with progress.bar("Inner", 5) as inner:
            clock.now += 20
            inner.advance()
        outer.advance()
    assert capsys.readouterr().err.splitlines() == ["Outer: 1/2, 20 s left"]


def test_after_an_error_the_next_bar_is_shown_again(
    shown: None, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError), progress.bar("Broken", 2):
        raise RuntimeError
    with progress.bar("Next", 2) as bar:
        clock.now += 20
        bar.advance()
    assert capsys.readouterr().err.startswith("Next: 1/2")


def test_a_terminal_gets_a_live_bar_that_goes_away(
    shown: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.bar("Counting", 10, done=3) as bar:
        bar.advance(4, note="half way")
    text = terminal.getvalue()
    assert "Counting" in text
    assert "7/10" in text
    assert "half way" in text
    assert text.endswith("\x1b[2K")  # the last thing written erases the bar's line
    assert capsys.readouterr().out == ""
