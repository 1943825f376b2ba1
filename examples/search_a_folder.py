"""Search a folder of pictures with words.

Trains a small model on drawings (use your own run, or `clip-multilingual`, for photos), indexes a folder of other
drawings, and asks in two languages. Half a minute on one core. From the command line: docs/tutorials/search.md.
"""

import itertools
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

import groundling

COLOURS = {"red": "rot", "green": "grün", "blue": "blau", "yellow": "gelb", "black": "schwarz", "white": "weiß"}
THINGS = {"ball": "Ball", "box": "Kiste"}


def draw(folder: Path, colour: str, thing: str, size: int) -> str:
    picture = Image.new("RGB", (64, 64), "grey")
    pencil = ImageDraw.Draw(picture)
    (pencil.ellipse if thing == "ball" else pencil.rectangle)((8, 8, 8 + size, 8 + size), fill=colour)
    name = f"{colour}-{thing}-{size}.png"
    picture.save(folder / name)
    return name


def train(folder: Path) -> groundling.Run:
    rows = []
    for (colour, farbe), (thing, ding), size in itertools.product(COLOURS.items(), THINGS.items(), (36, 40, 44)):
        about = {"picture": draw(folder, colour, thing, size), "split": "dev" if size == 40 else "train"}
        rows.append({**about, "language": "en", "text": f"a {colour} {thing}"})
        rows.append({**about, "language": "de", "text": f"{ding}, {farbe}"})
    training = {"maximum_steps": 100, "validate_every": 50, "batch_size": 24, "learning_rate": 0.01}
    corpus = groundling.Corpus.of(rows, folder)
    return groundling.train(corpus=corpus, system="bag", out=folder / "run", features={"size": 64}, training=training)


def main(folder: Path) -> None:
    run = train(folder)
    photos = folder / "photos"
    photos.mkdir()
    for colour, thing in itertools.product(COLOURS, THINGS):
        draw(photos, colour, thing, 48)

    index = groundling.Index.build(photos, folder / "photos.index", model=run)
    print(index)
    for query in ("a yellow ball", "Kiste, blau"):
        for found in index.search(query, k=3):
            print(f"{query}: {found.score:.2f} {found.path}")
    print(f"Like red-ball-48.png: {[found.path for found in index.like(photos / 'red-ball-48.png', k=3)]}")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="groundling-")))
