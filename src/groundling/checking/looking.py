"""From the bytes of picture files, which anybody may have written, to the features that a model looks at."""

import io
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from groundling.checking.problem import NotChecked
from groundling.export import OnnxModel
from groundling.search import walk
from groundling.search.pictures import check
from groundling.search.walk import Unreadable
from groundling.settings import FeatureSettings
from groundling.vision.preprocessing import PictureError, Pixels

if TYPE_CHECKING:
    from PIL import Image

Vectors = npt.NDArray[np.float32]

TOGETHER = 64  # pictures through the backbone at once
HEIC_BEGINS = (b"ftypheic", b"ftypheix", b"ftypmif1")
REMEMBERED = 4096  # pictures whose features are kept, for tables with many captions of each


class Network(NamedTuple):
    """A backbone: `prepare` makes pixels of a picture file (or raises PictureError), `features` [pictures, features]
    of pixels."""

    prepare: Callable[[bytes], Pixels]
    features: Callable[[Sequence[Pixels]], Vectors]


def of_settings(settings: FeatureSettings | None) -> Network:
    """The backbone that a run was trained with; None where nobody knows which."""
    from groundling.vision.from_settings import backbone_of, check_looks, preprocessing_of

    settings = check_looks(settings)
    backbone = backbone_of(settings)
    preprocessing = preprocessing_of(settings, backbone)
    return Network(preprocessing.pixels, lambda pixels: backbone.features(pixels, preprocessing).numpy())


def of_export(model: OnnxModel) -> Network:
    """The backbone that was exported with a model."""
    model.open_eyes()
    return Network(model.prepare, model.features_of)


class Eyes:
    """The backbone of a model, loaded with the first picture: a table without readable ones never needs it."""

    def __init__(self, load: Callable[[], Network]) -> None:
        self._load = load

    @cached_property
    def _network(self) -> Network:
        return self._load()

    def features(self, pictures: Sequence[bytes]) -> tuple[Vectors, dict[int, str]]:
        """[pictures, features], and for those that cannot be decoded why; their rows are zero.

        Only formats of photographs are decoded, and none of more pixels than Pillow thinks safe.
        """
        network = self._network

        def prepared(data: bytes) -> Pixels | str:
            try:
                check(data, "picture.heic" if data[4:12] in HEIC_BEGINS else "")  # which says what HEIC needs
                return network.prepare(data)
            except (Unreadable, PictureError) as problem:
                return str(problem)

        found, problems = [], {}
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            for start in range(0, len(pictures), TOGETHER):
                part = list(pool.map(prepared, pictures[start : start + TOGETHER]))
                good = [pixels for pixels in part if not isinstance(pixels, str)]
                seen = iter(network.features(good)) if good else iter(())
                for row, pixels in enumerate(part, start):
                    if isinstance(pixels, str):
                        problems[row] = pixels
                    found.append(None if isinstance(pixels, str) else next(seen))
        width = next((len(one) for one in found if one is not None), 0)
        rows = [np.zeros(width, dtype=np.float32) if one is None else one for one in found]
        return np.array(rows, dtype=np.float32).reshape(len(rows), width), problems


class SeenFolder:
    """Pictures of a folder by name, each looked at once as long as it is remembered. Nothing outside it is read."""

    def __init__(self, eyes: Eyes, root: Path) -> None:
        self.eyes, self.root = eyes, root
        self._known: OrderedDict[str, Vectors | str] = OrderedDict()

    def look(self, names: Sequence[str]) -> dict[str, Vectors | str]:
        """Name → features [features], or why there are none."""
        found: dict[str, Vectors | str] = {name: self._known[name] for name in names if name in self._known}
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
        for name in found:
            self._known[name] = found[name]
            self._known.move_to_end(name)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _looked(self, files: dict[str, bytes]) -> dict[str, Vectors | str]:
        if not files:
            return {}
        vectors, problems = self.eyes.features(list(files.values()))
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
