"""A GRU that reads captions packed by length against one that reads padding: steps of MULE on the same batches.

Both are our own step; only the packing differs (see `groundling.encoders.text.packing`). Random captions in seven
languages, two each of 128 pictures, spread in length about as those of F8K-7 are. Steps alternate in one
process, so that what else the machine does meets both.

    python benchmarks/packing.py [--steps 6] [--json]
"""

import argparse
import json
import time
from dataclasses import replace

import numpy as np
import torch

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.devices import pick_device, pick_precision
from groundling.settings import CorpusSettings, Recipe, TextSettings, TrainingSettings
from groundling.training.planned import planned
from groundling.training.step import EagerStep, make_optimiser

LANGUAGES = ["ar", "cs", "de", "en", "fr", "pt", "zh"]
PICTURES, WORDS, FEATURES = 1024, 3000, 1280


def captions(draw: np.random.Generator) -> Corpus:
    """Two captions of every picture in each language."""
    texts, owners, codes = [], [], []
    for code in LANGUAGES:
        typical = draw.uniform(7, 13)  # some languages need more words than others
        for picture in range(PICTURES):
            for _ in range(2):
                length = int(np.clip(round(draw.lognormal(np.log(typical), 0.35)), 2, 40))
                texts.append(" ".join(f"w{number}" for number in draw.integers(0, WORDS, length)))
                owners.append(picture)
                codes.append(code)
    names = np.array([f"p{number}" for number in range(PICTURES)])
    splits, origins = np.array(["train"] * PICTURES), np.array(["human"] * len(texts))
    return Corpus("random", names, splits, np.array(owners), np.array(codes), texts, origins)


def measure(steps: int) -> dict[str, float]:
    device = pick_device("auto")
    corpus = captions(np.random.default_rng(0))
    features = np.random.default_rng(1).standard_normal((PICTURES, FEATURES)).astype(np.float32)
    recipe = Recipe(
        corpus=CorpusSettings(name="random"),
        text=TextSettings(minimum_count=1, maximum_length=40),
        system={"name": "mule", "vectors": "random", "align_epochs": 0},
        training=TrainingSettings(batch_size=128),
    )
    torch.manual_seed(0)
    plan = planned(recipe, Dataset(corpus, features), device)
    data, sampler, encoders = plan.data, plan.stage.sampler, plan.encoders.train()
    sampler.packing = True  # type: ignore[attr-defined]  # on a GPU, too, to see what it costs there
    optimiser, precision = make_optimiser(encoders, recipe.training, device), pick_precision("auto", device)
    step = EagerStep(plan.stage, optimiser, precision)
    seconds, longest = {True: 0.0, False: 0.0}, []
    for number in range(steps + 1):
        batch = sampler.batch(number)
        longest.append(int(data.lengths[batch.rows[1:]].max()))
        plain = replace(batch, packing=(), longest=longest[-1])
        for packing, shown in ((True, batch), (False, plain)):
            started = time.perf_counter()
            step(shown, number)
            if device.type == "cuda":
                torch.cuda.synchronize()
            if number:  # the first is a warm-up
                seconds[packing] += time.perf_counter() - started
    packed, without = seconds[True] / steps, seconds[False] / steps
    return {
        "words_of_a_caption": round(float(data.lengths.mean()), 1),
        "words_of_the_longest": round(float(np.mean(longest)), 1),
        "seconds_packed": round(packed, 3),
        "seconds_without": round(without, 3),
        "ratio": round(without / packed, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6, help="of each that are timed")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = measure(arguments.steps)
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
