"""groundling parameters: of runs, one and several, and of the published table."""

from pathlib import Path

import commands
from commands import assert_one_sentence, call, content

own_ground = commands.own_ground  # each test in a folder of its own
world_files, train_world = commands.world_files, commands.train_world


def test_parameters_of_two_runs(train_world: list[str]) -> None:
    assert call(*train_world, "--out", "words").code == 0
    liwe = [*train_world[:4], "liwe", *train_world[5:], "--set", "system.layers=[4]"]
    assert call(*liwe, "--out", "letters").code == 0
    before = content(Path("words"))
    words, letters = call("parameters", "words", "letters", "--json").json
    assert (words["run"], words["system"], words["reduction"]) == ("words", "lessons", 1)
    assert words["word_table"] == {"words": 24, "dimensions": 8, "parameters": 192}
    assert words["trainable"] == words["test_time"] == sum(part["test_time"] for part in words["parts"])
    # Letters have no vocabulary: that of their training captions is counted anew.
    assert letters["word_table"] == words["word_table"]
    of_words = sum(part["test_time"] for part in letters["parts"] if part["for_words"])
    assert letters["for_words"] == of_words
    assert letters["reduction"] == 192 / of_words
    assert content(Path("words")) == before
    said = call("parameters", "words", "letters").out
    for text in ("word table", "character table", "of which for words", "24 × 8 = 192", f"{of_words:,}"):
        assert text in said
    assert call("parameters", "words").out.count("\n") < said.count("\n") / 2  # nothing to compare one run with


def test_a_corpus_that_is_gone_costs_the_comparison_only(train_world: list[str]) -> None:
    liwe = [*train_world[:4], "liwe", *train_world[5:]]
    call(*liwe, "--out", "run")
    recipe = Path("run/recipe.json")
    recipe.write_text(recipe.read_text().replace(train_world[2], "gone"))
    Path("run/checksums.json").unlink()  # else the recipe is damaged
    (found,) = call("parameters", "run", "--json").json
    assert found["for_words"] > 0
    assert "reduction" not in found
    assert 'no corpus, file or folder named "gone"' in call("parameters", "run").out


def test_the_published_table_needs_no_run() -> None:
    rows = call("parameters", "--table", "--json").json
    assert rows[1] == {
        "name": "CLMR-GRU",
        "parameters": 9_000_000,
        "reduction": 1.0,
        "parameters_with_biases": 9_000_000,
        "reduction_with_biases": 1.0,
        "published_millions": 9.0,
        "published_reduction": 1,
    }
    said = call("parameters", "--table").out
    for text in ("LIWE-GRU (1024, 512)", "1,326,632", "1.3M", "46×", "0.08×", "585,001"):
        assert text in said


def test_mistakes(own_ground: Path) -> None:
    assert_one_sentence(call("parameters"), "name one or more models")
    assert_one_sentence(call("parameters", "run", "--table"), "name one or more models")
    assert_one_sentence(call("parameters", "nowhere"), "nowhere: neither the folder of a run")
