"""groundling compact: a smaller run beside the old one, counted as such; mistakes in one sentence."""

from pathlib import Path

import commands
from commands import assert_one_sentence, call, content

own_ground = commands.own_ground  # each test in a folder of its own
world_files, train_world = commands.world_files, commands.train_world


def test_a_smaller_run_and_its_parameters(train_world: list[str]) -> None:
    mule = [*train_world[:4], "mule", *train_world[5:], "--set", "system.vectors=random"]
    assert call(*mule, "--out", "run").code == 0
    before = content(Path("run"))
    told = call("compact", "run", "--out", "small", "--json").json
    assert content(Path("run")) == before
    (small,) = call("parameters", "small", "--json").json
    assert small["test_time"] == told["parameters"]["compact"] < told["parameters"]["at test time"]
    assert "language classifier" not in {part["name"] for part in small["parts"]}
    said = call("compact", "run", "--out", "again").out
    assert f"{small['test_time']:,} parameters" in said
    kept = content(Path("small"))
    assert_one_sentence(call("compact", "run", "--out", "small"), "small: is there already")
    assert content(Path("small")) == kept
    assert_one_sentence(call("compact", "nowhere", "--out", "other"), "no run here")


def test_words_of_a_folded_run_go_by_their_name(train_world: list[str]) -> None:
    embn = [*train_world[:4], "embn", *train_world[5:], "--set", "system.vectors=random"]
    assert call(*embn, "--set", "corpus.languages=[en]", "--out", "run").code == 0
    assert call("compact", "run", "--out", "small").code == 0
    (small,) = call("parameters", "small", "--json").json
    named = {part["name"] for part in small["parts"]}
    assert "word table" in named
    assert "latent tokens" not in named
