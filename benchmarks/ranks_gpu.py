"""Exact ranks on a GPU against the float32 and the TF32 product of the same size in the same run, and their memory.

    python benchmarks/ranks_gpu.py --json ranks_gpu.json

Three sizes of random unit vectors; the largest of them also collapsed (all scores agree to five digits) and copied
(a hundred vectors, over and over); a million by a million; and ranks by the fused kernels compared with those that are
counted tile by tile, where these differ most easily: scores that agree to five digits, in both directions.
`--shrink N` divides all numbers of vectors by N, to try it out.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from groundling.evaluation.ranks import ranks

SIZES = {"small": (5_000, 25_000, 1_024), "middle": (50_000, 250_000, 512), "large": (200_000, 400_000, 512)}
MILLION = (1_000_000, 1_000_000, 512)
REPEAT = 3
BUFFER = 2**33  # bytes of scores that a product writes over and over


def unit(rows: int, dimensions: int, seed: int, device: torch.device) -> Tensor:
    generator = torch.Generator(device).manual_seed(seed)
    vectors = torch.empty(rows, dimensions, device=device)
    for part in vectors.split(2**16):
        part.normal_(generator=generator)
        part /= part.norm(dim=1, keepdim=True)
    return vectors


def seconds(work: Callable[[], object], device: torch.device) -> float:
    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    wait()
    start = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - start


def product_seconds(pictures: Tensor, captions: Tensor, tf32: bool) -> float:
    """All scores, strip after strip into memory that is already there."""
    height = max(1, min(len(pictures), BUFFER // (4 * len(captions))))
    scores = torch.empty(height, len(captions), device=pictures.device)

    def multiply() -> None:
        for part in pictures.split(height):
            torch.mm(part, captions.T, out=scores[: len(part)])

    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.mm(pictures[:128], captions[:4096].T)
    found = statistics.median(seconds(multiply, pictures.device) for _ in range(REPEAT))
    torch.backends.cuda.matmul.allow_tf32 = False
    return found


def ranked(pictures: Tensor, captions: Tensor, repeat: int = REPEAT) -> dict[str, float]:
    """Seconds of the first time, in which kernels may be compiled, the median of the others, and the peak of memory."""
    owners = torch.arange(len(captions)) * len(pictures) // len(captions)
    device, found = pictures.device, {}
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
    found["first_seconds"] = seconds(lambda: ranks(pictures, captions, owners), device)
    if device.type == "cuda":
        found["extra_megabytes"] = (torch.cuda.max_memory_allocated() - held) / 2**20
    if repeat > 1:
        times = [seconds(lambda: ranks(pictures, captions, owners), device) for _ in range(repeat - 1)]
        found["ranks_seconds"] = statistics.median(times)
    return found


def collapsed(pictures: Tensor, captions: Tensor) -> tuple[Tensor, Tensor]:
    return pictures[:1] + 1e-5 * pictures, captions[:1] + 1e-5 * captions


def collapsed_one_way(pictures: Tensor, captions: Tensor) -> tuple[Tensor, Tensor]:
    return pictures[:1] + 3e-6 * pictures, pictures[:1] + 3e-6 * captions


def copied(pictures: Tensor, captions: Tensor) -> tuple[Tensor, Tensor]:
    return pictures[:100].repeat(len(pictures) // 100, 1), captions[:100].repeat(len(captions) // 100, 1)


def differing(pictures: Tensor, captions: Tensor) -> int:
    """How many ranks are not the same when they are counted tile by tile."""
    owners = torch.arange(len(captions)) * len(pictures) // len(captions)
    one, other = ranks(pictures, captions, owners), ranks(pictures, captions, owners, tile=(4096, 4096))
    both = ((one.text_to_image, other.text_to_image), (one.image_to_text, other.image_to_text))
    return sum(int((some != others).sum()) for some, others in both)


def measure(shrink: int, device: torch.device, tell: Callable[[str, dict[str, float]], None]) -> None:
    for name, (rows, columns, dimensions) in SIZES.items():
        pictures = unit(max(100, rows // shrink // 100 * 100), dimensions, 1, device)
        captions = unit(max(100, columns // shrink // 100 * 100), dimensions, 2, device)
        found = ranked(pictures, captions)
        found["float32_seconds"] = product_seconds(pictures, captions, False)
        found["tf32_seconds"] = product_seconds(pictures, captions, True)
        found["products"] = found["ranks_seconds"] / found["float32_seconds"]
        tell(name, found)
        if name == "middle":
            tell("other ranks than by tiles", {"ranks": differing(pictures, captions)})
            tell("other ranks than by tiles, collapsed", {"ranks": differing(*collapsed_one_way(pictures, captions))})
        if name == "large":
            tell("collapsed", ranked(*collapsed(pictures, captions), repeat=2))
            tell("copied", ranked(*copied(pictures, captions), repeat=2))
        del pictures, captions
    sides = [unit(rows // shrink, MILLION[2], seed, device) for seed, rows in enumerate(MILLION[:2], 1)]
    tell("million", ranked(*sides, repeat=1))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of exact ranks on a GPU.")
    parser.add_argument("--json", type=Path, help="a file for the figures, written after each part")
    parser.add_argument("--shrink", type=int, default=1, help="divide all numbers of vectors by this")
    parser.add_argument("--device", type=torch.device, default="cuda")
    options = parser.parse_args()
    results: dict[str, dict[str, float] | str] = {"torch": torch.__version__}
    if options.device.type == "cuda":
        results["gpu"] = torch.cuda.get_device_name()

    def tell(name: str, found: dict[str, float]) -> None:
        results[name] = found
        print(name, ", ".join(f"{key} {value:.4g}" for key, value in found.items()), flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")

    measure(options.shrink, options.device, tell)


if __name__ == "__main__":
    main()
