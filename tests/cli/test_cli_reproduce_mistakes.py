"""groundling reproduce: what is wrong is one sentence, before anything is trained, and leaves what is there alone."""

from pathlib import Path
from typing import Any

import commands
import pytest
import tiny_tables
import yaml
from commands import assert_one_sentence, content
from tiny_tables import reproduce, write_table

base, trained, forget_datasets = tiny_tables.base, tiny_tables.trained, tiny_tables.forget_datasets
own_ground, world_files = commands.own_ground, commands.world_files


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["lesons"], 'no table is called "lesons" (did you mean "lessons"?)'),
        (["lessons/tabel4"], 'no table is called "lessons/tabel4" (did you mean "lessons/table4"?)'),
        (["emoji/languages", "lessons/table44"], '(did you mean "lessons/table4"?)'),
        (["missing.yaml"], "missing.yaml: no such recipe"),
        (["emoji/demo"], "emoji/demo is one recipe; train it with `groundling train emoji/demo`"),
        (["recipe.yaml"], "recipe.yaml is one recipe; train it with `groundling train recipe.yaml`"),
        (["list.yaml"], "list.yaml: a recipe is a mapping of settings"),
        (["lessons/table1"], "GROUNDLING_DATA"),
        (["lessons/table4"], "GROUNDLING_DATA"),
        (["lessons"], "GROUNDLING_DATA"),
        (["tiny.yaml", "--set", "training.sed=1"], 'unknown setting "training.sed" (did you mean "seed"?)'),
        (["tiny.yaml", "--set", "training"], "--set training: write it as key=value"),
        (["tiny.yaml", "--set", "training.batch_size.deep=1"], '"batch_size" is a value, not a group of settings'),
        (["tiny.yaml", "--seed", "-1"], "training.seed"),
        (["tiny.yaml", "wrong.yaml"], 'wrong.yaml: unknown setting "row" (did you mean "rows"?)'),
        (["tiny.yaml", "last.yaml"], 'no system is called "bagg" (did you mean "bag"?)'),
        (["tiny.yaml", "claim.yaml"], 'claims: no row is called "boht" (did you mean "both"?)'),
    ],
)
def test_a_mistake_is_one_sentence_before_anything_is_trained(
    names: list[str], words: str, base: dict[str, Any], trained: list[Path], own_ground: Path
) -> None:
    Path("recipe.yaml").write_text("corpus: {name: world}\n")
    Path("list.yaml").write_text("- corpus\n")
    write_table("tiny.yaml", base)
    write_table("wrong.yaml", base, row=[])
    write_table("last.yaml", base, rows=[{"name": "both"}, {"name": "bad", "set": {"system.name": "bagg"}}])
    write_table("claim.yaml", base, claims=[{"says": "x", "better": "both", "than": "boht"}])
    before = content(own_ground)
    assert_one_sentence(reproduce(*names), words)
    assert trained == []
    assert content(own_ground) == before


def test_a_mistake_in_one_table_leaves_the_page_of_a_table_of_words_alone(
    base: dict[str, Any], world_files: Path
) -> None:
    words = {"title": "Words", "overlap": str(world_files / "corpus"), "languages": ["en", "de"]}
    Path("words.yaml").write_text(yaml.safe_dump(words))
    write_table("bad.yaml", base, rows=[{"name": "bad", "set": {"training.sed": 1}}])
    assert_one_sentence(reproduce("words.yaml", "bad.yaml"), 'unknown setting "training.sed"')
    assert not Path("runs").exists()


@pytest.mark.parametrize("base", [[1], None, "world"])
def test_a_base_that_is_no_recipe_is_one_sentence(base: Any) -> None:
    write_table("tiny.yaml", base)
    assert_one_sentence(reproduce("tiny.yaml"), "base")


def test_out_that_is_a_file_is_one_sentence(base: dict[str, Any]) -> None:
    write_table("tiny.yaml", base)
    Path("note.txt").write_text("not a folder\n")
    assert_one_sentence(reproduce("tiny.yaml", "--out", "note.txt"), "note.txt")
    assert Path("note.txt").read_text() == "not a folder\n"


def test_a_wrong_table_leaves_the_page_of_an_earlier_one_alone(base: dict[str, Any]) -> None:
    write_table("tiny.yaml", base)
    reproduce("tiny.yaml")
    before = content(Path("runs"))
    write_table("tiny.yaml", base, rows=[{"name": "both"}, {"name": "bad", "set": {"corpus.languages": ["fr"]}}])
    assert_one_sentence(reproduce("tiny.yaml"), 'no captions in "fr"')
    assert content(Path("runs")) == before
