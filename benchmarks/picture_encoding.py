"""Pictures encoded per second by the path of `groundling features`, against its network alone and each of its parts.

The network alone has its batches on the device, as numbers that it can begin with, and keeps what comes out there. The
path behind `features`, once pictures are decoded, takes them as 8-bit squares out of a memory-mapped file: they are put
together, copied to the device, normalised, encoded, fetched, checked, and written to the cache of features. Both have
the same batches and the same precision. Then the same from picture files, which are looked up and decoded first.

    python benchmarks/picture_encoding.py [--pictures 118287] [--files 5000] [--photos FOLDER] [--device cuda] [--json]
    python benchmarks/picture_encoding.py --pretend 16000 --pictures 40000    # without a GPU

FOLDER holds part*.npy (the bytes of picture files, one after another) and len*.npy (how many each has). Where fewer
photos are in it than are asked for, each is there many times; without it 64 pictures are drawn. Every file has a few
bytes of its own behind its end, for the cache would not encode the same one twice. The weights of the network
(EfficientNet-Lite0, 224 pixels) are random where those of ImageNet are not installed; the speed is the same.

Each part says how many pictures a second it does when nothing else is done, how long it was measured, and on how many
cores this process (one, where Python is the limit) and those that it started were busy. What fails, or is under way
when --limit is reached, is named in the result, which is printed in any case.

With --pretend there is no network: for so many pictures a second it only waits, one batch at a time, as if a GPU were
at work, and what is measured is how much of that time everything around it leaves to it.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count as count_from
from itertools import islice
from pathlib import Path
from queue import Queue

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from groundling.decoding.cores import cores
from groundling.decoding.workers import PORTION, Workers, shared
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.vision import backbones, cache
from groundling.vision.backbones import Backbone
from groundling.vision.cache import ShardWriter, cached, encode_pixels, encoded, extract, one_by_one, put_rows
from groundling.vision.decoding import portions, rows_by_content
from groundling.vision.efficientnet_lite import HEAD, EfficientNetLite
from groundling.vision.overlapped import HANDS, GPUEncoding, overlapped
from groundling.vision.preprocessing import Pixels, Preprocessing
from groundling.vision.shards import content_key
from parts_in_time import Parts

SIDE = 224
CUT = Preprocessing(SIDE)
FILLING, FULL = 5.0, 2**31  # seconds and bytes that decoded pictures may take on the way to their file
LONGEST = 20.0  # seconds that the path from decoded pictures is measured
BATCH = 334  # of a GPU

File = tuple[Path, bytes]


def network(device: torch.device) -> Backbone:
    try:
        return backbones.get("efficientnet-lite0", SIDE).to(device)
    except UserError:
        torch.manual_seed(0)
        made = EfficientNetLite(1.0, 1.0).eval().requires_grad_(False)
        made.fuse()
        return Backbone("efficientnet-lite0", HEAD, SIDE, made).to(device)


def photos(folder: Path | None, most: int) -> list[bytes]:
    if folder is None:
        from picture_costs import WEB, drawn

        return [drawn(WEB, number) for number in range(64)]
    found: list[bytes] = []
    for lengths in sorted(folder.glob("len*.npy")):
        ends = np.cumsum(np.load(lengths).astype(np.int64)).tolist()[: max(0, most - len(found))]
        whole = np.load(lengths.with_name(lengths.name.replace("len", "part")), mmap_mode="r")
        found += [whole[start:end].tobytes() for start, end in zip([0, *ends], ends, strict=False)]
    return found


def written(folder: Path, pictures: list[bytes], count: int) -> list[File]:
    """Files, with the keys of their contents."""
    folder.mkdir()
    files = []
    for number in range(count):
        data = pictures[number % len(pictures)] + number.to_bytes(8, "little")
        files.append((folder / f"{number:07}.jpg", content_key(data)))
        files[-1][0].write_bytes(data)
    return files


def decode(workers: Workers, files: list[File], seconds: float, kept: list[Pixels]) -> float:
    """Pictures per second that are decoded, by processes that are there already; some of them are kept."""
    with ThreadPoolExecutor(workers.count) as pool:
        list(pool.map(lambda some: list(workers.files(some, CUT)), [files[:2]] * workers.count))
        started = time.perf_counter()

        def one(some: list[File]) -> list[Pixels]:
            if time.perf_counter() - started > seconds:
                return []
            return [array for array in workers.files(some, CUT) if isinstance(array, np.ndarray)]

        found = [array for arrays in pool.map(one, portions(files, PORTION)) for array in arrays]
    kept += found[: 2000 - len(kept)]
    return len(found) / (time.perf_counter() - started)


class Store:
    """Decoded pictures in a memory-mapped file, as many as fit into some memory and can be written in some seconds;
    the file is read several times where more are asked for."""

    def __init__(self, folder: Path, squares: list[Pixels], count: int) -> None:
        part, self.count, self.rows = np.stack(squares), count, 0
        started = time.perf_counter()
        with (folder / "pictures.raw").open("wb") as file:
            while (
                self.rows < count and file.tell() < FULL and (not self.rows or time.perf_counter() < started + FILLING)
            ):
                part = part[: count - self.rows]
                file.write(part.data)
                file.flush()
                os.fsync(file.fileno())  # else it is on its way to the disk while features are written there
                self.rows += len(part)
        mapped = np.memmap(folder / "pictures.raw", dtype=np.uint8, mode="r", shape=(self.rows, SIDE, SIDE, 3))
        self.pixels = mapped.view(np.ndarray)  # whose rows are taken faster

    def __iter__(self) -> Iterator[tuple[bytes, Pixels]]:
        for row in range(self.count):
            yield row.to_bytes(32, "little"), self.pixels[row % self.rows]

    def batch(self, size: int, first: int = 0) -> list[Pixels]:
        return [self.pixels[row % self.rows] for row in range(first, first + size)]


def repeated(once: Callable[[], int], seconds: float) -> float:
    """Pictures per second of something that is done again and again, and says how many it did."""
    once()  # libraries are loaded and have chosen
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        done += once()
    return done / (time.perf_counter() - started)


class Network:
    """The network alone, in batches of `size` that are on its device."""

    def __init__(self, backbone: Backbone, store: Store, size: int) -> None:
        device = backbone.device
        mean, std = (torch.tensor(values, device=device)[:, None, None] for values in (backbone.mean, backbone.std))
        self.look: nn.Module = backbone.network  # type: ignore[assignment]
        part = torch.from_numpy(np.stack(store.batch(size))).to(device).permute(0, 3, 1, 2)
        ready = ((part.float() / 255 - mean) / std).contiguous(memory_format=torch.channels_last)
        self.device, copies = device, 8 if device.type == "cuda" else 1
        self.resident = [ready.clone(memory_format=torch.channels_last) for _ in range(copies)]

    @torch.inference_mode()
    def alone(self) -> int:
        kept = [self.look(ready) for ready in self.resident]
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return sum(map(len, kept))

    def overlapped(self) -> int:
        """Batches begun one after another as the path does it, each fetched."""

        @torch.inference_mode()
        def begin(ready: Tensor) -> tuple[Tensor, torch.cuda.Event]:
            features, here = self.look(ready).to("cpu", non_blocking=True), torch.cuda.Event()
            here.record()
            return features, here

        def end(begun: tuple[Tensor, torch.cuda.Event]) -> int:
            begun[1].synchronize()
            return len(begun[0])

        return sum(overlapped(lambda ready: ready, begin, end, self.resident * 4))


def path(backbone: Backbone, store: Store, size: int, folder: Path, count: int) -> float:
    """Pictures per second of what `features` does with decoded pictures."""
    started, done = time.perf_counter(), 0
    vectors = np.zeros((count, backbone.dim), dtype=np.float32)
    rows = {row.to_bytes(32, "little"): [row] for row in range(count)}

    def in_time() -> Iterator[tuple[bytes, Pixels]]:
        for row, picture in enumerate(islice(store, count)):
            if row % size == 0 and time.perf_counter() - started > LONGEST:
                return
            yield picture

    on_gpu = backbone.device.type == "cuda"
    one = partial(encode_pixels, backbone, preprocessing=CUT)
    encode = GPUEncoding(backbone, CUT, size) if on_gpu else one_by_one(one)
    for keys, features in encoded(in_time(), encode, size, folder, on_gpu):
        put_rows(vectors, [rows[key] for key in keys], features)
        done += len(keys)
    assert np.isfinite(vectors[:done]).all() and vectors[:done].any(axis=1).all()
    return done / (time.perf_counter() - started)


def from_files(backbone: Backbone, files: list[File], folder: Path) -> float:
    """Pictures per second from files, with nothing in the cache; decoding processes are there."""
    started = time.perf_counter()
    found = extract([file for file, _ in files], backbone, CUT, folder=folder)
    assert not found.failed
    return len(files) / (time.perf_counter() - started)


def looked_up(files: list[File]) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(cores()) as pool:
        rows_by_content([file for file, _ in files], pool)
    return len(files) / (time.perf_counter() - started)


def stored(folder: Path, size: int, count: int) -> float:
    """Features per second that are hashed and written, as a GPU has them written."""
    features, started = np.random.default_rng(0).random((size, HEAD), dtype=np.float32), time.perf_counter()
    with ShardWriter(folder, cache.SHARD_ON_A_GPU, cache.WAITING_ON_A_GPU) as shard:
        for first in range(0, count, size):
            shard.add([row.to_bytes(32, "little") for row in range(first, first + size)], features + first)
    return count / (time.perf_counter() - started)


def pretended(parts: Parts, place: Path, files: list[File], store: Store, rate: float) -> None:
    """The share of the time that a network of this speed, which computes nothing, is at work."""
    worked, features, free = [0.0], np.ones((BATCH, HEAD), np.float32), Queue[Pixels]()
    for _ in range(HANDS + 2):  # as pinned memory is used again
        free.put(np.empty((BATCH, SIDE, SIDE, 3), np.uint8))

    def together(pixels: list[Pixels]) -> tuple[int, Pixels]:
        batch = free.get()
        np.stack(pixels, out=batch[: len(pixels)])
        return len(pixels), batch

    def wait(batch: tuple[int, Pixels]) -> int:
        started = time.perf_counter()
        time.sleep(batch[0] / rate)
        worked[0] += time.perf_counter() - started
        free.put(batch[1])
        return batch[0]

    def encode(batches: Iterable[list[Pixels]]) -> Iterator[npt.NDArray[np.float32]]:
        return overlapped(together, wait, lambda count: features[:count].copy(), batches)

    def decoded() -> float:
        started = time.perf_counter()
        done = sum(len(keys) for keys, _ in encoded(store, encode, BATCH, place / "features", on_gpu=True))
        return done / (time.perf_counter() - started)

    def whole() -> float:
        started, paths = time.perf_counter(), [file for file, _ in files]
        cached(paths, place / "from-files", {}, HEAD, CUT.pixels, encode, BATCH, on_gpu=True)
        return len(files) / (time.perf_counter() - started)

    parts.facts["pretended"] = rate
    parts.run("decoded", decoded)
    parts.facts["at_work"] = worked[0] / parts.seconds("decoded")
    parts.run("from_jpeg_files", whole)


def measure(parts: Parts, place: Path, files: list[File], store: Store, device: torch.device, seconds: float) -> None:
    backbone, count = network(device), store.count
    on_gpu = device.type == "cuda"
    size = backbone.at_once if on_gpu else 64
    parts.facts |= {"network": backbone.name, "batch": size, "torch": torch.__version__}
    parts.facts["device"] = torch.cuda.get_device_name(device) if on_gpu else "cpu"
    alone = Network(backbone, store, size)
    blind = replace(backbone, network=lambda x: x.new_ones(len(x), HEAD))
    parts.run("warm", lambda: path(backbone, store, size, place / "warm", min(count, 4 * size)))
    parts.run("network_alone", lambda: repeated(alone.alone, seconds))
    parts.run("decoded", lambda: path(backbone, store, size, place / "features", count))
    parts.run("network_alone_again", lambda: repeated(alone.alone, seconds))
    rates = parts.rates
    if {"decoded", "network_alone", "network_alone_again"} <= rates.keys():
        parts.facts["ratio"] = 2 * rates["decoded"] / (rates["network_alone"] + rates["network_alone_again"])
    parts.run("from_jpeg_files", lambda: from_files(backbone, files, place / "from-files"))
    parts.run("files_looked_up", lambda: looked_up(files))
    parts.run("features_stored", lambda: stored(place / "stored", size, 5 * cache.SHARD_ON_A_GPU))
    together, turn = torch.empty((size, SIDE, SIDE, 3), dtype=torch.uint8, pin_memory=on_gpu), count_from(0, size)
    put = lambda: len(np.stack(store.batch(size, next(turn)), out=together.numpy()))  # noqa: E731
    parts.run("put_together", lambda: repeated(put, seconds / 2))
    some = min(count, 50 * size)
    parts.run("decoded_without_network", lambda: path(blind, store, size, place / "blind", some))
    parts.run("from_jpeg_files_without_network", lambda: from_files(blind, files, place / "blind-files"))
    if on_gpu:

        def copy() -> int:
            together.to(device, non_blocking=True)
            torch.cuda.synchronize(device)
            return size

        parts.run("copied_to_the_gpu", lambda: repeated(copy, seconds / 2))
        parts.run("network_overlapped", lambda: repeated(alone.overlapped, seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--photos", type=Path, default=None)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=3.0, help="that the network alone is timed for, twice")
    parser.add_argument("--limit", type=float, default=90.0, help="seconds after which what is known is printed")
    parser.add_argument("--pretend", type=float, default=None, help="pictures per second of a network that only waits")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Parts(told.limit, told.json, Path(name)) as parts:
        place, squares = Path(name), list[Pixels]()
        parts.facts |= {"cores": cores(), "cores_of_the_machine": os.cpu_count(), "pictures": told.pictures}
        files = written(place / "files", photos(told.photos, told.files), told.files)
        parts.facts |= {
            "files": len(files),
            "bytes_of_a_file": sum(file.stat().st_size for file, _ in files) / len(files),
        }
        single = Workers(count=1)
        parts.run("decode_with_one_process", lambda: decode(single, files, told.seconds / 2, squares))
        single.close()
        parts.run("decode_with_all_processes", lambda: decode(shared(), files, told.seconds, squares))
        grey = [np.full((SIDE, SIDE, 3), 128, dtype=np.uint8)] * 64  # where nothing could be decoded
        store = Store(place, squares or grey, told.pictures)
        parts.facts |= {"pictures_in_the_file": store.rows}
        if told.pretend:
            pretended(parts, place, files, store, told.pretend)
        else:
            measure(parts, place, files, store, pick_device(told.device), told.seconds)


if __name__ == "__main__":
    main()
