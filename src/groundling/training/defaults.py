"""Settings for those who name a corpus and nothing else: chosen by what the corpus is like and by the machine.

What is chosen, and why, is said in a sentence each; whatever a recipe or the command line says goes before it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groundling import recipes
from groundling.corpus import catalogue
from groundling.corpus.corpus import Corpus
from groundling.devices import pick_device
from groundling.settings import Recipe, TrainingSettings, check, merged, override
from groundling.text.segmentation import words
from groundling.training import estimate

SAMPLE = 500  # captions that are looked at to learn how long captions are
NAMES = 4.0  # words; captions shorter than this on average are names and keywords
#: How a picture network is trained along, as in f8k7/polyglot-tuned.
TUNED = {
    "tune": True,
    "crop_size": 240,
    "crop_area": [0.35, 1.0],
    "colour_jitter": 0.0,
    "captions": 5,
    "word_dropout": 0.2,
}
EPOCHS = {500: 120, 5_000: 140, 50_000: 30}  # passes through so many pictures


@dataclass
class Choice:
    """Settings of a recipe, and why they are what they are."""

    values: dict[str, Any]
    reasons: list[str] = field(default_factory=list)


def resolve(
    name: str | None, changes: Mapping[str, Any], assignments: Sequence[str], data: Path | None, device: str
) -> tuple[Recipe, list[str]]:
    """A recipe as `recipes.resolve` has it; where neither recipe nor system is named, one for the corpus, and why."""
    asked = override(dict(changes), list(assignments))
    corpus, system = asked.get("corpus"), asked.get("system")
    named = isinstance(system, dict) and "name" in system
    if name is not None or named or not (isinstance(corpus, dict) and isinstance(corpus.get("name"), str)):
        return recipes.resolve(name, changes, assignments), []
    choice = for_corpus(corpus["name"], data, device, asked)
    return recipes.resolve(None, merged(choice.values, dict(changes)), assignments), choice.reasons


def for_corpus(name: str, data: Path | None, device: str, changes: Mapping[str, Any]) -> Choice:
    """Settings for a corpus that is named, before `changes` are made to them, and how long training will take then."""
    corpus, where = catalogue.load(name, data), pick_device(device)
    choice = choose(corpus, where.type == "cuda")
    recipe = check(Recipe, merged(choice.values, {"corpus": {"name": name}, **changes}), "settings")
    choice.reasons.append(_spoken_length(recipe.training, len(np.unique(corpus.split("train").owners))))
    pictures = 0 if corpus.root is None else len(corpus.pictures)
    took = estimate.seconds(recipe, pictures, mean_length(corpus.split("train")), where, os.cpu_count() or 1)
    choice.reasons.append(f"training takes {estimate.spoken(took)} on this machine")
    return choice


def choose(corpus: Corpus, on_gpu: bool) -> Choice:
    """Settings of our own system for a corpus."""
    train = corpus.split("train")
    pictures = len(np.unique(train.owners))
    choice = Choice({"system": {"name": "polyglot"}, "features": {}, "text": {}, "training": {}})
    choice.reasons.append(
        f"system polyglot, our own: {pictures:,} training pictures, {len(train):,} captions in "
        f"{len(train.all_languages())} languages"
    )
    _text(choice, train)
    tuned = _pictures(choice, corpus, pictures, on_gpu)
    _training(choice, pictures, tuned, on_gpu)
    return choice


def _text(choice: Choice, train: Corpus) -> None:
    captions = len(train)
    rare = 1 if captions < 5_000 else 2 if captions < 50_000 else 4
    choice.values["text"] = {"minimum_count": rare, "maximum_length": 40}
    length = mean_length(train)
    if length < NAMES:
        choice.values["system"] |= {"text": "ngrams"}
        choice.reasons.append(f"captions of {length:.1f} words are names: they are read by their words and letters")
    else:
        choice.reasons.append(
            f"captions of {length:.1f} words are read word by word; words are known that occur {rare} times or more"
        )


def _pictures(choice: Choice, corpus: Corpus, pictures: int, on_gpu: bool) -> bool:
    """How pictures are looked at; whether the picture network is trained."""
    files = corpus.root is not None
    if on_gpu and files:
        choice.values["features"] = {"backbone": "efficientnet-lite2", "size": 288, "crops": 2, "mirror": True}
        choice.values["system"] |= TUNED
        choice.reasons.append("the picture network efficientnet-lite2 is trained along: there are pictures and a GPU")
        return True
    if files:
        few = pictures <= 2_000
        choice.values["features"] = {"backbone": "efficientnet-lite0", **({"views": 4} if few else {"mirror": True})}
        looks = "four parts of each picture are looked at" if few else "each picture and its mirror image are looked at"
        choice.reasons.append(f"{looks} once through efficientnet-lite0, which stays as it is: there is no GPU")
    else:
        choice.reasons.append("the features that came with the corpus are used: there are no picture files")
    return False


def _training(choice: Choice, pictures: int, tuned: bool, on_gpu: bool) -> None:
    largest = (256 if tuned else 512) if on_gpu else 128
    batch = int(np.clip(2 ** int(np.log2(max(pictures, 1) / 6 + 1)), 16, largest))
    passes = float(np.interp(np.log(max(pictures, 1)), np.log(list(EPOCHS)), list(EPOCHS.values())))
    most = 3_000 if on_gpu else 1_000
    steps = int(np.clip(passes * pictures / batch, 200, most))
    choice.values["training"] = {
        "batch_size": batch,
        "optimiser": "adamw",
        "learning_rate": _rate(choice, on_gpu),
        "weight_decay": 1e-4,
        "warm_up": 0.13,
        "decay_to": 1e-6,
        "moving_average": round(1 - 3 / steps, 4),  # the average over the last third
        "maximum_steps": steps,
        "validate_every": max(20, steps // 15),
        "patience": 100,
    }
    if not on_gpu:
        choice.values["system"] |= {"hidden": 256}


def _rate(choice: Choice, on_gpu: bool) -> float:
    """Rare words are met a few times only, and must arrive: 4e-3 was found on the dev split of F8K-7 for steps of 512
    pictures; smaller steps take smaller ones, and names, which are read by their letters, the usual one."""
    if choice.values["system"].get("text") == "ngrams":
        return 1e-3
    return 4e-3 if on_gpu else 2e-3


def _spoken_length(training: TrainingSettings, pictures: int) -> str:
    steps, batch = training.maximum_steps, training.batch_size
    passes = steps * batch / max(pictures, 1)
    often = f"{passes:.0f} passes" if passes >= 2 else f"{passes:.1f} passes"
    return f"{steps:,} steps of {batch} pictures each, {often} through the pictures"


def mean_length(corpus: Corpus) -> float:
    """Words of a caption, on average over some of them."""
    rows = np.linspace(0, len(corpus) - 1, min(SAMPLE, len(corpus))).astype(int)
    lengths = [len(words(corpus.texts[row], str(corpus.languages[row]))) for row in rows.tolist()]
    return float(np.mean(lengths)) if lengths else 0.0
