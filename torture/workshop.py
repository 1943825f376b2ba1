"""What is attacked: a folder of drawings, the corpus, run, index and export made of it, each by its command."""

import csv
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

import groundling

COLOURS = {"red": "rot", "green": "grün", "blue": "blau", "yellow": "gelb", "black": "schwarz", "white": "weiß"}
SHAPES = {"square": "Quadrat", "circle": "Kreis"}
SPLITS = ("train", "train", "dev", "test")
SETTINGS = {
    "features.size": 32,
    "text.minimum_count": 1,
    "training.batch_size": 16,
    "training.maximum_steps": 60,
    "training.validate_every": 20,
    "system.buckets": 500,
}
RECIPE = """\
name: torture
corpus: {name: corpus, languages: [en, de]}
features: {size: 32}
text: {minimum_count: 1}
system: {name: bag, buckets: 500}
training:
  batch_size: 16
  maximum_steps: 60
  validate_every: 20
"""
SOURCE = Path(groundling.__file__).parent.parent


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    def sentence(self) -> str | None:
        """Why this is not how a command fails: exit code 2, one sentence, no traceback; None if it is."""
        if self.code != 2:
            return f"exit code {self.code}: {self.err.strip()[-300:]}"
        lines = [line for line in self.err.splitlines() if line.startswith("groundling: ")]
        if len(lines) != 1 or "Traceback" in self.err:
            return f"not one sentence: {self.err.strip()[-300:]}"
        return None


@dataclass(frozen=True)
class Workshop:
    """Everything lies below `folder`; commands run there, with a cache of their own."""

    folder: Path

    @cached_property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(SOURCE),
            "GROUNDLING_CACHE": str(self.folder / "cache"),
            "OMP_NUM_THREADS": "1",
            "NO_COLOR": "1",
        }

    def command(self, *arguments: object) -> list[str]:
        return [sys.executable, "-m", "groundling", "--quiet", *map(str, arguments)]

    def start(self, *arguments: object, **options: Any) -> "subprocess.Popen[str]":
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.environment, **{**pipes, **options})

    def call(self, *arguments: object, **options: Any) -> Said:
        process = self.start(*arguments, **options)
        out, err = process.communicate(timeout=300)
        return Said(process.returncode, out or "", err or "")

    def made(self, *arguments: object) -> None:
        said = self.call(*arguments)
        if said.code != 0:
            raise RuntimeError(f"{' '.join(map(str, arguments))}: {said.err}")

    def build(self, export: bool = True) -> None:
        """Drawings, captions in two languages, and all that is made of them."""
        draw(self.folder / "shapes")
        (self.folder / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
        self.made("corpus", "build", "shapes", "--out", "corpus")
        self.made(*self.training("run"))
        self.made("evaluate", "run")
        self.made("index", "shapes", "--model", "run", "--out", "index")
        if export:
            self.made("export", "run", "--onnx", "onnx")

    def training(self, out: str, *more: object) -> list[object]:
        chosen = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
        return ["train", "--corpus", "corpus", "--system", "bag", *chosen, *more, "--out", out]


def draw(folder: Path) -> None:
    """48 PNGs with captions.csv, and captions.jsonl beside the folder."""
    chance = np.random.default_rng(0)
    (folder / "png").mkdir(parents=True)
    rows = []
    for copy, split in enumerate(SPLITS):
        for colour, farbe in COLOURS.items():
            for shape, form in SHAPES.items():
                name = f"png/{colour}-{shape}-{copy}.png"
                picture = Image.new("RGB", (64, 64), "grey")
                left, top, side = (int(number) for number in chance.integers([4, 4, 36], [14, 14, 46]))
                pencil = ImageDraw.Draw(picture)
                box = [left, top, left + side, top + side]
                (pencil.rectangle if shape == "square" else pencil.ellipse)(box, fill=colour)
                picture.save(folder / name)
                rows += [[name, "en", f"a {colour} {shape}", split], [name, "de", f"{form}, {farbe}", split]]
    header = ["picture", "language", "text", "split"]
    with (folder / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    lines = [json.dumps(dict(zip(header, row, strict=True)), ensure_ascii=False) for row in rows]
    (folder.parent / "captions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
