"""An exported model run by onnxruntime against the same model run by torch, on one CPU, in one run.

Text goes in and vectors come out (tokenising is part of it), one query at a time and 32 together; pictures go in as
pixels that are already cut. Both have one core: on several, queries and pictures are spread over them alike.

    python benchmarks/exporting.py [--rounds 200] [--json]

Weights are random: they do not change the speed. The two take turns, and a ratio is the median over the rounds, so that
other programs disturb both alike. The models: `lessons` (300-d words, GRU 1024), `liwe` (the same size, words from
letters; torch remembers words that it has spelled before, onnxruntime spells them anew), `bag`; and EfficientNet-Lite0
at 224 pixels.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.export import OnnxModel
from groundling.export.write import export_run
from groundling.files import write_json
from groundling.model import Model
from groundling.run import Run
from groundling.settings import Recipe
from groundling.training.planned import planned
from groundling.vision.from_settings import backbone_of, preprocessing_of

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def random_corpus(captions: int = 4000, words: int = 8000) -> Corpus:
    """Captions of random words with the lengths of search queries and short captions."""
    draw = np.random.default_rng(0)
    sizes = np.clip(draw.gamma(6.0, 1.2, words).round(), 1, 30).astype(int)
    vocabulary = np.array(["".join(draw.choice(LETTERS, size)) for size in sizes])
    lengths = np.clip(draw.gamma(4.0, 2.0, captions).round(), 1, 30).astype(int)
    texts = [" ".join(vocabulary[draw.integers(0, words, length)]) for length in lengths]
    return Corpus(
        name="captions",
        pictures=np.array([f"p{n}" for n in range(captions)]),
        splits=np.array(["train"] * captions),
        owners=np.arange(captions),
        languages=np.array(["en"] * captions),
        texts=texts,
        origins=np.array(["human"] * captions),
    )


def untrained(name: str, corpus: Corpus, folder: Path) -> Path:
    """A run as training leaves it, with the weights that training begins with."""
    recipe = Recipe(name=name, corpus={"name": "captions"}, system={"name": name}, text={"minimum_count": 1})  # type: ignore[arg-type]
    plan = planned(recipe, Dataset(corpus, np.zeros((len(corpus.pictures), 1280), dtype=np.float32)))
    run = Run(folder)
    run.save_recipe(recipe)
    write_json(run.tokeniser_file, plan.tokeniser.to_json())
    save_file(plan.encoders.state_dict(), run.weights_file)
    write_json(run.facts_file, {"languages": ["en"]})
    return folder


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compared(theirs: Callable[[int], Any], ours: Callable[[int], Any], rounds: int) -> dict[str, float]:
    """Milliseconds of each, medians, and the median of torch's time over onnxruntime's."""
    pairs = [(seconds(lambda n=n: theirs(n)), seconds(lambda n=n: ours(n))) for n in range(rounds + 3)][3:]  # type: ignore[misc]
    return {
        "torch_ms": 1000 * statistics.median(pair[0] for pair in pairs),
        "onnx_ms": 1000 * statistics.median(pair[1] for pair in pairs),
        "ratio": statistics.median(pair[0] / pair[1] for pair in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus, results = random_corpus(), {}
    with tempfile.TemporaryDirectory() as place:
        for name in ("lessons", "liwe", "bag"):
            run = untrained(name, corpus, Path(place) / name)
            manifest = export_run(run, Path(place) / f"{name}.onnx")
            model, exported = Model.load(run, "cpu"), OnnxModel.load(Path(place) / f"{name}.onnx")
            for size in (1, 32):
                texts = [corpus.texts[n * size % 3000 : n * size % 3000 + size] for n in range(options.rounds + 3)]
                results[f"{name}, {size} at a time"] = compared(
                    lambda n, texts=texts, model=model: model.encode_text(texts[n], "en"),  # type: ignore[misc]
                    lambda n, texts=texts, exported=exported: exported.encode_text(texts[n], "en"),  # type: ignore[misc]
                    options.rounds,
                )
            results[f"{name}, difference"] = manifest.agreement.model_dump()
        backbone = backbone_of(model.recipe.features)
        preprocessing = preprocessing_of(model.recipe.features, backbone)
        draw = np.random.default_rng(0)
        pixels = [draw.integers(0, 256, (224, 224, 3), dtype=np.uint8) for _ in range(8)]
        exported.load_picture_side()
        results["a picture"] = compared(
            lambda n: model.encode_features(backbone.features([pixels[n % 8]], preprocessing).numpy()),
            lambda n: exported.encode_pixels([pixels[n % 8]]),
            max(10, options.rounds // 4),
        )
    if options.json:
        print(json.dumps(results, indent=1))
        return
    for name, found in results.items():
        if "ratio" in found:
            print(
                f"{name}: torch {found['torch_ms']:.2f} ms, onnxruntime {found['onnx_ms']:.2f} ms, {found['ratio']:.2f}"
            )


if __name__ == "__main__":
    main()
