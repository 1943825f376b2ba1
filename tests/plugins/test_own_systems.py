"""A loss, a system and a corpus from outside the package: registered by one line, or declared by another package.

They then train, go on after a stop, are evaluated, listed, told by --help, and stand in tables.
"""

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import own_systems
import pytest
import torch
from own_systems import FLAGS, PairwiseSigmoid, Whitened

from conftest import make_recipe, make_world
from groundling import registry, systems
from groundling.corpus import CORPORA
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.objectives import OBJECTIVES
from groundling.run import Run
from groundling.systems import SYSTEMS
from groundling.training import loop, train
from power_cut import power_cut, same_weights

sys.path.append(str(Path(__file__).parent.parent / "cli"))

import commands
from commands import assert_one_sentence, call

own_ground, world_files = commands.own_ground, commands.world_files

TRAINING = {"batch_size": 16, "maximum_steps": 60, "validate_every": 20, "learning_rate": 1e-2, "precision": "float32"}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each."""
    for one in (OBJECTIVES, SYSTEMS, CORPORA):
        monkeypatch.setattr(one, "_own", dict(one._own))
    OBJECTIVES.register("own_sigmoid", PairwiseSigmoid)
    SYSTEMS.register("own_whitened", Whitened)
    CORPORA.register("own_flags", FLAGS)


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """By entry points of a package that nobody has imported."""
    points = [
        EntryPoint("own_sigmoid", "own_systems:PairwiseSigmoid", "groundling.objectives"),
        EntryPoint("own_whitened", "own_systems:Whitened", "groundling.systems"),
        EntryPoint("own_flags", "own_systems:FLAGS", "groundling.corpora"),
        EntryPoint("broken", "own_systems:Nothing", "groundling.systems"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: [one for one in points if one.group == group])
    for one in (OBJECTIVES, SYSTEMS, CORPORA):
        monkeypatch.setattr(one, "_own", dict(one._own))
        monkeypatch.setattr(one, "_points", None)


def recipe_file(world: Path, system: dict[str, Any]) -> str:
    features = {"array": str(world / "features.npy"), "names": str(world / "names.txt")}
    values = {"name": "tiny", "corpus": {"name": str(world / "corpus")}, "features": features}
    Path("tiny.yaml").write_text(
        json.dumps({**values, "text": {"minimum_count": 1}, "system": system, "training": TRAINING})
    )
    return "tiny.yaml"


OWN = {"name": "own_sigmoid", "temperature": 0.2}
SMALL = {"dimensions": 16, "word_dimensions": 8}
USERS: dict[str, dict[str, Any]] = {
    "vse": {"name": "vse", **SMALL, "objective": OWN},
    "lessons": {"name": "lessons", **SMALL, "objective": OWN, "caption_pairs_after": 5},
    "bag": {"name": "bag", **SMALL, "buckets": 50, "objective": OWN},
    "liwe": {"name": "liwe", **SMALL, "layers": [16], "objective": OWN, "pair_objective": "own_sigmoid"},
    "pivot": {"name": "pivot", **SMALL, "objective": "own_sigmoid"},
    "own": {"name": "own_whitened"},
}


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("name", USERS)
def test_a_loss_of_ones_own_trains_every_system_that_ranks(name: str, world_files: Path) -> None:
    assert call("train", recipe_file(world_files, USERS[name]), "--out", "run", "--device", "cpu").code == 0
    found = call("evaluate", "run", "--json", "--device", "cpu").json["languages"]
    assert all(found[code]["mR"] > 30 for code in ("de", "en")), found  # by chance 16


@pytest.mark.usefixtures("declared")
def test_another_package_declares_them(world_files: Path) -> None:
    assert call("train", recipe_file(world_files, {"name": "own_whitened", "objective": OWN}), "--out", "run").code == 0
    assert call("show", "run", "--json").json["system"] == "own_whitened"
    said = call("recipes")
    assert "own_whitened" in said.out and "own_sigmoid" in said.out
    assert said.err.startswith("groundling: the system broken of own_systems:Nothing cannot be loaded: module 'own_sys")
    assert said.err.count("\n") == 1
    assert "own_flags" in call("corpus", "list").out


@pytest.mark.usefixtures("known")
def test_they_are_listed_shown_and_told_by_help() -> None:
    listed = {(one["name"], one["kind"]): one["about"] for one in call("recipes", "--json").json}
    assert listed["own_sigmoid", "objective"] == "Zhai et al. 2023 (SigLIP)"
    assert listed["own_whitened", "system"] == "nobody"
    assert "that similarities are divided by" in call("recipes", "own_sigmoid").out
    assert "own_sigmoid" in call("recipes", "own_whitened").out  # its default objective
    said = call("recipes", "--help").out
    assert "own_whitened" in said and "own_sigmoid" in said


@pytest.mark.usefixtures("known")
def test_their_mistakes_are_told_like_ours(world_files: Path) -> None:
    wrong = {"name": "vse", "objective": {"name": "own_sigmoid", "temprature": 1}}
    assert_one_sentence(call("train", recipe_file(world_files, wrong)), 'did you mean "temperature"?')
    with pytest.raises(UserError, match='no objective is called "own_sigmoit" \\(did you mean "own_sigmoid"'):
        systems.make({"name": "vse", "objective": "own_sigmoit"})
    with pytest.raises(UserError, match="system own_whitened: dimensions: input should be greater than or equal to 1"):
        systems.make({"name": "own_whitened", "dimensions": 0})


@pytest.mark.usefixtures("known")
def test_they_stand_in_a_table(world_files: Path) -> None:
    base = json.loads(Path(recipe_file(world_files, {"name": "own_whitened"})).read_text())
    rows = [{"name": "ours", "set": {"system.objective": "max_of_hinges"}}, {"name": "theirs"}]
    table = {"title": "Sigmoids", "languages": ["en", "de"], "seeds": [0], "rows": rows}
    del base["name"]
    Path("table.yaml").write_text(json.dumps({**table, "base": base}))
    found = call("reproduce", "table.yaml", "--out", "table", "--device", "cpu", "--json").json
    assert [row["name"] for row in found["rows"]] == ["ours", "theirs"]


@pytest.mark.usefixtures("known")
def test_what_such_a_system_learns_before_goes_on_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOG_EVERY", 10)
    world: Dataset = make_world()
    recipe = make_recipe(training=TRAINING).model_copy(update={"system": {"name": "own_whitened"}})
    whole = train(recipe, world, tmp_path / "whole", device="cpu")
    with power_cut(monkeypatch):
        train(recipe, world, tmp_path / "cut", device="cpu", checkpoint_seconds=0)
    assert Run(tmp_path / "cut").stage_checkpoint("own middle").exists()
    torch.manual_seed(999)
    assert same_weights(whole, train(recipe, world, tmp_path / "cut", resume=True, device="cpu"))


@pytest.mark.usefixtures("known")
def test_what_was_learned_before_is_not_learned_again_after_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at step 10 of the model, after both checkpoints and the last one of what comes before."""
    monkeypatch.setattr(loop, "LOG_EVERY", 10)
    recipe = make_recipe(training=TRAINING).model_copy(update={"system": {"name": "own_whitened"}})
    whole = train(recipe, make_world(), tmp_path / "whole", device="cpu")
    with power_cut(monkeypatch, after=4):
        train(recipe, make_world(), tmp_path / "cut", device="cpu", checkpoint_seconds=0)
    monkeypatch.setattr(own_systems, "distance", None)
    assert same_weights(whole, train(recipe, make_world(), tmp_path / "cut", resume=True, device="cpu"))


@pytest.mark.usefixtures("known")
def test_a_corpus_of_ones_own_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "data" / "flags").mkdir(parents=True)
    found = call("corpus", "inspect", "own_flags", "--data", tmp_path / "data", "--json").json
    assert found["name"] == "own_flags", sorted(found)
