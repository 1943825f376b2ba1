"""What one picture costs: seconds of one core to decode it and to encode it, and bytes of memory while it is indexed.

    python benchmarks/picture_costs.py [--pictures 48] [--json]

Seconds are those that the process itself was given by the system (not those of the clock), so that other programs on
the machine change them little. Pictures are drawn: shades with grain, JPEG of quality 90, at 640 × 480 (the web) and
4000 × 3000 pixels (a camera). The network is EfficientNet-Lite0 at 224 pixels, on one thread.
`groundling plan` computes with what this prints.
"""

import argparse
import io
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import torch
from PIL import Image

from groundling.model import Model
from groundling.search.build import Build
from groundling.search.entries import Entry
from groundling.search.journal import Journal
from groundling.search.manifest import ModelFacts, StoreFacts
from groundling.search.previous import Previous
from groundling.search.recall import Aim
from groundling.vision import backbones
from groundling.vision.preprocessing import Preprocessing

WEB, CAMERA = (640, 480), (4000, 3000)
AT_ONCE = 4  # pictures of one pass; at 224 pixels as many as the network is given on a CPU
ROWS, DIMENSIONS = 200_000, 8  # of the index that is built


def drawn(size: tuple[int, int], seed: int) -> bytes:
    """A JPEG that has the large shades and the fine grain of a photograph."""
    random = np.random.default_rng(seed)
    shades = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize(
        size, Image.Resampling.BICUBIC
    )
    grain = random.normal(0, 8, (size[1], size[0], 1)).astype(np.float32)
    pixels = np.clip(np.asarray(shades, dtype=np.float32) + grain, 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return file.getvalue()


def core_seconds(work: Callable[[], object], times: int) -> float:
    """The median of what a call takes of one core."""
    work()
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def row_bytes() -> float:
    """Memory that a picture takes while an index on disk is built: its vector waits in the journal."""
    few = ROWS // 10
    build_index(few)  # libraries are loaded then, too
    before = peak_bytes()
    build_index(ROWS)
    return (peak_bytes() - before) / (ROWS - few)


def build_index(count: int) -> None:
    facts = ModelFacts(kind="run", name="m", backbone="b", fingerprint="f", dimensions=DIMENSIONS, languages=[])
    draw = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name, Journal(Path(name) / "journal.bin", {}, DIMENSIONS) as journal:
        build = Build(Path(name), "pictures", cast(Model, None), facts, journal, Previous())  # all is encoded
        for number in range(count):
            path = f"{number % 1000:04}/{number:09}.jpg"
            taken = f"2019-07-31T{number:08}"
            entry = Entry(path, f"{number:064x}", size=number, modified=10**18 + number, taken=taken)
            build.add(path, entry, draw.random(DIMENSIONS, dtype=np.float32), encoded=True)
        build.finish(None, StoreFacts(name="faiss-disk"), "exact", Aim())


def measure(pictures: int) -> dict[str, float]:
    torch.set_num_threads(1)
    rows = row_bytes()
    cut = Preprocessing(224)
    network = backbones.get("efficientnet-lite0")
    web, camera = [drawn(WEB, seed) for seed in range(8)], [drawn(CAMERA, seed) for seed in range(2)]
    squares = torch.from_numpy(np.stack([cut.pixels(data) for data in web[:AT_ONCE]])).permute(0, 3, 1, 2)
    each = pictures // 8
    return {
        "decode_web_core_ms": 1000 * core_seconds(lambda: [cut.pixels(data) for data in web], each) / len(web),
        "decode_camera_core_ms": 1000 * core_seconds(lambda: [cut.pixels(data) for data in camera], each) / len(camera),
        "encode_core_ms": 1000 * core_seconds(lambda: network.encode(squares), pictures // AT_ONCE) / AT_ONCE,
        "index_row_bytes": rows,
        "web_file_bytes": statistics.mean(len(data) for data in web),
        "camera_file_bytes": statistics.mean(len(data) for data in camera),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds of a core, and bytes, that a picture costs.")
    parser.add_argument("--pictures", type=int, default=48)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(max(8, options.pictures))
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(
        f"decode, 640 × 480: {found['decode_web_core_ms']:.1f} ms of a core ({found['web_file_bytes'] / 1000:.0f} kB)"
    )
    print(
        f"decode, 4000 × 3000: {found['decode_camera_core_ms']:.1f} ms of a core "
        f"({found['camera_file_bytes'] / 1000:.0f} kB)"
    )
    print(f"EfficientNet-Lite0 at 224 pixels: {found['encode_core_ms']:.1f} ms of a core")
    print(f"a picture of an index on disk while that is built: {found['index_row_bytes']:.0f} bytes")


if __name__ == "__main__":
    main()
