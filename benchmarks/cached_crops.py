"""Steps per second of a training from cached crops, against a plain loop on the same crops, in the same run.

Both train `polyglot` (states of 256 dimensions, as it is chosen for a CPU) from features of twelve crops of each
picture, with the same captions, batches and loss. Plain: a DataLoader whose worker gathers the crops, all captions of a
step read together, float32, default AdamW. Ours: crops and captions in memory, captions of similar length read
together, the precision that is chosen for the machine, and one kernel for the update.

    python benchmarks/cached_crops.py [--data DIR] [--steps 12] [--batch 128] [--threads 2] [--json]

With --data (the folder that holds f8k7/) captions are F8K-7's; without it they are random words, as long as F8K-7's.
Features are drawn: no step's time depends on what they say.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from groundling.batches import Batch, DeviceBatch
from groundling.corpus import Corpus
from groundling.dataset import Dataset as GroundlingDataset
from groundling.dataset import load_corpus
from groundling.devices import pick_precision
from groundling.objectives import mixed_languages
from groundling.objectives.mixed_languages import MixedLanguageLoss, read_together
from groundling.settings import CorpusSettings, Recipe, TextSettings, TrainingSettings
from groundling.systems import Plan
from groundling.training.planned import planned
from groundling.training.step import EagerStep, make_optimiser

WARM_UP, VIEWS, DIM = 2, 12, 1280
CPU = torch.device("cpu")


def drawn(count: int = 1000) -> Corpus:
    """Captions of random words in two languages, 7 to 17 words as most of F8K-7's, now and then 30."""
    draw = np.random.default_rng(0)
    lengths = np.where(draw.random(4 * count) < 0.02, 30, draw.integers(7, 18, 4 * count))
    texts = [" ".join(f"w{word}" for word in draw.integers(0, 8000, length)) for length in lengths]
    codes, names = np.array(["en", "en", "de", "de"] * count), np.array([f"{number}.jpg" for number in range(count)])
    splits, origins = np.full(count, "train"), np.full(4 * count, "human")
    return Corpus("drawn", names, splits, np.repeat(np.arange(count), 4), codes, texts, origins)


class Steps(Dataset[tuple[Tensor, Tensor]]):
    """What a step reads: the rows of its batch, and a random crop of each of its pictures."""

    def __init__(self, batches: list[Batch], views: np.ndarray) -> None:
        self.batches, self.views = batches, views

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, step: int) -> tuple[Tensor, Tensor]:
        rows = self.batches[step].rows
        crops = [self.views[row, np.random.default_rng().integers(VIEWS)].astype(np.float32) for row in rows[0]]
        return torch.from_numpy(rows), torch.from_numpy(np.stack(crops))


def plain(plan: Plan, views: np.ndarray, batches: list[Batch]) -> float:
    """Seconds per step."""
    shown: list[Tensor] = []
    loss_of = replace(cast(MixedLanguageLoss, plan.stage.loss), look=lambda *_: shown[0])
    optimiser = torch.optim.AdamW(plan.encoders.parameters(), lr=1e-3)
    reading, times = mixed_languages.read, []
    mixed_languages.read = lambda text, data, rows, batch: read_together(text, data, rows, batch.longest)
    try:
        loader = DataLoader(Steps(batches, views), batch_size=None, num_workers=1)
        for number, (batch, (rows, crops)) in enumerate(zip(batches, loader, strict=True)):
            shown[:] = [crops]
            optimiser.zero_grad()
            placed = DeviceBatch("mixed", rows, batch.longest, torch.tensor(number))
            loss = loss_of(plan.encoders, plan.data, placed)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(plan.encoders.parameters(), 2.0)
            optimiser.step()
            times.append(time.perf_counter())
    finally:
        mixed_languages.read = reading
    return (times[-1] - times[WARM_UP - 1]) / (len(times) - WARM_UP)


def ours(plan: Plan, batches: list[Batch]) -> float:
    """Seconds per step."""
    stage = plan.stage
    step = EagerStep(stage, make_optimiser(stage.module, stage.settings, CPU), pick_precision("auto", CPU))
    times = []
    for number, batch in enumerate(batches):
        step(batch, number)
        times.append(time.perf_counter())
    return (times[-1] - times[WARM_UP - 1]) / (len(times) - WARM_UP)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    torch.set_num_threads(told.threads)
    named = CorpusSettings(name="f8k7" if told.data else "drawn")
    corpus = (load_corpus(named, told.data) if told.data else drawn()).split("train")
    recipe = Recipe(
        corpus=named,
        text=TextSettings(maximum_length=40),
        system={"name": "polyglot", "hidden": 256},
        training=TrainingSettings(batch_size=told.batch, optimiser="adamw"),
    )
    views = np.random.default_rng(0).random((len(corpus.pictures), VIEWS, DIM), np.float32).astype(np.float16)
    dataset = GroundlingDataset(corpus, views.mean(axis=1, dtype=np.float32), views=views)
    rates: dict[str, float] = {}
    ways: dict[str, Callable[[Plan, list[Batch]], float]] = {
        "plain": lambda plan, batches: plain(plan, views, batches),
        "ours": ours,
    }
    for name, way in ways.items():
        torch.manual_seed(0)
        plan = planned(recipe, dataset)
        plan.encoders.train()
        rates[name] = 1 / way(plan, [plan.stage.sampler.batch(number) for number in range(told.steps)])
    rates["ratio"] = rates["ours"] / rates["plain"]
    about = {"corpus": corpus.name, "batch": told.batch, "threads": told.threads}
    print(
        json.dumps({**about, **rates})
        if told.json
        else f"plain {rates['plain']:.2f} steps/s, ours {rates['ours']:.2f}, ratio {rates['ratio']:.2f}"
    )


if __name__ == "__main__":
    main()
