"""From the bytes of picture files, which anybody may have written, to what a model keeps of them."""

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import LRUCache

from groundling.checking.method import Method
from groundling.checking.problem import NotChecked
from groundling.decoding.opening import COLLECTION
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import shared
from groundling.model import Vectors
from groundling.search import walk
from groundling.search.walk import Unreadable

if TYPE_CHECKING:
    from PIL import Image

TOGETHER = 64  # pictures through the backbone at once
REMEMBERED = 4096  # pictures of which it is kept what the model saw, for tables with many captions of each

Looked = Vectors | str  # what the model keeps of a picture, or why there is nothing


def vectors_of(method: Method, pictures: Sequence[bytes]) -> list[Looked]:
    """What a model keeps of each picture, or why it cannot be decoded.

    Only formats of photographs are decoded, in processes of their own.
    """
    method.model.load_picture_side()
    found: list[Looked] = []
    for start in range(0, len(pictures), TOGETHER):
        decoded = list(shared(COLLECTION).arrays(pictures[start : start + TOGETHER], method.model.preparation))
        good = [pixels for pixels in decoded if not isinstance(pixels, PictureError)]
        seen = iter(method.look(good) if good else ())
        found += [str(pixels) if isinstance(pixels, PictureError) else next(seen) for pixels in decoded]
    return found


class FolderPictures:
    """Pictures of a folder by name, each looked at once as long as it is remembered. Nothing outside it is read."""

    def __init__(self, method: Method, root: Path) -> None:
        self.method, self.root = method, root
        self._remembered: LRUCache[str, Looked] = LRUCache(REMEMBERED)

    def look(self, names: Sequence[str], seen: Callable[[int], None] = lambda count: None) -> dict[str, Looked]:
        """Name → what is kept of it, or why there is nothing; `seen` is told how many more there are each time."""
        found: dict[str, Looked] = {}
        new: dict[str, bytes] = {}
        for name in dict.fromkeys(names):
            if name in self._remembered:
                found[name] = self._remembered[name]
                continue
            try:
                new[name] = walk.read(self.root, name)[0]
            except Unreadable as problem:
                link = _is_link(self.root / name)
                found[name] = "it is a link, and links are not followed" if link else str(problem)
            if len(new) == TOGETHER:
                found |= self._looked(new)
                seen(len(new))
                new = {}
        found |= self._looked(new)
        seen(len(new))
        self._remembered.update(found)
        return found

    def _looked(self, files: dict[str, bytes]) -> dict[str, Looked]:
        return dict(zip(files, vectors_of(self.method, list(files.values())), strict=True)) if files else {}


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except (OSError, ValueError):
        return False


def picture_bytes(picture: "Path | str | Image.Image") -> bytes:
    """The file's bytes, or a picture in memory as if it had come from one. Raises NotChecked."""
    if not isinstance(picture, str | Path):
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        return buffer.getvalue()
    path = Path(picture).expanduser()
    if not path.is_file():
        raise NotChecked("a folder, where a picture is needed" if path.is_dir() else "no such picture")
    path = path.resolve()
    try:
        return walk.read(path.parent, path.name)[0]
    except Unreadable as problem:
        raise NotChecked(str(problem)) from None
