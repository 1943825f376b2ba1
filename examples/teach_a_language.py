"""Teach a trained model another language from pairs of sentences, without a picture.

Trains a small English model on drawings, then teaches it German: 90 pairs of sentences, no German caption. The test
captions are in both languages. Half a minute on one core. From the command line: docs/tutorials/teach.md.
"""

import itertools
import json
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

import groundling

COLOURS = {"red": "rot", "green": "grün", "blue": "blau", "yellow": "gelb", "black": "schwarz", "white": "weiß"}
THINGS = {"ball": "Ball", "box": "Kiste", "bar": "Balken"}
BOXES = {"ball": (8, 8, 48, 48), "box": (12, 12, 52, 52), "bar": (4, 26, 60, 40)}
PHRASES = {"a {}": "{}", "here, a {}": "hier: {}", "I see a {}": "ich sehe {}", "one {}": "ein {}", "oh, {}": "ah, {}"}


def captions(folder: Path) -> Path:
    """Drawings and a table of their captions: English everywhere, German for the test alone."""
    lines = ["picture\tlanguage\ttext\tsplit"]
    for (colour, farbe), (thing, ding) in itertools.product(COLOURS.items(), THINGS.items()):
        for moved, split in enumerate(("train", "train", "dev", "test")):
            picture = Image.new("RGB", (64, 64), "grey")
            pencil, box = ImageDraw.Draw(picture), tuple(side + moved for side in BOXES[thing])
            (pencil.ellipse if thing == "ball" else pencil.rectangle)(box, fill=colour)
            name = f"{colour}-{thing}-{moved}.png"
            picture.save(folder / name)
            lines.append(f"{name}\ten\ta {colour} {thing}\t{split}")
            if split == "test":
                lines.append(f"{name}\tde\t{ding}, {farbe}\ttest")
    table = folder / "captions.tsv"
    table.write_text("\n".join(lines), encoding="utf-8")
    return table


def main(folder: Path) -> None:
    training = {"maximum_steps": 100, "validate_every": 50, "batch_size": 32, "learning_rate": 0.01}
    english = {"name": str(captions(folder)), "languages": ["en"]}
    run = groundling.train(corpus=english, system="bag", out=folder / "en", features={"size": 64}, training=training)

    pairs = [
        (known.format(f"{colour} {thing}"), new.format(f"{ding}, {farbe}"))
        for known, new in PHRASES.items()
        for (colour, farbe), (thing, ding) in itertools.product(COLOURS.items(), THINGS.items())
    ]
    taught = groundling.teach(run, "de", pairs, folder / "en+de", steps=100)

    told = json.loads((taught.folder / "taught.json").read_text(encoding="utf-8"))
    for when in ("before", "after"):
        print(f"German {when}: text→image R@1 {told[when]['test']['text_to_image']['R@1']:.0f} %, of 18 pictures")
    print(f"English as before, bit for bit: {told['old_languages_unchanged']}")


if __name__ == "__main__":
    main(Path(tempfile.mkdtemp(prefix="groundling-")))
