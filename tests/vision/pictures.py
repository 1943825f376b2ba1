"""Small picture files with something to see in them."""

from pathlib import Path

import numpy as np
from PIL import Image


def write_pictures(folder: Path, sizes: list[tuple[int, int]], seed: int = 0) -> list[Path]:
    """PNG files of these heights and widths: smooth colours, so that resizing keeps them nearly as they are."""
    draw = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (height, width) in enumerate(sizes):
        coarse = Image.fromarray(draw.integers(0, 256, (4, 5, 3), dtype=np.uint8))
        paths.append(folder / f"{number}.png")
        coarse.resize((width, height), Image.Resampling.BICUBIC).save(paths[-1])
    return paths
