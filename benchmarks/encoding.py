"""Captions encoded per second on a CPU: words read by characters (liwe) against words from a table (clmr), in one run.

Both have the same bidirectional sentence (GRU 1024) over 300-d words; text goes in and vectors come out, so that
segmentation, vocabulary look-up and spelling are all part of it. A word that was spelled out once is remembered: the
first round meets the words of the captions for the first time, the rounds after it know them all.

    python benchmarks/encoding.py [--captions 2000] [--rounds 3] [--at-once 100] [--data DIR] [--json]

Without --data the captions are random words with the lengths of F8K-7; with it (the folder that holds f8k7/) they are
test captions of all its languages. Weights are random: they do not change the speed. The models take turns at every
portion of captions, and a ratio is the median over the portions, so that other programs disturb both alike.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from groundling.corpus import Corpus, catalogue
from groundling.dataset import Dataset
from groundling.model.trained import TrainedModel
from groundling.settings import CorpusSettings, Recipe
from groundling.training.planned import planned

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def random_corpus(captions: int, words: int = 12_000) -> Corpus:
    """Captions of random words, frequent ones more often, as in language."""
    draw = np.random.default_rng(0)
    sizes = np.clip(draw.gamma(6.0, 1.2, words).round(), 1, 30).astype(int)
    vocabulary = np.array(["".join(draw.choice(LETTERS, size)) for size in sizes])
    lengths = np.clip(draw.gamma(6.0, 2.2, captions).round() - 2, 2, 38).astype(int)
    texts = [" ".join(vocabulary[np.minimum(draw.zipf(1.2, length), words) - 1]) for length in lengths]
    return corpus_of(texts, ["en"] * captions)


def corpus_of(texts: list[str], languages: list[str]) -> Corpus:
    return Corpus(
        name="captions",
        pictures=np.array([f"p{n}" for n in range(len(texts))]),
        splits=np.array(["train"] * len(texts)),
        owners=np.arange(len(texts)),
        languages=np.array(languages),
        texts=texts,
        origins=np.array(["human"] * len(texts)),
    )


def real_corpora(folder: Path, captions: int) -> tuple[Corpus, Corpus]:
    """Training captions for vocabulary and alphabet, and test captions to encode."""
    whole = catalogue.load("f8k7", data=folder)
    test = whole.split("test")
    chosen = np.random.default_rng(0).permutation(len(test.texts))[:captions]
    return whole.split("train"), corpus_of([test.texts[n] for n in chosen], test.languages[chosen].tolist())


def build(values: dict[str, Any], corpus: Corpus) -> TrainedModel:
    torch.manual_seed(0)
    recipe = Recipe(corpus=CorpusSettings(name="captions"), system=values)
    plan = planned(recipe, Dataset(corpus, np.zeros((len(corpus.pictures), 64), dtype=np.float32)))
    return TrainedModel(recipe, plan.system, plan.tokeniser, plan.encoders, torch.device("cpu"))


def a_round(models: dict[str, TrainedModel], corpus: Corpus, at_once: int) -> dict[str, list[float]]:
    """Seconds of each model for each portion of the captions; who goes first changes."""
    times: dict[str, list[float]] = {name: [] for name in models}
    languages = corpus.languages.tolist()
    for number, start in enumerate(range(0, len(corpus.texts), at_once)):
        portion = slice(start, start + at_once)
        for name in list(models)[:: 1 if number % 2 else -1]:
            started = time.perf_counter()
            models[name].encode_text(corpus.texts[portion], languages[portion])
            times[name].append(time.perf_counter() - started)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3, help="over all captions, the first one included")
    parser.add_argument("--at-once", type=int, default=100, help="captions in one call")
    parser.add_argument("--dimensions", type=int, default=1024, help="of the GRU")
    parser.add_argument("--pooling", choices=["last", "ends"], default="last")
    parser.add_argument("--data", type=Path, default=None, help="folder that holds f8k7/: its captions")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.data:
        training, asked = real_corpora(arguments.data, arguments.captions)
    else:
        training, asked = random_corpus(30_000), random_corpus(arguments.captions)
    shared = {"dimensions": arguments.dimensions, "pooling": arguments.pooling}
    models = {name: build({"name": name, **shared}, training) for name in ("clmr", "liwe")}
    a_round(models, corpus_of(["the first calls make libraries ready"] * 200, ["en"] * 200), arguments.at_once)
    rounds = [a_round(models, asked, arguments.at_once) for _ in range(arguments.rounds)]
    later = {name: [value for one in rounds[1:] for value in one[name]] for name in models}
    result: dict[str, Any] = {"captions": len(asked.texts), "threads": torch.get_num_threads()}
    for label, times in (("first", rounds[0]), ("later", later)):
        for name in models:
            result[f"{name}_{label}_captions_per_second"] = round(arguments.at_once / np.median(times[name]))
        ratios = np.array(times["clmr"]) / np.array(times["liwe"])
        result[f"ratio_{label}"] = round(float(np.median(ratios)), 2)
    print(json.dumps(result) if arguments.json else "\n".join(f"{key}: {value}" for key, value in result.items()))


if __name__ == "__main__":
    main()
