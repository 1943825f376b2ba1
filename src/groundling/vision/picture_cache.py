"""Pictures of a corpus, decoded and made small once, as 8-bit pixels in memory-mapped files.

Training on pictures looks at each of them some hundred times, every time at another part. Decoding a photograph takes
longer than that whole look, so its pixels are kept. They are found again by the size they were made to and by the
content of the file, as features are (see `cache`), and they are stored shard by shard: a process that is killed loses
the shard in hand, and the next one carries on from there.

A shard is two files: NAME.npy, the pixels of its pictures one after another, uint8 [pixels, 3], and NAME.safetensors,
{"keys": uint8 [n, 32], "sizes": int32 [n, 2]}, the content and the height and width of each. The second is written
last, so that where it is the first is whole.
"""

import hashlib
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from safetensors import SafetensorError
from safetensors.numpy import load, save

from groundling.corpus.columns import Integers
from groundling.decoding.cores import cores
from groundling.decoding.opening import upright_image
from groundling.files import DAMAGED_ARRAY, atomic_path, cache_folder, remove_leftovers
from groundling.progress import bar
from groundling.vision.decoding import (
    RowsByContent,
    cancelled_on_error,
    decoded,
    refuse,
    rows_by_content,
    writable,
)
from groundling.vision.preprocessing import Pixels, on_white

VERSION = 1  # raise it when the same settings give other pixels: what is cached is then not found any more
SHARD = 2**27  # bytes of pixels in a file, about 350 photographs of 300 × 400
LONGEST = 3  # of a picture longer than so many times its short side the middle is kept


@dataclass(frozen=True)
class Pictures:
    """Decoded pictures in the order of a corpus; nothing is read from the files until it is asked for.

    Attributes:
        files: memory-mapped pixels, uint8 [pixels, 3] each.
        places: [n, 2] the file of each picture and its first pixel there.
        sizes: [n, 2] height and width. A picture that could not be read is 0 × 0.
        failed: (row, reason) of those.
    """

    files: list[npt.NDArray[np.uint8]]
    places: Integers
    sizes: Integers
    failed: list[tuple[int, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, row: int) -> Pixels:
        """[height, width, 3]"""
        (file, first), (height, width) = self.places[row].tolist(), self.sizes[row].tolist()
        if not height:
            return np.zeros((0, 0, 3), dtype=np.uint8)
        return self.files[file][first : first + height * width].reshape(height, width, 3)

    @property
    def pixels(self) -> int:
        """Of all pictures together; each has three bytes."""
        return int(self.sizes.prod(axis=1).sum())

    def choose(self, rows: Integers | npt.NDArray[np.bool_]) -> "Pictures":
        """Some of the pictures, by rows or by a mask."""
        return Pictures(self.files, self.places[rows], self.sizes[rows])


def decode_small(data: bytes, side: int) -> Pixels:
    """The picture in a file's bytes, [height, width, 3], its short side `side` pixels long; never made larger."""
    with upright_image(data, 2 * side, on_white) as whole:
        short = min(whole.size)
        width, height = (min(length, LONGEST * short) for length in whole.size)
        left, top = (whole.width - width) / 2, (whole.height - height) / 2
        scale = min(1.0, side / short)
        size = max(1, round(width * scale)), max(1, round(height * scale))
        box = (left, top, left + width, top + height)
        return np.asarray(whole.resize(size, Image.Resampling.BICUBIC, box=box))


def pictures_folder(side: int, folder: Path | None = None) -> Path:
    """Where pictures of this size are kept."""
    return (cache_folder() / "pictures" if folder is None else folder) / f"{side}-v{VERSION}"


def decode_pictures(
    paths: list[Path], side: int = 300, threads: int | None = None, folder: Path | None = None, strict: bool = False
) -> Pictures:
    """The pictures in these files, from the cache where they are in it, decoded and kept there where not.

    Args:
        paths: the picture files, in the order of the result.
        side: pixels of the short side.
        threads: how many decode; as many as there are cores when left out.
        folder: where pictures are kept; by default `pictures` in the cache folder.
        strict: raise UserError for a file that is not a readable picture, rather than list it in `failed`.
    """
    place = pictures_folder(side, folder)
    remove_leftovers(place)
    threads = threads or cores()
    with ThreadPoolExecutor(threads) as pool, cancelled_on_error(pool):
        rows, failed = rows_by_content(paths, pool)
        if strict:
            refuse(paths, failed)
        found = _Found(len(paths))
        todo = found.fill(rows, place)
        with (
            bar("Pictures", total=len(paths), done=len(paths) - len(todo)) as progress,
            _Shard(place) as shard,
            closing(decoded(paths, todo, partial(decode_small, side=side), failed, pool, 32 * threads)) as wanted,
        ):
            for key, pixels in wanted:
                shard.add(key, pixels)
                progress.advance(1)
        if todo:
            found.fill(todo, place)
    if strict:
        refuse(paths, failed)
    return Pictures(found.files, found.places, found.sizes, sorted(failed.items()))


class _Found:
    """Where the pictures of a corpus are, filled in from the shards of a folder."""

    def __init__(self, count: int) -> None:
        self.files: list[npt.NDArray[np.uint8]] = []
        self.places = np.zeros((count, 2), dtype=np.int64)
        self.sizes = np.zeros((count, 2), dtype=np.int64)

    def fill(self, wanted: RowsByContent, place: Path) -> RowsByContent:
        """Note where wanted pictures are; what is in no shard is left to decode."""
        todo = dict(wanted)
        for index in sorted(place.glob("*.safetensors")):
            shard = _read(index)
            if shard is None:
                warnings.warn(f"{index}: damaged pictures removed; they are decoded again", stacklevel=3)
                _remove(index)
                continue
            keys, sizes, pixels = shard
            first = np.cumsum(sizes.prod(axis=1)) - sizes.prod(axis=1)
            used = False
            for number, key in enumerate(keys):
                if key in todo:
                    rows = todo.pop(key)
                    self.places[rows] = len(self.files), first[number]
                    self.sizes[rows] = sizes[number]
                    used = True
            if used:
                self.files.append(pixels)
        return todo


class _Shard:
    """Collects pictures and writes them whenever there are enough, and what is left at the end or on an error."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._keys: list[bytes] = []
        self._pictures: list[Pixels] = []
        self._bytes = 0

    def add(self, key: bytes, pixels: Pixels) -> None:
        self._keys.append(key)
        self._pictures.append(pixels)
        self._bytes += pixels.nbytes
        if self._bytes >= SHARD:
            self._write()

    def _write(self) -> None:
        if not self._keys:
            return
        keys = np.frombuffer(b"".join(self._keys), dtype=np.uint8).reshape(-1, 32)
        sizes = np.array([picture.shape[:2] for picture in self._pictures], dtype=np.int32)
        name = hashlib.sha256(keys.tobytes() + sizes.tobytes()).hexdigest()[:32]
        with writable(self.place, "pictures"):
            with atomic_path(self.place / f"{name}.npy") as temporary, temporary.open("wb") as file:
                np.save(file, np.concatenate([picture.reshape(-1, 3) for picture in self._pictures]))
            with atomic_path(self.place / f"{name}.safetensors") as temporary:
                temporary.write_bytes(save({"keys": keys, "sizes": sizes}))
        self._keys, self._pictures, self._bytes = [], [], 0

    def __enter__(self) -> "_Shard":
        return self

    def __exit__(self, *error: object) -> None:
        self._write()


def _read(index: Path) -> tuple[list[bytes], Integers, npt.NDArray[np.uint8]] | None:
    """Keys, sizes and memory-mapped pixels of a shard; None where its files are not what was written."""
    try:
        arrays = load(index.read_bytes())
        keys, sizes = arrays["keys"], arrays["sizes"]
        pixels = np.load(index.with_suffix(".npy"), mmap_mode="r", allow_pickle=False)
    except (SafetensorError, OSError, *DAMAGED_ARRAY):
        return None
    name = hashlib.sha256(keys.tobytes() + sizes.tobytes()).hexdigest()[:32]
    total = int(sizes.astype(np.int64).prod(axis=1).sum()) if sizes.ndim == 2 else -1
    if name != index.stem or pixels.dtype != np.uint8 or pixels.shape != (total, 3):
        return None
    return [key.tobytes() for key in keys], sizes.astype(np.int64), pixels


def _remove(index: Path) -> None:
    index.unlink(missing_ok=True)
    index.with_suffix(".npy").unlink(missing_ok=True)
