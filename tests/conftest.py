"""A tiny grounded world: pictures are mixtures of a few things, captions name the things in two languages."""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import torch

if not torch.cuda.is_available():  # Triton reads it when it is imported: kernels for GPUs run in its interpreter
    os.environ.setdefault("TRITON_INTERPRET", "1")

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.settings import Recipe, check

torch.set_num_threads(1)  # for children that import this, too
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # kernels for GPUs are tested on CPUs; read when they are defined

# Behaviour is tested, not time: a busy machine fails no test. And what passes here passes elsewhere: examples are drawn
# in the same way each time, and `make torture` is there to look for new ones.
hypothesis.settings.register_profile("groundling", deadline=None, derandomize=True)
hypothesis.settings.load_profile("groundling")


def mend_torchvision() -> None:
    """A torchvision that was built for another torch lacks operators that open_clip needs only for them to be there.

    The product does without it then (see `hub.broken_torchvision`); tests of open_clip need one that can be imported.
    """
    try:
        import torchvision  # noqa: F401
    except ImportError:
        return  # not installed
    except RuntimeError:
        torch.library.define("torchvision::nms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        torch.library.define("torchvision::qnms", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


mend_torchvision()

ENGLISH = ["dog", "cat", "tree", "car", "house", "boat", "sun", "fish", "bird", "horse"]
GERMAN = ["hund", "katze", "baum", "auto", "haus", "boot", "sonne", "fisch", "vogel", "pferd"]


def make_world(pictures: int = 150, seed: int = 0) -> Dataset:
    draw = np.random.default_rng(seed)
    things = draw.standard_normal((len(ENGLISH), 12))
    chosen = np.array([draw.choice(len(ENGLISH), 3, replace=False) for _ in range(pictures)])
    features = things[chosen].sum(axis=1) + 0.1 * draw.standard_normal((pictures, 12))
    owners, languages, texts = [], [], []
    for picture in range(pictures):
        for code, words in (("en", ENGLISH), ("de", GERMAN)):
            for _ in range(2):
                owners.append(picture)
                languages.append(code)
                texts.append(" ".join(words[thing] for thing in draw.permutation(chosen[picture])))
    splits = np.array(["train"] * (pictures - 50) + ["dev"] * 25 + ["test"] * 25)
    corpus = Corpus(
        name="world",
        pictures=np.array([f"picture-{number}" for number in range(pictures)]),
        splits=splits,
        owners=np.array(owners),
        languages=np.array(languages),
        texts=texts,
        origins=np.array(["human"] * len(texts)),
    )
    return Dataset(corpus, features.astype(np.float32))


def make_recipe(**changes: object) -> Recipe:
    """A recipe that learns the world in seconds."""
    values: dict[str, object] = {
        "name": "tiny",
        "corpus": {"name": "world"},
        "text": {"minimum_count": 1},
        "system": {"name": "lessons", "dimensions": 24, "word_dimensions": 12, "caption_pairs_after": 10},
        "training": {
            "batch_size": 32,
            "learning_rate": 5e-3,
            "validate_every": 20,
            "maximum_steps": 100,
            "precision": "float32",
        },
    }
    for key, value in changes.items():
        old = values.get(key)
        values[key] = {**old, **value} if isinstance(old, dict) and isinstance(value, dict) else value
    if values["system"]["name"] != "lessons":  # type: ignore[index]
        values["system"].pop("caption_pairs_after", None)  # type: ignore[attr-defined]
    return check(Recipe, values, "test")


@pytest.fixture(autouse=True, scope="module")
def one_core() -> None:
    """Two test processes share two cores. Said again for each module: CTranslate2 sets torch's threads to its own."""
    torch.set_num_threads(1)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of what is kept between runs, nothing is left by or for anybody else."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GROUNDLING_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def world() -> Dataset:
    return make_world()
