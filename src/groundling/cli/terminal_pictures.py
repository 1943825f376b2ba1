"""Small pictures in a terminal that can show them: by the protocols of kitty and iTerm2, or as sixels.

https://sw.kovidgoyal.net/kitty/graphics-protocol, https://iterm2.com/documentation-images.html, and for sixels the
manual of DEC's VT330/VT340. Pixels come from the processes that decode pictures; what is sent to the terminal is made
of these pixels, never of a file.
"""

import base64
import io
import os
import re
import select
import sys
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from groundling.decoding.thumbnail import Pixels

SIDE = 200  # pixels of the longer side
PATIENCE = 0.3  # seconds that a terminal may take to say what it can do
_KITTY_CHUNK = 4096  # letters of base64 in one command
_COLOURS = 255  # a terminal with sixels has at least so many

Image = npt.NDArray[np.uint8]  # [height, width, 3]
Draw = Callable[[Image], str]

small = Pixels(SIDE)


def drawing_for(out: TextIO, environment: Mapping[str, str] = os.environ) -> Draw | None:
    """How to draw on this stream; None where it is no terminal, or one that shows no pictures."""
    if not out.isatty() or environment.get("TERM", "") in ("", "dumb"):
        return None
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    nested = "TMUX" in environment or term.startswith(("screen", "tmux"))  # its own terminal, with its own abilities
    if not nested:
        if "KITTY_WINDOW_ID" in environment or term in ("xterm-kitty", "xterm-ghostty") or program == "ghostty":
            return kitty
        if program in ("iTerm.app", "WezTerm", "mintty") or environment.get("LC_TERMINAL") == "iTerm2":
            return iterm2
    return sixel if sys.stdin.isatty() and has_sixels(sys.stdin.fileno(), out) else None


def has_sixels(keyboard: int, out: TextIO) -> bool:
    """Ask the terminal for its device attributes; 4 among them is "sixel graphics". Silence is a no."""
    try:
        import termios
        import tty
    except ImportError:
        return False
    before = termios.tcgetattr(keyboard)
    said = b""
    try:
        tty.setcbreak(keyboard)
        out.write("\x1b[c")
        out.flush()
        while select.select([keyboard], [], [], PATIENCE)[0]:
            part = os.read(keyboard, 64)
            said += part
            if not part or said.endswith(b"c"):
                break
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)
    answer = re.search(rb"\x1b\[\?([\d;]+)c", said)
    return answer is not None and b"4" in answer[1].split(b";")[1:]


def kitty(pixels: Image) -> str:
    data = base64.b64encode(_png(pixels)).decode()
    parts = [data[start : start + _KITTY_CHUNK] for start in range(0, len(data), _KITTY_CHUNK)]
    keys = ["a=T,f=100,q=2,"] + [""] * (len(parts) - 1)  # q=2: it is to say nothing, for nobody reads it
    last = len(parts) - 1
    return "".join(
        f"\x1b_G{key}m={int(place < last)};{part}\x1b\\"
        for place, (key, part) in enumerate(zip(keys, parts, strict=True))
    )


def iterm2(pixels: Image) -> str:
    data = _png(pixels)
    return f"\x1b]1337;File=inline=1;size={len(data)};preserveAspectRatio=1:{base64.b64encode(data).decode()}\x07"


def sixel(pixels: Image) -> str:
    """Bands of six rows; in each, for each colour, a letter for every column tells which of the six rows have it."""
    from PIL import Image as Pictures

    height, width = pixels.shape[:2]
    reduced = Pictures.fromarray(pixels).quantize(_COLOURS)
    palette = np.array(reduced.getpalette(), dtype=np.uint16).reshape(-1, 3)
    numbers = np.asarray(reduced)
    used = np.unique(numbers).tolist()
    percents = (palette.astype(np.uint32) * 100 + 127) // 255
    colours = [f"#{number};2;{';'.join(map(str, percents[number].tolist()))}" for number in used]
    weights = 1 << np.arange(6)[:, None]
    bands = []
    for top in range(0, height, 6):
        band = numbers[top : top + 6]
        lines = []
        for number in np.unique(band).tolist():
            columns = ((band == number) * weights[: len(band)]).sum(axis=0)
            lines.append(
                f"#{number}"
                + "".join(_run(chr(63 + code), len(list(same))) for code, same in groupby(columns.tolist()))
            )
        bands.append("$".join(lines))  # $: back to the first column; -: the next band
    return f'\x1bP0;1q"1;1;{width};{height}' + "".join(colours) + "-".join(bands) + "\x1b\\"


def _run(letter: str, count: int) -> str:
    return f"!{count}{letter}" if count > 3 else letter * count


def _png(pixels: Any) -> bytes:
    from PIL import Image as Pictures

    buffer = io.BytesIO()
    Pictures.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()
