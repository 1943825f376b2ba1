"""Corpora, systems and recipes by name, and what the command line changes in them."""

import commands
import pytest
from commands import call

from groundling import recipes, systems
from groundling.cli import recipes as recipes_command
from groundling.experiments.overlap import OverlapSettings
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.settings import check, read_yaml

own_ground = commands.own_ground  # each test in a folder of its own


def test_lists_for_people_and_for_programs() -> None:
    corpora = call("corpus", "list", "--json").json
    assert {"emoji", "f8k7", "multi30k-task1"} <= {corpus["name"] for corpus in corpora}
    listed = call("recipes", "--json").json
    assert {(entry["name"], entry["kind"]) for entry in listed} >= {
        ("emoji/demo", "recipe"),
        ("lessons-f8k7/languages", "table"),
        ("bag", "system"),
    }
    for name in ("emoji/demo", "lessons-f8k7/languages", "bag"):
        assert name in call("recipes").out
    assert call("recipes", "emoji/demo", "--json").json["corpus"] == {"name": "emoji"}
    assert "maximum_steps: 1200" in call("recipes", "emoji/bag").out
    assert call("recipes", "bag", "--json").json["properties"]["buckets"]["default"] == 2**16
    assert "of the caption's mean vector" in call("recipes", "bag").out


@pytest.mark.parametrize("name", list(recipes.builtin()))
def test_recipes_that_come_with_it_are_valid(name: str) -> None:
    if not recipes.is_table(read_yaml(recipes.find(name))):
        found = [recipes.resolve(name, {})]
    elif "overlap" in (values := recipes.read_table(name)):
        check(OverlapSettings, values, name)
        return
    else:
        found = [entry.recipe for entry in table_entries(check(TableSettings, values, name))]
    for recipe in found:
        systems.make(recipe.system)


def test_what_stands_on_the_command_line_changes_the_recipe() -> None:
    changed = ["training.seed=4", "system.objective.margin=0.3"]
    recipe, _ = recipes_command.resolve_or_choose("emoji/bag", "mine", "vse", changed, None, "cpu")
    assert recipe.corpus.name == "mine"
    assert recipe.system == {"name": "vse", "objective": {"margin": 0.3}}
    assert recipe.training.seed == 4
    assert recipe.training.batch_size == 1024  # of the recipe
    assert recipe.features.size == 128
