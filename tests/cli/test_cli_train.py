"""groundling train: nothing is begun that cannot be done, and nothing that was done is lost."""

from pathlib import Path

import commands
import pytest
from commands import assert_one_sentence, call, content

from groundling.corpus.storage import load, save

own_ground = commands.own_ground  # each test in a folder of its own
world_files, train_world = commands.world_files, commands.train_world


@pytest.mark.parametrize("device", ["toaster", "cpu:x", "meta", "vulkan"])
def test_a_device_that_cannot_compute_is_named(device: str, train_world: list[str], own_ground: Path) -> None:
    """Torch knows more names than it can compute on; the run folder must not be begun for any of them."""
    assert_one_sentence(call(*train_world, "--out", "run", "--device", device), device)
    assert not (own_ground / "run").exists()


def test_a_wrong_setting_of_the_system_is_named_before_the_run_is_begun(
    train_world: list[str], own_ground: Path
) -> None:
    said = call(*train_world, "--set", "system.dimensionss=1", "--out", "run")
    assert_one_sentence(said, 'system lessons: unknown setting "dimensionss" (did you mean "dimensions"?)')
    said = call(*train_world, "--system", "lesson", "--out", "run")
    assert_one_sentence(said, 'no system is called "lesson" (did you mean "lessons"?)')
    assert not (own_ground / "run").exists()


def test_a_run_is_not_overwritten_and_can_be_resumed(train_world: list[str], own_ground: Path) -> None:
    facts = call(*train_world, "--out", "run", "--json").json
    assert facts["run"] == "run"
    assert facts["steps"] == 10
    before = content(own_ground / "run")
    assert_one_sentence(call(*train_world, "--out", "run"), "run: a run is there already; go on with --resume")
    assert content(own_ground / "run") == before
    said = call("train", "--resume", "run")  # it has ended: nothing to do
    assert "run: 10 steps" in said.out
    assert "of at most 1,200 (R@1, R@5 and R@10 in percent, both directions, 2 languages, summed)" in said.out
    assert said.out.splitlines()[1] == "Next: groundling evaluate run"
    assert content(own_ground / "run") == before
    (own_ground / "run/run.json").unlink()  # as if it had been cut off at its end
    again = call("train", "--resume", "run", "--json")
    assert again.json["best_score"] == facts["best_score"]
    assert "run: stopped before its first checkpoint, so that the training begins from nothing" in again.err
    assert (own_ground / "run/best.safetensors").read_bytes() == before["best.safetensors"]
    (own_ground / "mine").mkdir()
    (own_ground / "mine/letter.txt").write_text("dear")
    assert_one_sentence(call(*train_world, "--out", "mine"), "mine: not empty and not a run")
    assert content(own_ground / "mine") == {"letter.txt": b"dear"}


def test_without_a_system_ours_is_trained_and_says_why(world_files: Path, own_ground: Path) -> None:
    features = [f"features.array={world_files / 'features.npy'}", f"features.names={world_files / 'names.txt'}"]
    assigned = [part for setting in (*features, "training.maximum_steps=20") for part in ("--set", setting)]
    told = call("train", "--corpus", world_files / "corpus", *assigned, "--out", "mine")
    assert told.code == 0
    assert "groundling: system polyglot, our own: 100 training pictures, 400 captions in 2 languages" in told.err
    assert "groundling: training takes " in told.err
    assert call("evaluate", "mine", "--json").json["mean"]["mR"] > 20


def test_what_comes_next_can_be_done(world_files: Path, train_world: list[str], own_ground: Path) -> None:
    """Where the corpus has nothing to test on, evaluating it is not offered."""
    corpus = load(world_files / "corpus")
    save(corpus.keep_pictures(corpus.splits != "test"), own_ground / "untested")
    arguments = ["untested" if part == str(world_files / "corpus") else part for part in map(str, train_world)]
    assert "untested" in arguments
    said = call(*arguments, "--out", "run")
    assert said.code == 0, said.err
    assert "groundling evaluate" not in said.out
    assert "Next: groundling index" in said.out
