"""Find the captions that are not true of their pictures.

Trains a small judge on drawings with true and false statements, then asks it about drawings that it has not seen.
Half a minute on one core. From the command line: docs/tutorials/check.md.
"""

import itertools
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

import groundling
from groundling.checking.checker import Checker

COLOURS = ("red", "green", "blue", "yellow", "black", "white")
THINGS = ("ball", "box")


def draw(folder: Path, colour: str, thing: str, size: int) -> str:
    picture = Image.new("RGB", (64, 64), "grey")
    pencil = ImageDraw.Draw(picture)
    (pencil.ellipse if thing == "ball" else pencil.rectangle)((8, 8, 8 + size, 8 + size), fill=colour)
    name = f"{colour}-{thing}-{size}.png"
    picture.save(folder / name)
    return name


def statements(folder: Path) -> list[dict[str, str]]:
    """Of each drawing: its colour and every other one, its thing and the other one, and what cannot be seen."""
    rows = []
    for size, split in ((34, "train"), (38, "train"), (42, "train"), (46, "train"), (40, "dev"), (44, "test")):
        for colour, thing in itertools.product(COLOURS, THINGS):
            about = {"picture": draw(folder, colour, thing, size), "split": split, "language": "en"}
            said = {f"It is {other}.": "entailment" if other == colour else "contradiction" for other in COLOURS}
            said |= {f"It is a {other}.": "entailment" if other == thing else "contradiction" for other in THINGS}
            said |= {f"It is {word}.": "neutral" for word in ("heavy", "cheap", "old")}
            rows += [{**about, "text": text, "label": label} for text, label in said.items()]
    return rows


def main(folder: Path) -> None:
    corpus = groundling.Corpus.of(statements(folder), folder, name="drawings")
    system = {"name": "clip_ve", "dimensions": 64, "word_dimensions": 32}
    training = {"maximum_steps": 600, "validate_every": 100, "batch_size": 64, "length_pool": 1, "learning_rate": 3e-3}
    settings = {"features": {"size": 64}, "text": {"minimum_count": 1}, "training": training}
    run = groundling.train(corpus=corpus, system=system, out=folder / "judge", **settings)
    print(f"Right on {groundling.evaluate(run).value('en', 'accuracy'):.0f} % of the test statements")

    checker = Checker.load(run)
    captions = {"red-ball-44.png": "It is a ball.", "red-box-44.png": "It is blue.", "blue-box-44.png": "It is old."}
    for picture, text in captions.items():
        found = checker.check(folder / picture, text)
        print(f"{picture}: {text} {found.label}, {found.probabilities[found.label]:.0%} sure")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="groundling-")))
