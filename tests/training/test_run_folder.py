"""The folder of a run: one writer at a time, and a damaged file is known for it by name."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from conftest import make_recipe, make_world
from groundling.errors import UserError
from groundling.evaluation.compare import compare
from groundling.evaluation.saved import evaluate_run
from groundling.export.write import export_run
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.training import checkpoint, loop, train


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that was trained and evaluated."""
    recipe = make_recipe(training={"maximum_steps": 20})
    run = train(recipe, make_world(), tmp_path_factory.mktemp("runs") / "run", device="cpu")
    evaluate_run(run.folder, device="cpu", dataset=make_world())
    return run


@pytest.fixture
def run(finished: Run, tmp_path: Path) -> Run:
    return Run(Path(shutil.copytree(finished.folder, tmp_path / "run")))


def test_who_comes_second_is_refused(run: Run, tmp_path: Path) -> None:
    """Two trainings into one folder both ended well, with the weights of one and the facts of the other."""
    recipe, world = make_recipe(training={"maximum_steps": 20}), make_world()
    new = Run(tmp_path / "new")
    with new.writing(), pytest.raises(UserError, match="new: is being written by another process"):
        train(recipe, world, new.folder, device="cpu")
    assert not new.recipe_file.exists()
    with run.writing():
        with pytest.raises(UserError, match="is being written"):
            evaluate_run(run.folder, device="cpu", dataset=world)
        assert TrainedModel.load(run.folder, "cpu").languages  # to read is allowed
    train(recipe, world, new.folder, device="cpu")
    assert not list(new.folder.glob(".*"))


def flipped(path: Path, place: float) -> None:
    """One bit of a file, so far into it."""
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] ^= 1
    path.write_bytes(data)


FILES = ["recipe.json", "tokeniser.json", "best.safetensors", "run.json"]


@pytest.mark.parametrize("place", [0.02, 0.3, 0.5, 0.77, 0.999])
@pytest.mark.parametrize("name", FILES)
def test_one_bit_of_a_run_is_noticed(run: Run, name: str, place: float) -> None:
    flipped(run.folder / name, place)
    with pytest.raises(UserError, match=f"{name}: damaged"):
        TrainedModel.load(run.folder, "cpu")


@pytest.mark.parametrize("name", ["ranks.safetensors", "evaluation.json"])
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_one_bit_of_a_result_is_noticed(run: Run, finished: Run, name: str, place: float) -> None:
    assert compare(run, finished).languages
    flipped(run.folder / name, place)
    with pytest.raises(UserError, match=f"{name}: damaged"):
        compare(run, finished)


@pytest.mark.parametrize("lost", ["de.text_to_image", "en.owners", "de.image_to_text"])
def test_ranks_that_are_not_all_there_are_noticed_without_checksums(run: Run, finished: Run, lost: str) -> None:
    (run.folder / "checksums.json").unlink()
    save_file({name: array for name, array in load_file(run.ranks_file).items() if name != lost}, run.ranks_file)
    with pytest.raises(UserError, match=r"ranks\.safetensors: damaged \(not all of (de|en) is there"):
        compare(run, finished)


def test_an_export_of_a_damaged_run_is_none(run: Run, tmp_path: Path) -> None:
    flipped(run.weights_file, 0.5)
    with pytest.raises(UserError, match="damaged"):
        export_run(run.folder, tmp_path / "onnx")
    assert not list(tmp_path.glob("onnx*"))


@pytest.fixture
def stopped(tmp_path: Path) -> Run:
    """A training that was killed in the middle."""
    return stopped_training(tmp_path / "stopped")


def stopped_training(folder: Path) -> Run:
    steps = 0
    real = loop.EagerStep.__call__

    def dies(self: object, *arguments: object) -> object:
        nonlocal steps
        steps += 1
        if steps == 120:
            raise KeyboardInterrupt
        return real(self, *arguments)

    recipe = make_recipe(training={"maximum_steps": 200, "validate_every": 50})
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop.EagerStep, "__call__", dies)
        train(recipe, make_world(), folder, device="cpu", checkpoint_seconds=0)
    return Run(folder)


def _other_value(path: Path) -> None:
    tensors = load_file(path)
    name = next(name for name in tensors if name.startswith("towers."))
    tensors[name].flat[0] += 1
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        about = file.metadata()
    save_file(tensors, path, about)


def _other_word(path: Path) -> None:
    path.write_text(path.read_text().replace("hund", "rund"))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("checkpoint.safetensors", _other_value),
        ("checkpoint.safetensors", lambda path: flipped(path, 0.6)),
        ("checkpoint.safetensors", lambda path: flipped(path, 0.01)),
        ("tokeniser.json", _other_word),
    ],
)
def test_a_training_does_not_go_on_from_damage(stopped: Run, name: str, damage: Callable[[Path], None]) -> None:
    recipe = make_recipe(training={"maximum_steps": 200, "validate_every": 50})
    whole = (stopped.folder / name).read_bytes()
    damage(stopped.folder / name)
    assert (stopped.folder / name).read_bytes() != whole
    with pytest.raises(UserError, match=name):
        train(recipe, make_world(), stopped.folder, resume=True, device="cpu")
    (stopped.folder / name).write_bytes(whole)
    train(recipe, make_world(), stopped.folder, resume=True, device="cpu")
    assert json.loads(stopped.facts_file.read_text())["steps"] == 200


class TestALargeCheckpoint:
    """As if a file could hold but 10 kB."""

    recipe = make_recipe(training={"maximum_steps": 200, "validate_every": 50})

    @pytest.fixture
    def parted(self, stopped: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
        monkeypatch.setattr(checkpoint, "AT_MOST", 10_000)  # after `stopped`, whose checkpoint is one file
        return stopped_training(tmp_path / "parted")

    def parts(self, run: Run) -> list[Path]:
        return sorted(run.folder.glob("checkpoint.step-*"))

    def test_is_several_files_of_one_step_and_goes_on_as_one_file_does(self, parted: Run, stopped: Run) -> None:
        whole, parts = load_file(stopped.checkpoint_file), [load_file(path) for path in self.parts(parted)]
        assert len(parts) >= 3 and len({path.name.split(".")[1] for path in self.parts(parted)}) == 1
        together = [*parts, load_file(parted.checkpoint_file)]
        assert sorted(name for part in together for name in part) == sorted(whole)
        assert all(len(part) == 1 or sum(value.nbytes for value in part.values()) <= 10_000 for part in together)
        for run in (parted, stopped):
            train(self.recipe, make_world(), run.folder, resume=True, device="cpu")
        assert parted.weights_file.read_bytes() == stopped.weights_file.read_bytes()
        assert not list(parted.folder.glob("checkpoint*"))

    def test_the_one_before_is_whole_where_the_next_is_not_written_to_its_end(self, parted: Run) -> None:
        head, before = parted.checkpoint_file.read_bytes(), {path: path.read_bytes() for path in self.parts(parted)}
        real, written = checkpoint._write, 0

        def dies(*arguments: Any) -> int:
            nonlocal written
            written += 1
            if written == 3:
                raise KeyboardInterrupt
            return real(*arguments)

        with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(checkpoint, "_write", dies)
            train(self.recipe, make_world(), parted.folder, resume=True, device="cpu", checkpoint_seconds=0)
        assert parted.checkpoint_file.read_bytes() == head and len(self.parts(parted)) == len(before) + 2
        assert all(path.read_bytes() == data for path, data in before.items())
        train(self.recipe, make_world(), parted.folder, resume=True, device="cpu", checkpoint_seconds=0)
        assert not list(parted.folder.glob("checkpoint*"))

    def test_a_part_that_is_missing_or_of_another_checkpoint_is_named(self, parted: Run) -> None:
        first, second = self.parts(parted)[:2]
        whole = first.read_bytes()
        first.write_bytes(second.read_bytes())
        with pytest.raises(UserError, match=rf"\({first.name} is not what was written\); train anew"):
            train(self.recipe, make_world(), parted.folder, resume=True, device="cpu")
        first.unlink()
        with pytest.raises(UserError, match=rf"\({first.name} is missing\); train anew"):
            train(self.recipe, make_world(), parted.folder, resume=True, device="cpu")
        first.write_bytes(whole)
        train(self.recipe, make_world(), parted.folder, resume=True, device="cpu")
