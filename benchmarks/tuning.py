"""Steps per second of a training that changes its picture network, against a plain loop, in the same run.

Plain: a DataLoader whose workers decode, cut and mirror pictures with Pillow, the network layer by layer, an eager
step, default AdamW. Ours: pictures decoded once, on the device where they fit, parts cut out there, normalisation
folded into the convolutions, and on a GPU a compiled network and recorded steps. Both train `polyglot` with the same
network, the same captions and the same loss, channels innermost in memory, in bf16 where the device has it.

    python benchmarks/tuning.py [--steps 60] [--batch 256] [--backbone efficientnet-lite2] [--size 260] [--workers 16]
                                [--device cpu] [--data DIR | --photos FOLDER] [--json]

With --data (the folder that holds f8k7/ and flickr8k/images/) photos and captions are F8K-7's. With --photos the
pictures are the JPEG files of a folder, with captions of random words. Without either 1,000 pictures of noise are
drawn, 400 × 300 pixels, as JPEG files.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast
from unittest.mock import patch

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from groundling.batches import DeviceBatch
from groundling.corpus import Corpus
from groundling.dataset import Dataset as GroundlingDataset
from groundling.dataset import load_corpus
from groundling.devices import autocast, pick_device, pick_precision
from groundling.objectives.mixed_languages import MixedLanguageLoss
from groundling.settings import CorpusSettings, FeatureSettings, Recipe, TextSettings, TrainingSettings
from groundling.systems import Plan
from groundling.training.planned import planned
from groundling.training.step import EagerStep, fastest, make_optimiser
from groundling.vision.backbones import IMAGENET_MEAN, IMAGENET_STD
from groundling.vision.efficientnet_lite import ConvNorm

WARM_UP = 10


def drawn(folder: Path, count: int = 1000) -> Corpus:
    """Pictures of noise."""
    draw = np.random.default_rng(0)
    names = [f"{number}.jpg" for number in range(count)]
    for name in names:
        coarse = Image.fromarray(draw.integers(0, 256, (12, 16, 3), dtype=np.uint8))
        coarse.resize((400, 300), Image.Resampling.BICUBIC).save(folder / name, quality=90)
    return told_of(folder, names)


def told_of(folder: Path, names: list[str]) -> Corpus:
    """Four captions of random words for each picture, in two languages."""
    draw, count = np.random.default_rng(1), len(names)
    texts = [" ".join(f"w{word}" for word in draw.integers(0, 2000, draw.integers(6, 18))) for _ in range(4 * count)]
    codes = np.array(["en", "en", "de", "de"] * count)
    splits, origins = np.full(count, "train"), np.full(4 * count, "human")
    return Corpus("drawn", np.array(names), splits, np.repeat(np.arange(count), 4), codes, texts, origins, folder)


class Files(Dataset[Tensor]):
    """Random parts of picture files, as everybody cuts them first."""

    def __init__(self, corpus: Corpus, size: int) -> None:
        self.paths, self.size = [corpus.path(row) for row in range(len(corpus.pictures))], size

    def __getitem__(self, row: int) -> Tensor:
        draw = np.random.default_rng()
        with Image.open(cast(Path, self.paths[row])) as opened:
            image = opened.convert("RGB")
        area, aspect = draw.uniform(0.2, 1) * image.width * image.height, np.exp(draw.uniform(-0.29, 0.29))
        width, height = min(image.width, np.sqrt(area * aspect)), min(image.height, np.sqrt(area / aspect))
        left, top = draw.uniform(0, image.width - width), draw.uniform(0, image.height - height)
        box = (left, top, left + width, top + height)
        part = image.resize((self.size, self.size), Image.Resampling.BILINEAR, box=box)
        values = np.asarray(part, dtype=np.float32) / 255
        values = values[:, ::-1] if draw.random() < 0.5 else values
        values = (values - np.array(IMAGENET_MEAN, np.float32)) / np.array(IMAGENET_STD, np.float32)
        return torch.from_numpy(np.ascontiguousarray(values.transpose(2, 0, 1)))


@contextmanager
def layer_by_layer() -> Iterator[None]:
    """The network as its layers stand there, without what we do to make it faster."""
    with patch.object(ConvNorm, "_fixed", lambda _: None):
        yield


def plain(plan: Plan, corpus: Corpus, size: int, workers: int, device: torch.device, steps: int) -> float:
    """Seconds per step."""
    batches = [plan.stage.sampler.batch(number) for number in range(steps)]
    loader = DataLoader(
        Files(corpus, size),
        batch_sampler=[batch.rows[0].tolist() for batch in batches],
        num_workers=workers,
        pin_memory=device.type == "cuda",
    )
    network = cast(nn.Module, plan.encoders.network)
    shown: list[Tensor] = []
    loss_of = replace(cast(MixedLanguageLoss, plan.stage.loss), look=lambda *_: network(shown[0]))
    optimiser = torch.optim.AdamW(plan.encoders.parameters(), lr=1e-4)
    precision = pick_precision("auto", device)

    def timed() -> Iterator[float]:
        for number, (batch, pictures) in enumerate(zip(batches, loader, strict=True)):
            shown[:] = [pictures.to(device)]
            rows, step = torch.from_numpy(batch.rows).to(device), torch.tensor(float(number), device=device)
            optimiser.zero_grad()
            with autocast(device, precision):
                loss = loss_of(plan.encoders, plan.data, DeviceBatch(batch.kind, rows, batch.longest, step))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(plan.encoders.parameters(), 2.0)
            optimiser.step()
            loss.item()
            yield time.perf_counter()

    with layer_by_layer():
        times = list(timed())
    return (times[-1] - times[WARM_UP - 1]) / (steps - WARM_UP)


def ours(plan: Plan, device: torch.device, steps: int) -> float:
    """Seconds per step."""
    stage = plan.stage
    optimiser = make_optimiser(stage.module, stage.settings, device, stage.rates)
    step = fastest(EagerStep(stage, optimiser, pick_precision("auto", device)))
    warm = WARM_UP if device.type == "cpu" else max(WARM_UP, steps // 2)  # on a GPU, until every length is recorded
    for number in range(steps):
        if number == warm:
            _wait(device)
            started = time.perf_counter()
        step(stage.sampler.batch(number), number)
    _wait(device)
    return (time.perf_counter() - started) / (steps - warm)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--size", type=int, default=260)
    parser.add_argument("--workers", type=int, default=min(16, os.cpu_count() or 1))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--photos", type=Path, default=None)
    parser.add_argument("--compile", action="store_true", help="compile our network, too")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    device = pick_device(told.device)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("GROUNDLING_CACHE", folder)
        named = CorpusSettings(name="f8k7" if told.data else "drawn")
        (Path(folder) / "pictures").mkdir()
        if told.photos:
            corpus = told_of(told.photos, sorted(path.name for path in told.photos.glob("*.jpg")))
        else:
            corpus = load_corpus(named, told.data) if told.data else drawn(Path(folder) / "pictures")
        corpus = corpus.split("train")
        recipe = Recipe(
            corpus=named,
            features=FeatureSettings(backbone=told.backbone, size=told.size),
            text=TextSettings(maximum_length=40),
            system={"name": "polyglot", "tune": True, "compile": told.compile, "colour_jitter": 0.0},  # as plain
            training=TrainingSettings(batch_size=told.batch, optimiser="adamw"),
        )
        dim = 1280  # of EfficientNet-Lite; only statistics are taken from these, which no step is timed by
        dataset = GroundlingDataset(corpus, np.random.default_rng(0).random((len(corpus.pictures), dim), np.float32))
        result: dict[str, object] = {"device": str(device), "pictures": len(corpus.pictures), **vars(told)}
        for name in ("plain", "ours"):
            torch.manual_seed(0)
            plan = planned(recipe, dataset, device)
            plan.encoders.train()
            seconds = (
                plain(plan, corpus, told.size, told.workers, device, told.steps)
                if name == "plain"
                else ours(plan, device, told.steps)
            )
            result[name] = 1 / seconds
    result["ratio"] = cast(float, result["ours"]) / cast(float, result["plain"])
    if told.json:
        print(json.dumps({key: str(value) if isinstance(value, Path) else value for key, value in result.items()}))
    else:
        print(f"plain {result['plain']:.2f} steps/s, ours {result['ours']:.2f}, ratio {result['ratio']:.2f}")


if __name__ == "__main__":
    main()
