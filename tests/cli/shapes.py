"""Small drawings with captions in two languages: data of one's own."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

COLOURS = {
    "red": ("rot", (220, 30, 30)),
    "green": ("grün", (30, 180, 60)),
    "blue": ("blau", (40, 60, 220)),
    "yellow": ("gelb", (240, 220, 40)),
    "black": ("schwarz", (15, 15, 15)),
    "white": ("weiß", (245, 245, 245)),
}
SHAPES = {"square": "Quadrat", "circle": "Kreis"}
SPLIT_OF_COPY = ["train", "train", "dev", "test"]


def draw_shapes(folder: Path) -> list[list[str]]:
    """Four PNGs of each colour and shape, a little different; rows of a captions table in two languages."""
    draw = np.random.default_rng(0)
    (folder / "png").mkdir(parents=True)
    rows = []
    for copy, split in enumerate(SPLIT_OF_COPY):
        for colour, (farbe, rgb) in COLOURS.items():
            for shape, form in SHAPES.items():
                name = f"png/{colour}-{shape}-{copy}.png"
                picture = Image.new("RGB", (64, 64), (128, 128, 128))
                left, top, size = draw.integers(4, 14), draw.integers(4, 14), draw.integers(36, 46)
                box = [int(left), int(top), int(left + size), int(top + size)]
                pencil = ImageDraw.Draw(picture)
                (pencil.rectangle if shape == "square" else pencil.ellipse)(box, fill=rgb)
                picture.save(folder / name)
                rows.append([name, "en", f"a {colour} {shape}", split])
                rows.append([name, "de", f"{form}, {farbe}", split])
    return rows


def write_table(folder: Path, rows: list[list[str]]) -> None:
    with (folder / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["picture", "language", "text", "split"], *rows])
