"""What is chosen for those who name a corpus and nothing else."""

from pathlib import Path

import numpy as np
import pytest
import torch

from groundling.corpus import Corpus, save
from groundling.settings import Recipe, TrainingSettings, check
from groundling.training import estimate
from groundling.training.defaults import choose, resolve
from groundling.training.estimate import seconds, spoken


def corpus_of(pictures: int, caption: str = "a brown dog runs over a green field", root: Path | None = None) -> Corpus:
    splits = np.array(["train"] * pictures + ["dev"] * 10)
    owners = np.repeat(np.arange(pictures + 10), 2)
    codes = np.array(["en", "de"] * (pictures + 10))
    names, origins = np.array([f"{n}.jpg" for n in range(pictures + 10)]), np.full(len(owners), "human")
    return Corpus("mine", names, splits, owners, codes, [caption] * len(owners), origins, root)


@pytest.mark.parametrize("pictures", [3, 500, 5_000, 50_000])
@pytest.mark.parametrize("on_gpu", [True, False])
@pytest.mark.parametrize("root", [None, Path("photos")])
def test_every_choice_is_a_recipe_and_says_why(pictures: int, on_gpu: bool, root: Path | None) -> None:
    choice = choose(corpus_of(pictures, root=root), on_gpu)
    recipe = check(Recipe, {"corpus": {"name": "mine"}, **choice.values}, "test")
    training = recipe.training
    assert 2 <= training.batch_size <= max(16, pictures)
    assert training.maximum_steps * training.batch_size >= 25 * min(pictures, 5_000)  # seen often enough
    assert recipe.system.get("tune", False) == (on_gpu and root is not None)
    assert len(choice.reasons) == 3 and f"{pictures:,} training pictures" in choice.reasons[0]


def test_names_are_read_by_their_letters_and_rare_words_are_known_where_there_are_few_captions() -> None:
    names, sentences = choose(corpus_of(600, "grey cat"), False), choose(corpus_of(30_000), False)
    assert names.values["system"]["text"] == "ngrams" and "text" not in sentences.values["system"]
    assert names.values["text"]["minimum_count"] == 1 and sentences.values["text"]["minimum_count"] == 4


def test_what_is_said_goes_before_what_is_chosen(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    save(corpus_of(40), corpus)
    recipe, reasons = resolve(None, {"corpus": {"name": str(corpus)}}, ["training.maximum_steps=7"], None, "cpu")
    assert recipe.system["name"] == "polyglot" and recipe.training.maximum_steps == 7
    assert recipe.training.moving_average is not None and reasons[-1].startswith("training takes ")
    assert reasons[-2].startswith(f"7 steps of {recipe.training.batch_size} pictures each, ")  # what was asked for
    for changes, assigned in (({"system": {"name": "vse"}}, []), ({}, ["system.name=vse"])):
        recipe, reasons = resolve(None, {"corpus": {"name": str(corpus)}, **changes}, assigned, None, "cpu")
        assert recipe.system == {"name": "vse"} and recipe.training == TrainingSettings() and not reasons


def test_longer_trainings_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "multiplications_a_second", lambda device: 1e11)  # however busy this machine is

    def told(pictures: int = 100, **settings: dict[str, object]) -> float:
        values = {"corpus": {"name": "x"}, "system": {"name": "polyglot"}, **settings}
        return seconds(check(Recipe, values, "test"), pictures, 10, torch.device("cpu"), 2)

    steps = {"maximum_steps": 1000}
    assert told(training={"maximum_steps": 10_000}) > told(training=steps) > told(training={"maximum_steps": 10})
    assert told(training=steps, system={"name": "polyglot", "tune": True}) > told(training=steps)
    assert told(10_000, training=steps, features={"views": 12}) > told(10_000, training=steps)
    assert [spoken(n) for n in (5, 60, 200, 8000)] == [
        "less than a minute",
        "about a minute",
        "about 3 minutes",
        "about 2 hours",
    ]
