"""Train on pictures and captions of your own, and see how well they find each other.

Draws 96 little pictures and writes a table of captions in two languages, as you would have one; then three lines of
groundling. Half a minute on one core. The same from the command line: docs/tutorials/own-data.md.
"""

import csv
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

import groundling

COLOURS = {"red": "rot", "green": "grün", "blue": "blau", "yellow": "gelb", "black": "schwarz", "white": "weiß"}
SHAPES = {"square": "Quadrat", "circle": "Kreis", "triangle": "Dreieck", "bar": "Balken"}
POINTS = {"triangle": [(32, 6), (6, 54), (58, 54)], "bar": [(6, 24), (58, 24), (58, 40), (6, 40)]}


def draw(shape: str, colour: str, moved: int) -> Image.Image:
    picture = Image.new("RGB", (64, 64), "grey")
    pencil = ImageDraw.Draw(picture)
    if shape in POINTS:
        pencil.polygon([(x + moved, y) for x, y in POINTS[shape]], fill=colour)
    else:
        (pencil.ellipse if shape == "circle" else pencil.rectangle)((10 + moved, 10, 50 + moved, 50), fill=colour)
    return picture


def main(folder: Path) -> None:
    table = folder / "captions.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["picture", "language", "text", "split"])
        for moved, split in ((-4, "train"), (4, "train"), (2, "dev"), (0, "test")):
            for colour, farbe in COLOURS.items():
                for shape, form in SHAPES.items():
                    name = f"{colour}-{shape}-{split}{moved}.png"
                    draw(shape, colour, moved).save(folder / name)
                    rows.writerow([name, "en", f"a {colour} {shape}", split])
                    rows.writerow([name, "de", f"{form}, {farbe}", split])

    print(groundling.Corpus.load(table))
    settings = {"training": {"maximum_steps": 100, "validate_every": 50, "batch_size": 32, "learning_rate": 0.01}}
    run = groundling.train(corpus=table, system="bag", out=folder / "run", features={"size": 64}, **settings)
    result = groundling.evaluate(run)

    for language in result.languages:
        first = result.value(language, "text_to_image.R@1")
        print(f"{language}: the right picture of {result.pictures} comes first for {first:.0f} % of captions")
    print(f"Report: {run.folder / 'report.html'}")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="groundling-")))
