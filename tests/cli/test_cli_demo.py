"""groundling demo."""

from pathlib import Path

import commands
import pytest
from commands import assert_one_sentence, call, content

from conftest import make_recipe, make_world
from groundling import recipes
from groundling.dataset import Dataset
from groundling.settings import Recipe

own_ground = commands.own_ground  # each test in a folder of its own


@pytest.fixture
def tiny_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo on the world, in no time."""

    def tiny(name: str, changes: object, assignments: list[str]) -> Recipe:
        seed = int(assignments[0].removeprefix("training.seed="))
        return make_recipe(name="demo", training={"maximum_steps": 10, "seed": seed})

    monkeypatch.setattr(recipes, "resolve", tiny)
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_, **options: make_world()))


def test_the_demo_trains_evaluates_and_replaces_only_a_demo(tiny_demo: None, own_ground: Path) -> None:
    facts = call("demo", "--json").json
    assert facts["run"] == "runs/demo"
    assert facts["pictures"] == 25
    assert 0 < facts["mean"]["text_to_image"]["R@10"] < 100 and 0 < facts["seen"]["text_to_image"]["R@10"] <= 100
    assert (own_ground / facts["report"]).exists()
    first = (own_ground / "runs/demo/best.safetensors").read_bytes()
    said = call("demo", "--seed", 1)
    assert said.code == 0
    assert "Text→image R@10, mean of 2 languages (chance 40.0):" in said.out
    assert "25 pictures that training has never seen" in said.out
    assert "25 pictures that it was trained on" in said.out
    assert "Report: runs/demo/report.html (" in said.out
    assert (own_ground / "runs/demo/best.safetensors").read_bytes() != first
    other_run = '{"name": "other", "corpus": {"name": "x"}}'
    for name, file, text in (("letters", "letter.txt", "dear"), ("other", "recipe.json", other_run)):
        (own_ground / name).mkdir()
        (own_ground / name / file).write_text(text)
        assert_one_sentence(call("demo", "--out", name), f"{name}: holds something else than a demo")
        assert (own_ground / name / file).read_text() == text


def test_a_demo_that_cannot_start_leaves_the_last_one(tiny_demo: None, own_ground: Path) -> None:
    call("demo")
    before = content(own_ground / "runs/demo")
    assert_one_sentence(call("demo", "--device", "toaster"), "toaster")
    assert content(own_ground / "runs/demo") == before
