"""Pictures in a terminal: what is sent is read back as terminals do, and nothing is sent to what cannot show it."""

import base64
import io
import os
import re
import threading
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundling.cli import terminal_pictures
from groundling.cli.terminal_pictures import drawing_for, has_sixels, iterm2, kitty, sixel

PIXELS = np.random.default_rng(0).integers(0, 255, (50, 70, 3), dtype=np.uint8)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_kitty_gets_the_pixels_in_pieces() -> None:
    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", kitty(PIXELS))
    assert len(parts) > 1
    assert [keys.rpartition("m=")[2] for keys, _ in parts] == ["1"] * (len(parts) - 1) + ["0"]
    assert all(len(data) <= 4096 for _, data in parts)
    data = base64.b64decode("".join(data for _, data in parts))
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), PIXELS)


def test_iterm2_gets_the_pixels() -> None:
    size, data = re.fullmatch(
        r"\x1b\]1337;File=inline=1;size=(\d+);preserveAspectRatio=1:(.*)\x07", iterm2(PIXELS)
    ).groups()
    png = base64.b64decode(data)
    assert len(png) == int(size)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png))), PIXELS)


def read_sixels(text: str) -> Any:
    """A terminal, slowly: every letter paints the pixels that its bits say, in the colour chosen last."""
    head, body = re.fullmatch(r'\x1bP0;1q"1;1;(\d+;\d+)(.*)\x1b\\', text).groups()
    width, height = map(int, head.split(";"))
    canvas = np.full((height, width, 3), -1.0)
    colours: dict[int, list[float]] = {}
    x, top, colour = 0, 0, 0
    for define, choose, count, letter in re.findall(r"#(\d+;2;\d+;\d+;\d+)|#(\d+)|!(\d+)(?=.)|(.)", body):
        if define:
            number, _, *shares = map(int, define.split(";"))
            colours[number] = [share / 100 for share in shares]
        elif choose:
            colour = int(choose)
        elif count:
            repeat = int(count)
            continue
        elif letter == "$":
            x = 0
        elif letter == "-":
            x, top = 0, top + 6
        else:
            for bit in range(6):
                if (ord(letter) - 63) >> bit & 1:
                    canvas[top + bit, x : x + repeat] = colours[colour]
            x += repeat
        repeat = 1
    return canvas


def test_sixels_say_every_pixel() -> None:
    few = (PIXELS // 128) * 255  # eight colours: none is lost
    np.testing.assert_allclose(read_sixels(sixel(few)), few / 255)
    assert len(sixel(np.zeros((60, 200, 3), dtype=np.uint8))) < 200  # runs are told by their length


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm-kitty"}, kitty),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, kitty),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, iterm2),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, iterm2),
        ({"TERM": "screen-256color", "KITTY_WINDOW_ID": "1", "TMUX": "x"}, None),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "dumb", "KITTY_WINDOW_ID": "1"}, None),
    ],
)
def test_terminals_are_known(environment: dict[str, str], expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_pictures, "has_sixels", lambda *_: False)
    assert drawing_for(Terminal(), environment) is expected
    assert drawing_for(io.StringIO(), environment) is None  # a pipe


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(b"\x1b[?62;4;6;22c", True), (b"\x1b[?4;6c", False), (b"\x1b[?62;22;44c", False), (b"", False)],
)
def test_a_terminal_is_asked_for_sixels(answer: bytes, expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_pictures, "PATIENCE", 0.5 if answer else 0.05)
    outside, inside = os.openpty()
    asked: list[bytes] = []

    def terminal() -> None:
        asked.append(os.read(outside, 16))
        os.write(outside, answer)

    thread = threading.Thread(target=terminal)
    thread.start()
    try:
        with os.fdopen(os.dup(inside), "w") as out:
            assert has_sixels(inside, out) is expected
        thread.join()
        assert asked == [b"\x1b[c"]
    finally:
        os.close(outside)
        os.close(inside)
