"""Features of picture files, each computed once: found again by backbone, preprocessing and content.

Pictures are decoded in processes a little ahead of the network, and stored shard by shard: who is killed loses the
shard in hand and those that are being written (one, or on a GPU four: a second's work), and the next process carries on
from there. Renamed, moved and duplicated files cost nothing.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from groundling.decoding.cores import cores
from groundling.files import cache_folder, remove_leftovers, write_json
from groundling.large_arrays import room
from groundling.progress import bar
from groundling.vision import shards
from groundling.vision.backbones import Backbone
from groundling.vision.decoding import cancelled_on_error, decoded, refuse, rows_by_content, writable
from groundling.vision.overlapped import GPUEncoding
from groundling.vision.preprocessing import Pixels, Preprocessing

SHARD = 256  # pictures
SHARD_ON_A_GPU = 4096  # a quarter of a second's work
WAITING_ON_A_GPU = 4  # shards
VERSION = 1  # raise it when the same settings give other features: what is cached is then not found any more

#: Features of batches of pictures, in their order; the next batch may be asked for before one is given back.
Encode = Callable[[Iterable[list[Pixels]]], Iterable[shards.Vectors]]


@dataclass(frozen=True)
class Features:
    """`vectors` float32 [n, dim], one row per path, or [n, views · dim] where there are several views of each picture.

    Rows in `failed` (row, reason) could not be read and are zero.
    """

    vectors: shards.Vectors
    failed: list[tuple[int, str]]


def features_folder(backbone: Backbone, preprocessing: Preprocessing, folder: Path | None = None) -> Path:
    """Where features under these settings are kept: other settings, other folder."""
    described = json.dumps(features_settings(backbone, preprocessing), sort_keys=True)
    digest = hashlib.sha256(described.encode()).hexdigest()[:8]
    base = cache_folder() / "features" if folder is None else folder
    return base / f"{re.sub('[/:]', '--', backbone.name)}-{preprocessing.size}-{digest}"


def features_settings(backbone: Backbone, preprocessing: Preprocessing) -> dict[str, object]:
    return {"version": VERSION, **backbone.settings(), **preprocessing.settings()}


def extract(
    paths: list[Path],
    backbone: Backbone,
    preprocessing: Preprocessing | None = None,
    batch: int | None = None,
    threads: int | None = None,
    folder: Path | None = None,
    strict: bool = False,
) -> Features:
    """The features of picture files, from the cache where they are in it, computed and kept there where not.

    Args:
        paths: the picture files, in the order of the rows of the result.
        backbone: what computes the features.
        preprocessing: by default the backbone's own, without mirror images.
        batch: pictures given to the backbone at once; 64 when left out, on a GPU as many as one pass takes.
        threads: how many decode pictures; as many as there are cores when left out.
        folder: where features are kept; by default `features` in the cache folder.
        strict: raise UserError for a file that is not a readable picture, rather than list it in `failed`.
    """
    preprocessing = preprocessing or backbone.cut or Preprocessing(backbone.size)
    if preprocessing.size != backbone.size:
        raise ValueError(f"pictures of size {preprocessing.size} for a backbone of size {backbone.size}")
    on_gpu = backbone.device.type == "cuda"
    batch = max(1, (batch or (backbone.at_once if on_gpu else 64)) // preprocessing.parts)
    one = partial(encode_pixels, backbone, preprocessing=preprocessing)
    return cached(
        paths,
        features_folder(backbone, preprocessing, folder),
        features_settings(backbone, preprocessing),
        preprocessing.views * backbone.dim,
        preprocessing.pixels,
        GPUEncoding(backbone, preprocessing, batch) if on_gpu else one_by_one(one),
        batch,
        threads,
        strict,
        on_gpu,
    )


def cached(
    paths: list[Path],
    place: Path,
    settings: dict[str, object],
    dim: int,
    decode: Callable[[bytes], Pixels],
    encode: Encode,
    at_once: int = 64,
    threads: int | None = None,
    strict: bool = False,
    on_gpu: bool = False,
) -> Features:
    """What `encode` makes of picture files, [paths, dim], kept in the folder `place` with the settings that tell it.

    `decode` is called in processes of their own (see `decoding.workers`); `at_once` pictures are encoded together.
    What comes so fast as `on_gpu` is stored in large shards.
    """
    vectors = room((len(paths), dim))
    with ThreadPoolExecutor(threads or cores()) as pool, cancelled_on_error(pool):
        rows, failed = rows_by_content(paths, pool)
        if strict:
            refuse(paths, failed)  # before hours of work
        todo = fill_from_cache(vectors, rows, place, dim)
        if todo:
            with writable(place, "features"):
                write_json(place / "settings.json", settings)
                remove_leftovers(place)
        with (
            bar("Features", total=len(paths), done=len(paths) - len(todo)) as progress,
            closing(decoded(paths, todo, decode, failed, pool, limit=2 * at_once)) as pictures,
        ):
            for keys, features in encoded(pictures, encode, at_once, place, on_gpu):
                put_rows(vectors, [todo[key] for key in keys], features)
                progress.advance(len(keys))
    if strict:
        refuse(paths, failed)
    return Features(vectors, sorted(failed.items()))


def encoded(
    pictures: Iterable[tuple[bytes, Pixels]], encode: Encode, at_once: int, place: Path, on_gpu: bool = False
) -> Iterator[tuple[list[bytes], shards.Vectors]]:
    """What `encode` makes of decoded pictures, batch by batch and in order; it is stored in the folder `place`."""
    taken: deque[list[bytes]] = deque()

    def batches() -> Iterator[list[Pixels]]:
        for keys, pixels in _batches(pictures, at_once):
            taken.append(keys)
            yield pixels

    with ShardWriter(place, *((SHARD_ON_A_GPU, WAITING_ON_A_GPU) if on_gpu else (SHARD, 1))) as shard:
        for features in encode(batches()):
            keys = taken.popleft()
            shard.add(keys, features)
            yield keys, features


def one_by_one(encode: Callable[[list[Pixels]], shards.Vectors]) -> Encode:
    """Where nothing is gained by having the next batch begin before one has ended."""
    return lambda batches: map(encode, batches)


def put_rows(vectors: shards.Vectors, rows: list[list[int]], features: shards.Vectors) -> None:
    """Each feature into the rows of its picture, of which most have one: all of these at once."""
    vectors[[places[0] for places in rows]] = features
    for places, feature in zip(rows, features, strict=True):
        if len(places) > 1:
            vectors[places] = feature


def fill_from_cache(
    vectors: shards.Vectors, rows: dict[bytes, list[int]], place: Path, dim: int
) -> dict[bytes, list[int]]:
    """Copy what is cached into `vectors`; what is left to compute, as rows by content."""
    todo = dict(rows)
    for keys, features in shards.read_all(place, dim):
        for key, feature in zip(keys, features, strict=True):
            if key in todo:
                vectors[todo.pop(key)] = feature
    return todo


def encode_pixels(backbone: Backbone, pixels: list[Pixels], preprocessing: Preprocessing) -> shards.Vectors:
    return backbone.finite(backbone.look(backbone.together(pixels), preprocessing).cpu())


class ShardWriter:
    """Collects features and writes them whenever there are enough, and what is left at the end or on an error.

    A thread of its own writes, one shard at a time, so that the network does not wait for the disk, unless `waiting`
    shards do: a disk that is busy takes many times as long for one as for the next.
    """

    def __init__(self, place: Path, size: int = SHARD, waiting: int = 1) -> None:
        self.place, self.size, self.waiting = place, size, waiting
        self.keys: list[bytes] = []
        self.parts: list[shards.Vectors] = []
        self.thread = ThreadPoolExecutor(1)
        self.writing: deque[Future[None]] = deque()

    def add(self, keys: list[bytes], features: shards.Vectors) -> None:
        self.keys += keys
        self.parts.append(features)
        if len(self.keys) >= self.size:
            self.write()

    def write(self) -> None:
        self.wait(self.waiting - 1)
        if self.keys:
            self.writing.append(self.thread.submit(self._write, self.keys, self.parts))
            self.keys, self.parts = [], []

    def wait(self, most: int = 0) -> None:
        """Until at most so many shards are not there yet; an error of writing one is raised here."""
        while self.writing and (len(self.writing) > most or self.writing[0].done()):
            self.writing.popleft().result()

    def _write(self, keys: list[bytes], parts: list[shards.Vectors]) -> None:
        with writable(self.place, "features"):
            shards.write(self.place, keys, np.concatenate(parts))

    def __enter__(self) -> "ShardWriter":
        return self

    def __exit__(self, *error: object) -> None:
        with self.thread:
            self.write()
            self.wait()


def _batches(pictures: Iterable[tuple[bytes, Pixels]], size: int) -> Iterator[tuple[list[bytes], list[Pixels]]]:
    keys: list[bytes] = []
    pixels: list[Pixels] = []
    for key, picture in pictures:
        keys.append(key)
        pixels.append(picture)
        if len(keys) == size:
            yield keys, pixels
            keys, pixels = [], []
    if keys:
        yield keys, pixels
