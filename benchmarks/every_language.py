"""Ten languages at once on two cores: memory of a whole SMALR training, and its steps per second against `lessons`.

SMALR shows every picture of a step with two captions in each of ten languages, and each caption twice, once masked. It
is compared with the `lessons` model of equal size (300-d words, GRU 1024, 512 dimensions out) on as many captions a
step, in the same run, each in a process of its own. Both train on the emoji corpus (extra `demo`), whose features are
made first where they are not there yet.

    python benchmarks/every_language.py [--pictures 64] [--steps 12] [--json]
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

LANGUAGES = ["af", "ar", "cs", "de", "en", "fr", "ja", "ko", "ru", "zh"]  # of the paper
SENTENCES = 2
WARM_UP = 2
SYSTEMS: dict[str, dict[str, Any]] = {
    "smalr": {
        "name": "smalr",
        "vectors": "random",
        "own_words": 1000,
        "align_epochs": 0,
        "latent": {"tokens": 10_000, "epochs": 0.5},
    },
    "lessons": {"name": "lessons", "dimensions": 1024, "caption_pairs": 0.0},
}


def measure(name: str, pictures: int, steps: int) -> dict[str, Any]:
    """From the corpus on disk to the last of these steps, as `groundling train` does it."""
    import torch

    from groundling.dataset import Dataset
    from groundling.devices import pick_precision
    from groundling.settings import CorpusSettings, FeatureSettings, Recipe, TextSettings, TrainingSettings
    from groundling.training.planned import planned
    from groundling.training.step import EagerStep

    cpu = torch.device("cpu")
    torch.manual_seed(0)
    features = FeatureSettings(size=128, crop=False)
    part = Dataset.load(CorpusSettings(name="emoji", languages=LANGUAGES), features).split("train")
    size = pictures if name == "smalr" else pictures * SENTENCES * len(LANGUAGES)
    recipe = Recipe(
        corpus=CorpusSettings(name="emoji"),
        text=TextSettings(minimum_count=1),
        system=SYSTEMS[name],
        training=TrainingSettings(batch_size=size),
    )
    started = time.perf_counter()
    plan = planned(recipe, part)
    before = time.perf_counter() - started
    encoders, sampler = plan.encoders.train(), plan.stage.sampler
    optimiser = torch.optim.Adam(encoders.parameters(), lr=1e-4, fused=True)
    step = EagerStep(plan.stage, optimiser, pick_precision("auto", cpu))
    captions, seconds = 0, 0.0
    for number in range(steps + WARM_UP):
        batch = sampler.batch(number)
        started = time.perf_counter()
        step(batch, number)
        if number >= WARM_UP:
            seconds += time.perf_counter() - started
            captions += int((batch.rows[1:] >= 0).sum()) if name == "smalr" else batch.rows.shape[1]
    return {
        "steps_per_second": round(steps / seconds, 3),
        "captions_per_step": captions // steps,
        "seconds_before_training": round(before, 1),
        "parameters": sum(value.numel() for value in encoders.parameters()),
        "peak_gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=64, help="of a step")
    parser.add_argument("--steps", type=int, default=12, help="that are timed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=sorted(SYSTEMS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments.pictures, arguments.steps)))
        return
    result: dict[str, Any] = {}
    for name in SYSTEMS:
        again = [sys.executable, __file__, "--only", name, "--pictures", str(arguments.pictures)]
        told = subprocess.run([*again, "--steps", str(arguments.steps)], capture_output=True, text=True, check=True)
        result[name] = json.loads(told.stdout.splitlines()[-1])
    result["ratio"] = round(result["smalr"]["steps_per_second"] / result["lessons"]["steps_per_second"], 2)
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
