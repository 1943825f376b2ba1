"""One sentence for every mistake, and nothing left behind."""

from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call
from shapes import draw_shapes, write_table

from conftest import make_world
from groundling.dataset import Dataset

own_ground = commands.own_ground  # each test in a folder of its own
world_files, train_world = commands.world_files, commands.train_world


@pytest.fixture
def things(own_ground: Path) -> Path:
    """Small files that the mistakes below are made with."""
    (own_ground / "list.yaml").write_text("- corpus\n- system\n")
    (own_ground / "broken.yaml").write_text("corpus: [\n")
    (own_ground / "recipe.yaml").write_text("corpus: {name: world}\n")
    table = "title: T\nlanguages: [en]\nbase: {corpus: {name: world}}\nrows: [{name: a}]\n"
    (own_ground / "table.yaml").write_text(table)
    (own_ground / "folder.yaml").mkdir()
    (own_ground / "note.txt").write_text("not a folder\n")
    np.save(own_ground / "P.npy", np.eye(3))
    np.save(own_ground / "C.npy", np.eye(3))
    np.save(own_ground / "O.npy", np.arange(3))
    np.save(own_ground / "narrow.npy", np.eye(3)[:, :2])
    np.save(own_ground / "beyond.npy", np.array([0, 1, 3]))
    (own_ground / "cut.npy").write_bytes((own_ground / "P.npy").read_bytes()[:-8])
    return own_ground


MISTAKES = {
    "trian": 'no such command "trian" (did you mean "train"',
    "corpus biuld x": 'no such command "biuld" (did you mean "build"?); see',
    "train --stes 3": "No such option: --stes",
    "evaluate --vectors P.npy": "--vectors",
    "demo --seed many": "--seed",
    "demo --seed -1": "--seed",
    "reproduce table.yaml --jobs 0": "--jobs",
    "features recipe.yaml --size big": "--size",
    "corpus build recipe.yaml": "--out",
    "train": "name a recipe",
    "train emoji/dmo": 'no recipe is called "emoji/dmo" (did you mean "emoji/demo"?)',
    "train missing.yaml": "missing.yaml: no such recipe",
    "train list.yaml": "list.yaml: a recipe is a mapping of settings",
    "train broken.yaml": "broken.yaml: not valid YAML",
    "train table.yaml": "run it with `groundling reproduce table.yaml`",
    "train lessons-f8k7/languages": "run it with `groundling reproduce lessons-f8k7/languages`",
    "reproduce recipe.yaml": "train it with `groundling train recipe.yaml`",
    "reproduce emoji/demo": "train it with `groundling train emoji/demo`",
    "reproduce list.yaml": "list.yaml: a recipe is a mapping of settings",
    "reproduce nothing": 'no table is called "nothing"',
    "recipes nothing": 'no recipe is called "nothing"',
    "train recipe.yaml": 'no corpus, file or folder named "world"',
    "train --corpus emojy": 'no corpus, file or folder named "emojy" (did you mean "emoji"?)',
    "train --corpus f8k7": "GROUNDLING_DATA",
    "train --corpus f8k7 --data nowhere": "nowhere: no such folder",
    "train recipe.yaml --set training.sed=1": 'unknown setting "training.sed" (did you mean "seed"?)',
    "train recipe.yaml --set training.seed=x": "recipe.yaml: training.seed",
    "train recipe.yaml --set seed": "--set seed: write it as key=value",
    "reproduce table.yaml --set training.sed=1": 'unknown setting "training.sed"',
    "train --resume nowhere": "nowhere: no run to resume here",
    "train recipe.yaml --resume nowhere": "--resume takes the run's own recipe",
    "evaluate nowhere": "nowhere: neither the folder of a run",
    "evaluate note.txt": "note.txt: neither the folder of a run",
    "evaluate nowhere --split nope": '--split: "nope" is not train, dev or test',
    "evaluate nowhere --captions some": '--captions: "some" is not first or all',
    "evaluate": "give either a model or --vectors",
    "evaluate nowhere --vectors P.npy C.npy": "give either a model or --vectors",
    "evaluate nowhere --owners O.npy": "--owners goes with --vectors",
    "evaluate --vectors P.npy C.npy": "--vectors needs --owners",
    "evaluate --vectors P.npy missing.npy --owners O.npy": "missing.npy: no such file",
    "evaluate --vectors cut.npy C.npy --owners O.npy": "cut.npy: a damaged .npy file",
    "evaluate --vectors P.npy note.txt --owners O.npy": "note.txt: not an .npy file",
    "evaluate --vectors P.npy narrow.npy --owners O.npy": "vectors of 3 dimensions but narrow.npy of 2",
    "evaluate --vectors P.npy C.npy --owners beyond.npy": "beyond.npy: row 2 is 3, but P.npy has 3 pictures",
    "features nowhere": 'no corpus, file or folder named "nowhere"',
    "features nowhere --size 7": "size: input should be greater than or equal to 32",
    "corpus inspect nowhere": 'no corpus, file or folder named "nowhere"',
    "corpus build nowhere --out x": 'no corpus, file or folder named "nowhere"',
    "corpus build note.txt --out x": "note.txt: not a table",
    "corpus inspect emoji --split nope": "nope",
    "train folder.yaml": "folder.yaml",
}


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_one_sentence_and_leaves_nothing_behind(command: str, things: Path) -> None:
    before = sorted(path.name for path in things.iterdir())
    assert_one_sentence(call(*command.split()), MISTAKES[command])
    assert sorted(path.name for path in things.iterdir()) == before


@pytest.mark.parametrize("command", ["train", "corpus", "features", "demo"])
def test_out_that_is_a_file_is_one_sentence(
    command: str, train_world: list[str], things: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_, **options: make_world()))
    write_table(things / "shapes", draw_shapes(things / "shapes")[:2])
    arguments = {
        "train": train_world,
        "corpus": ["corpus", "build", "shapes"],
        "features": ["features", "shapes", "--size", "32"],
        "demo": ["demo"],
    }
    assert_one_sentence(call(*arguments[command], "--out", "note.txt"), "note.txt")
    assert (things / "note.txt").read_text() == "not a folder\n"
