"""A tiny world to be judged: of each thing a picture shows that it is there, that it is not, or nothing at all."""

from typing import Any

import numpy as np

from conftest import ENGLISH, GERMAN, make_recipe
from groundling.corpus import Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.dataset import Dataset
from groundling.settings import Recipe

THINGS = 6


def make_judged(pictures: int = 150, seed: int = 0) -> Dataset:
    """Statements are names of things, in two languages; captions name what is there."""
    draw = np.random.default_rng(seed)
    shown = draw.integers(0, len(LABELS), (pictures, THINGS))
    things = draw.standard_normal((THINGS, 12))
    features = (shown - 1) @ things + 0.05 * draw.standard_normal((pictures, 12))
    owners, languages, texts, labels, ids = [], [], [], [], []
    for picture in range(pictures):
        for thing in range(THINGS):
            for code, words in (("en", ENGLISH), ("de", GERMAN)):
                owners.append(picture)
                languages.append(code)
                texts.append(words[thing])
                labels.append(LABELS[shown[picture, thing]])
                ids.append(f"{picture}-{thing}")
    statements = Entailments(np.array(owners), np.array(languages), texts, np.array(labels), np.array(ids))
    captioned = np.repeat(np.arange(pictures), 2)
    corpus = Corpus(
        name="judged",
        pictures=np.array([f"picture-{number}" for number in range(pictures)]),
        splits=np.array(["train"] * (pictures - 50) + ["dev"] * 25 + ["test"] * 25),
        owners=captioned,
        languages=np.array(["en", "de"] * pictures),
        texts=[_caption(shown[row], words) for row in range(pictures) for words in (ENGLISH, GERMAN)],
        origins=np.array(["human"] * len(captioned)),
        statements=statements,
    )
    return Dataset(corpus, features.astype(np.float32))


def _caption(shown: Any, words: list[str]) -> str:
    return " ".join(words[thing] for thing in range(THINGS) if shown[thing] == 2) or "x"


def judging_recipe(training: dict[str, object] | None = None, **system: object) -> Recipe:
    """A recipe that learns to judge in seconds."""
    recipe = make_recipe(training={"batch_size": 64, "learning_rate": 1e-2, "length_pool": 1, **(training or {})})
    own = {"name": "clip_ve", "dimensions": 16, "word_dimensions": 8, "hidden": 32, **system}
    return recipe.model_copy(update={"system": own})
