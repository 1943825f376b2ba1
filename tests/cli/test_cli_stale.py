"""An evaluation holds for the weights, statements and settings that it was made from, and for no others."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from commands import assert_one_sentence, call

from groundling import api, training
from groundling.evaluation.saved import why_stale
from groundling.files import read_json, write_json
from groundling.run import Run
from power_cut import power_cut

own_ground, world_files, train_world = commands.own_ground, commands.world_files, commands.train_world

UNFINISHED = "its training has not ended; these are its best weights so far"


def told(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("groundling: ")]


def test_train_kill_evaluate_resume_compare(train_world: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluation of the half-trained run is not taken for that of the whole one."""
    steps = ("--set", "training.maximum_steps=40", "--set", "training.validate_every=10")
    monkeypatch.setattr(api, "run_training", partial(training.train, checkpoint_seconds=0))
    with power_cut(monkeypatch):
        call(*train_world, *steps, "--out", "killed")
    early = call("evaluate", "killed", "--json")
    assert told(early.err) == [f"groundling: killed: {UNFINISHED}"]
    assert not Run(Path("killed")).finished
    assert why_stale(Run(Path("killed"))) is None
    again = call("compare", "killed", "killed", "--samples", "100")
    assert told(again.err) == [f"groundling: killed: {UNFINISHED}"]

    assert call("train", "--resume", "killed").code == 0
    assert call(*train_world, *steps, "--out", "whole").code == 0
    whole = call("evaluate", "whole", "--json").json
    assert whole["mean"] != early.json["mean"]
    compared = call("compare", "whole", "killed", "--samples", "100", "--json")
    assert told(compared.err) == [
        "groundling: killed: its weights have changed since it was evaluated; evaluating it again"
    ]
    (found,) = compared.json
    differences = [way["difference"] for part in found["languages"].values() for way in part.values()]
    assert differences == [0] * 4  # the resumed training ended in the same weights
    assert read_json(Path("killed/evaluation.json"))["mean"] == whole["mean"]
    assert told(call("compare", "whole", "killed", "--samples", "100").err) == []  # once is enough


@pytest.fixture
def run(train_world: list[str]) -> Run:
    assert call(*train_world, "--out", "run").code == 0
    assert call("evaluate", "run").code == 0
    return Run(Path("run"))


def test_what_it_was_made_from_stands_in_the_file(run: Run) -> None:
    made = read_json(run.evaluation_file)["made_from"]
    assert set(made) == {"weights", "corpus", "settings"}
    assert set(made["corpus"]) == {"en", "de"}
    assert "made_from" not in call("evaluate", "run", "--json").json  # it is for the file


def rewrite(run: Run, file: Path, value: Any) -> None:
    """As groundling itself would: a file that somebody else changed is damaged."""
    with run.rewriting(file):
        write_json(file, value)


def change_recipe(run: Run, group: str, **values: Any) -> None:
    recipe = read_json(run.recipe_file)
    rewrite(run, run.recipe_file, {**recipe, group: {**recipe[group], **values}})


def test_other_settings_are_noticed(run: Run) -> None:
    assert why_stale(run) is None
    change_recipe(run, "training", patience=7)  # asks and answers stay the same
    assert why_stale(run) is None
    change_recipe(run, "evaluation", captions="first")
    assert why_stale(run) == "its settings have changed since it was evaluated"
    other = shutil.copytree("run", "other")
    compared = call("compare", "run", "other", "--samples", "100")
    assert compared.code == 0
    assert len(told(compared.err)) == 2
    assert why_stale(Run(Path(other))) is None


def test_an_evaluation_of_an_older_version_is_made_anew_where_it_can_be(run: Run) -> None:
    data = read_json(run.evaluation_file)
    del data["made_from"]
    rewrite(run, run.evaluation_file, data)
    run.weights_file.rename("weights")
    assert why_stale(run) is None  # as after a table: there is nothing else to go by
    Path("weights").rename(run.weights_file)
    said = call("compare", "run", "run", "--samples", "100")
    assert told(said.err) == ["groundling: run: nobody knows which weights were evaluated; evaluating it again"]


def test_the_same_queries_in_other_words_are_not_the_same(run: Run, world_files: Path) -> None:
    """Owners and counts agree, and yet these are not the captions that the other run was asked."""
    other = Run(Path(shutil.copytree("run", "other")))
    data = read_json(other.evaluation_file)
    data["made_from"]["corpus"]["de"] = "0" * 64
    rewrite(other, other.evaluation_file, data)
    assert_one_sentence(call("compare", "run", "other"), "were not tested on the same de captions and pictures")


def test_evaluation_json_comes_last(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Power that fails before it leaves no evaluation, rather than one of other ranks."""
    from groundling.evaluation import saved

    def fail(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(saved, "write_json", fail)
    call("evaluate", "run")
    assert not run.evaluation_file.exists()
    assert run.ranks_file.exists()
    assert_one_sentence(call("compare", "run", "run"), "evaluate it first: groundling evaluate run")
    assert json.loads(run.facts_file.read_text())  # the run itself is as it was
