"""Training steps per second of our loop against a plain one with equal settings, in the same run.

Plain: captions in random order, packed sequences, float32, default Adam. Ours: rows resident on the
device, batches of similar length, bf16 where the device has it, fused Adam, and on a GPU recorded steps. Both train the
`lessons` model (300-d words, GRU 1024, max of hinges, batch 128) on captions whose lengths are drawn like F8K-7's.

    python benchmarks/training.py [--steps 60] [--device cpu] [--json] [--data DIR]

With --data (the folder that holds f8k7/) the captions are real, in seven languages (or those of --languages), and the
recalls after the same number of steps of each loop are printed too: the faster loop must not learn less per step.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.devices import pick_device, pick_precision
from groundling.settings import CorpusSettings, FeatureSettings, Recipe, TextSettings, TrainingSettings
from groundling.systems import Context, Plan
from groundling.training.planned import planned
from groundling.training.step import EagerStep, fastest, make_optimiser
from groundling.training.validation import validation

WARM_UP = 5


def random_captions(captions: int = 30_000, words: int = 12_000) -> Dataset:
    """Captions of random words with the spread of lengths of F8K-7 (mean 13 with start and end, up to 40)."""
    draw = np.random.default_rng(0)
    lengths = np.clip(draw.gamma(6.0, 2.2, captions).round(), 4, 40).astype(np.int64) - 2
    names = np.array([f"p{number}" for number in range(captions // 5)])
    corpus = Corpus(
        name="random",
        pictures=names,
        splits=np.array(["train"] * len(names)),
        owners=np.arange(captions) // 5,
        languages=np.array(["en"] * captions),
        texts=[" ".join(f"w{word}" for word in draw.integers(0, words, length)) for length in lengths],
        origins=np.array(["human"] * captions),
    )
    return Dataset(corpus, draw.standard_normal((len(names), 1280)).astype(np.float32))


def recipe_of(pool: int, minimum_count: int) -> Recipe:
    return Recipe(
        corpus=CorpusSettings(name="captions"),
        text=TextSettings(minimum_count=minimum_count),
        system={"name": "lessons", "caption_pairs": 0.0},
        training=TrainingSettings(seed=0, length_pool=pool),
    )


def plain_steps(plan: Plan, device: torch.device, steps: int) -> float:
    """Seconds per step of the loop everybody writes first, on batches of one language in random order.

    Putting a batch together on the host, which a DataLoader's workers would do meanwhile, is not counted.
    """
    encoders, data, sampler, training = plan.encoders, plan.data, plan.stage.sampler, plan.stage.settings
    lists = [row[:length] for row, length in zip(data.ids.cpu().long(), data.lengths.tolist(), strict=True)]
    features = data.features.cpu()
    optimiser = torch.optim.Adam(encoders.parameters(), lr=training.learning_rate)
    times: list[float] = []
    for number in range(steps):
        batch = sampler.batch(number)
        lengths = torch.from_numpy(data.lengths[batch.captions])
        ids = torch.nn.utils.rnn.pad_sequence([lists[row] for row in batch.captions], batch_first=True)
        pictures = features[torch.from_numpy(batch.partners)]
        started = time.perf_counter()
        packed = pack_padded_sequence(
            encoders.text.words(ids.to(device)), lengths, batch_first=True, enforce_sorted=False
        )
        _, last = encoders.text.recurrent(packed)
        scores = normalize(last[0], dim=-1) @ encoders.picture(pictures.to(device)).T
        matching = scores.diagonal()
        wrong = 1 - torch.eye(len(scores), device=device)
        by_row = ((0.2 + scores - matching[:, None]).clamp(min=0) * wrong).amax(dim=1)
        by_column = ((0.2 + scores - matching[None, :]).clamp(min=0) * wrong).amax(dim=0)
        loss = by_row.sum() + by_column.sum()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(encoders.parameters(), training.clip or float("inf"))
        optimiser.step()
        loss.item()
        times.append(time.perf_counter() - started)
    return sum(times[WARM_UP:]) / (steps - WARM_UP)


def our_steps(plan: Plan, device: torch.device, steps: int) -> float:
    optimiser = make_optimiser(plan.encoders, plan.stage.settings, device)
    step = fastest(EagerStep(plan.stage, optimiser, pick_precision("auto", device)))
    sampler = plan.stage.sampler
    warm = WARM_UP if device.type == "cpu" else steps // 2  # on a GPU, until every length is recorded
    for number in range(steps):
        if number == warm:
            _wait(device)
            started = time.perf_counter()
        step(sampler.batch(number), number)
    _wait(device)
    return (time.perf_counter() - started) / (steps - warm)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=None, help="of each loop (60 on a CPU, 2000 on a GPU)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data", type=Path, default=None, help="folder that holds f8k7/: real captions, and recalls")
    parser.add_argument("--length-pool", type=int, default=64, help="batches sorted by length together")
    parser.add_argument("--languages", nargs="+", default=None, help="with --data: of these; all seven when left out")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    device = pick_device(arguments.device)
    steps = arguments.steps or (60 if device.type == "cpu" else 2000)
    train, dev = random_captions(), None
    if arguments.data:
        chosen = CorpusSettings(name="f8k7", languages=arguments.languages)
        dataset = Dataset.load(chosen, FeatureSettings(), arguments.data)
        train, dev = dataset.split("train"), dataset.split("dev")
    result: dict[str, object] = {"device": str(device), "precision": pick_precision("auto", device), "steps": steps}
    for name, pool, measure in (("plain", 1, plain_steps), ("ours", arguments.length_pool, our_steps)):
        torch.manual_seed(0)
        recipe = recipe_of(pool, 4 if arguments.data else 1)
        plan = planned(recipe, train, device)
        plan.encoders.train()
        result[f"{name}_steps_per_second"] = round(1 / measure(plan, device, steps), 2)
        if dev is not None:
            validate = validation(plan, Context(recipe, train, dev, device, lambda stage: None))
            by_language = validate(plan.encoders).languages
            result[f"{name}_mR"] = round(sum(by_language.values()) / len(by_language) / 6, 2)
    result["ratio"] = round(result["ours_steps_per_second"] / result["plain_steps_per_second"], 2)  # type: ignore[operator]
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
