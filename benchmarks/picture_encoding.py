"""Pictures encoded per second by the path of `groundling features`, against its network alone, in one run.

The network alone has its batches on the device, as numbers that it can begin with, and keeps what comes out there. The
path behind `features`, once pictures are decoded, takes them as 8-bit squares out of a memory-mapped file: they are put
together, copied to the device, normalised, encoded, fetched, checked, and written to the cache of features. Both have
the same batches and the same precision. A second line begins with JPEG files: read, decoded in processes, and the rest.

    python benchmarks/picture_encoding.py [--pictures 118287] [--files 20000] [--photos FOLDER] [--device cuda] [--json]
    python benchmarks/picture_encoding.py --pretend 16000 --pictures 40000    # without a GPU

FOLDER holds part*.npy (the bytes of JPEG files, one after another) and len*.npy (how many each has). Where fewer photos
are in it than pictures are asked for, each is there many times; without it 64 pictures are drawn. Every file has a few
bytes of its own behind its end, for the cache would not encode the same one twice. The weights of the network
(EfficientNet-Lite0, 224 pixels) are random where those of ImageNet are not installed; the speed is the same.

With --pretend there is no network: for so many pictures a second it only waits, one batch at a time, as if a GPU were
at work, and what is measured is how much of that time everything around it leaves to it.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from groundling.decoding.workers import shared
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.vision import backbones, cache
from groundling.vision.backbones import Backbone
from groundling.vision.cache import encode_pixels, encoded, extract
from groundling.vision.decoding import ahead
from groundling.vision.efficientnet_lite import HEAD, EfficientNetLite
from groundling.vision.preprocessing import Pixels, Preprocessing

SIDE = 224
CUT = Preprocessing(SIDE)
FILLING = 5.0  # seconds that copies of the photos may take on the way to the file; what is missing is read again


def network(device: torch.device) -> Backbone:
    try:
        return backbones.get("efficientnet-lite0", SIDE).to(device)
    except UserError:
        torch.manual_seed(0)
        made = EfficientNetLite(1.0, 1.0).eval().requires_grad_(False)
        made.fuse()
        return Backbone("efficientnet-lite0", HEAD, SIDE, made).to(device)


def photos(folder: Path | None) -> list[bytes]:
    if folder is None:
        from picture_costs import WEB, drawn

        return [drawn(WEB, number) for number in range(64)]
    found = []
    for lengths in sorted(folder.glob("len*.npy")):
        ends = np.cumsum(np.load(lengths).astype(np.int64))
        whole = np.load(lengths.with_name(lengths.name.replace("len", "part")), mmap_mode="r")
        found += [
            whole[start:end].tobytes() for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        ]
    return found


class Store:
    """Decoded pictures, as many as are asked for, in a memory-mapped file; where that takes too long, fewer in the
    file, which is then read several times."""

    def __init__(self, folder: Path, files: list[bytes], count: int) -> None:
        squares = np.stack([array for array in shared().arrays(files[:count], CUT) if isinstance(array, np.ndarray)])
        self.photos, self.count, self.rows = len(squares), count, 0
        started = time.perf_counter()
        with (folder / "pictures.raw").open("wb") as file:
            while self.rows < count and (not self.rows or time.perf_counter() - started < FILLING):
                part = squares[: count - self.rows]
                file.write(part.data)
                self.rows += len(part)
            file.flush()
            os.fsync(file.fileno())  # else this file is still on its way to the disk while features are written there
        self.seconds = time.perf_counter() - started
        mapped = np.memmap(folder / "pictures.raw", dtype=np.uint8, mode="r", shape=(self.rows, SIDE, SIDE, 3))
        self.pixels = mapped.view(np.ndarray)  # whose rows are taken faster

    def __iter__(self) -> Iterator[tuple[bytes, Pixels]]:
        for row in range(self.count):
            yield row.to_bytes(32, "little"), self.pixels[row % self.rows]


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


@torch.inference_mode()
def alone(backbone: Backbone, store: Store, size: int, seconds: float, prepare: Any = None) -> float:
    """Pictures per second of the network, in batches of `size` that are there."""
    device = backbone.device
    mean, std = (torch.tensor(values, device=device)[:, None, None] for values in (backbone.mean, backbone.std))
    resident = []
    for start in range(0, min(8 * size, store.rows), size):
        part = torch.from_numpy(store.pixels[start : start + size].copy()).to(device).permute(0, 3, 1, 2)
        ready = ((part.float() / 255 - mean) / std).contiguous(memory_format=torch.channels_last)
        resident += [ready if prepare is None else prepare(ready)] if len(ready) == size else []
    look: nn.Module = backbone.network  # type: ignore[assignment]
    kept: list[Tensor] = [look(ready) for ready in resident[:2]]  # libraries are loaded and have chosen
    wait(device)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        kept = [look(ready) for ready in resident]
        wait(device)
        done += size * len(kept)
    return done / (time.perf_counter() - started)


def path(backbone: Backbone, store: Store, size: int, folder: Path, count: int) -> float:
    """Pictures per second of what `features` does with decoded pictures."""
    started, dim = time.perf_counter(), backbone.dim
    vectors = np.zeros((count, dim), dtype=np.float32)
    rows = {row.to_bytes(32, "little"): [row] for row in range(count)}
    for keys, features in encoded(
        islice(store, count),
        lambda pixels: encode_pixels(backbone, pixels, CUT),
        size,
        folder,
        backbone.device.type == "cuda",
    ):
        for key, feature in zip(keys, features, strict=True):
            vectors[rows[key]] = feature
    assert np.isfinite(vectors).all() and vectors.any(axis=1).all()
    return count / (time.perf_counter() - started)


def from_files(backbone: Backbone, files: list[bytes], folder: Path, count: int) -> float:
    """Pictures per second from JPEG files, with nothing in the cache; decoding processes are warm."""
    (folder / "jpeg").mkdir()
    paths = []
    for number in range(count):
        paths.append(folder / "jpeg" / f"{number:07}.jpg")
        paths[-1].write_bytes(files[number % len(files)] + number.to_bytes(8, "little"))
    started = time.perf_counter()
    found = extract(paths, backbone, CUT, folder=folder / "from-files")
    assert not found.failed
    return count / (time.perf_counter() - started)


def pretended(count: int, folder: Path | None, rate: float) -> dict[str, Any]:
    """The share of the time that a network of this speed, which computes nothing, is at work."""
    size, one, worked = 334, threading.Lock(), [0.0]
    features, own = np.ones((size, HEAD), np.float32), threading.local()

    def encode(pixels: list[Pixels]) -> npt.NDArray[np.float32]:
        if not hasattr(own, "batch"):
            own.batch = np.empty((size, SIDE, SIDE, 3), np.uint8)
        np.stack(pixels, out=own.batch[: len(pixels)])
        with one:
            started = time.perf_counter()
            time.sleep(len(pixels) / rate)
            worked[0] += time.perf_counter() - started
        return features[: len(pixels)].copy()

    def in_threads(function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterator[Any]:
        with ThreadPoolExecutor(cache.LANES) as pool:
            yield from ahead(pool, function, batches, limit=cache.LANES + 1)

    with tempfile.TemporaryDirectory() as place, patch.object(cache, "_in_lanes", in_threads):
        store = Store(Path(place), photos(folder), min(count, 4000))  # few, so that their file stays in memory
        store.count = count
        started = time.perf_counter()
        done = sum(len(keys) for keys, _ in encoded(store, encode, size, Path(place) / "features", on_gpu=True))
        seconds = time.perf_counter() - started
    return {"cores": os.cpu_count(), "pretended": rate, "decoded": done / seconds, "at_work": worked[0] / seconds}


def measure(count: int, jpegs: int, folder: Path | None, device: torch.device, seconds: float) -> dict[str, Any]:
    backbone, files = network(device), photos(folder)
    size = backbone.at_once if device.type == "cuda" else 64
    with tempfile.TemporaryDirectory() as place:
        store = Store(Path(place), files, count)
        result: dict[str, Any] = {
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
            "cores": os.cpu_count(),
            "network": backbone.name,
            "batch": size,
            "pictures": count,
            "photos": store.photos,
            "pictures_in_the_file": store.rows,
            "bytes_in_the_file": store.pixels.nbytes,
            "seconds_to_fill_it": round(store.seconds, 1),
        }

        def told(name: str, value: float) -> None:
            """At once, for a machine that is lent may be taken back before the end."""
            result[name] = value
            print(f"{name}: {value:.2f}", file=sys.stderr, flush=True)

        path(backbone, store, size, Path(place) / "warm", min(count, 4 * size))
        told("network_alone", alone(backbone, store, size, seconds))
        told("decoded", path(backbone, store, size, Path(place) / "features", count))
        told("network_alone_again", alone(backbone, store, size, seconds))
        told("ratio", 2 * result["decoded"] / (result["network_alone"] + result["network_alone_again"]))
        if jpegs:
            result["jpeg_files"] = jpegs
            told("from_jpeg_files", from_files(backbone, files, Path(place), jpegs))
        if device.type == "cuda":  # where the time goes; the last one changes the network
            blind = replace(backbone, network=lambda x: x.new_ones(len(x), HEAD))
            some = min(count, 50 * size)
            told("decoded_without_network", path(blind, store, size, Path(place) / "blind", some))
            told("network_alone_nchw", alone(backbone, store, size, 1.0, Tensor.contiguous))
            backbone.network.bfloat16()  # type: ignore[attr-defined]
            told("network_alone_bf16", alone(backbone, store, size, 1.0, Tensor.bfloat16))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--photos", type=Path, default=None)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seconds", type=float, default=3.0, help="that the network alone is timed for, twice")
    parser.add_argument("--pretend", type=float, default=None, help="pictures per second of a network that only waits")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    if told.pretend:
        found = pretended(told.pictures, told.photos, told.pretend)
        if told.json:
            return print(json.dumps(found))
        rates = f"{found['decoded']:.0f} pictures/s of {told.pretend:.0f}"
        return print(f"{rates}; the network is at work {found['at_work']:.2f} of the time")
    result = measure(told.pictures, told.files, told.photos, pick_device(told.device), told.seconds)
    if told.json:
        return print(json.dumps(result))
    print(f"network alone       {result['network_alone']:10.0f} pictures/s ({result['network_alone_again']:.0f} after)")
    print(f"decoded pictures    {result['decoded']:10.0f} pictures/s, {result['ratio']:.2f} of the network")
    if "from_jpeg_files" in result:
        print(f"JPEG files          {result['from_jpeg_files']:10.0f} pictures/s")


if __name__ == "__main__":
    main()
