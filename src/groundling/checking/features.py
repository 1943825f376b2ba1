"""From the bytes of picture files, which anybody may have written, to the features that a model looks at."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from cachetools import LRUCache

from groundling.checking.problem import NotChecked
from groundling.decoding.opening import COLLECTION
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import Workers, shared
from groundling.model import FeatureModel, Vectors
from groundling.search import walk
from groundling.search.walk import Unreadable

if TYPE_CHECKING:
    from PIL import Image

TOGETHER = 64  # pictures through the backbone at once
REMEMBERED = 4096  # pictures whose features are kept, for tables with many captions of each


def features_of(
    model: FeatureModel, pictures: Sequence[bytes], workers: Workers | None = None
) -> tuple[Vectors, dict[int, str]]:
    """[pictures, features], and for those that cannot be decoded why; their rows are zero.

    Only formats of photographs are decoded, in processes of their own: the shared ones unless told.
    """
    model.load_picture_side()
    workers = workers or shared(COLLECTION)
    vectors = np.zeros((len(pictures), model.features), dtype=np.float32)
    problems: dict[int, str] = {}
    for start in range(0, len(pictures), TOGETHER):
        part = dict(enumerate(workers.arrays(pictures[start : start + TOGETHER], model.preparation), start))
        problems |= {row: str(why) for row, why in part.items() if isinstance(why, PictureError)}
        good = {row: pixels for row, pixels in part.items() if not isinstance(pixels, PictureError)}
        if good:
            vectors[list(good)] = model.features_of(list(good.values()))
    return vectors, problems


class FolderFeatures:
    """Pictures of a folder by name, each looked at once as long as it is remembered. Nothing outside it is read."""

    def __init__(self, model: FeatureModel, root: Path) -> None:
        self.model, self.root = model, root
        self._remembered: LRUCache[str, Vectors | str] = LRUCache(REMEMBERED)

    def look(self, names: Sequence[str]) -> dict[str, Vectors | str]:
        """Name → features [features], or why there are none."""
        found = {name: self._remembered[name] for name in names if name in self._remembered}
        new: dict[str, bytes] = {}
        for name in dict.fromkeys(names):
            if name not in found:
                try:
                    new[name] = walk.read(self.root, name)[0]
                except Unreadable as problem:
                    found[name] = (
                        "it is a link, and links are not followed" if _is_link(self.root / name) else str(problem)
                    )
                if len(new) == TOGETHER:
                    found |= self._looked(new)
                    new = {}
        found |= self._looked(new)
        self._remembered.update(found)
        return found

    def _looked(self, files: dict[str, bytes]) -> dict[str, Vectors | str]:
        if not files:
            return {}
        vectors, problems = features_of(self.model, list(files.values()))
        return {name: problems.get(row, vectors[row]) for row, name in enumerate(files)}


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
