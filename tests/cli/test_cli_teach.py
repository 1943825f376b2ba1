"""groundling teach: a language is added to a run from a file of sentence pairs."""

import os
import subprocess
import sys
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content
from safetensors.numpy import load_file

import groundling
from conftest import ENGLISH, GERMAN
from groundling.corpus import storage
from groundling.model import Model
from judged_world import make_judged
from power_cut import kill_9

own_ground = commands.own_ground  # each test in a folder of its own
world_files = commands.world_files
SPANISH = ["perro", "gato", "árbol", "coche", "casa", "barco", "sol", "pez", "pájaro", "caballo"]


@pytest.fixture(scope="module")
def teacher(world_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that knows English, and its corpus German, too."""
    folder = tmp_path_factory.mktemp("teacher") / "english"
    settings = [
        f"features.array={world_files / 'features.npy'}",
        f"features.names={world_files / 'names.txt'}",
        *("system.dimensions=24", "system.word_dimensions=12", "text.minimum_count=1", "corpus.languages=[en]"),
        *("training.batch_size=32", "training.learning_rate=5e-3"),
        *("training.maximum_steps=150", "training.validate_every=50", "training.precision=float32"),
    ]
    assigned = [part for setting in settings for part in ("--set", setting)]
    corpus = ["--corpus", str(world_files / "corpus"), "--system", "vse"]
    assert call("train", *corpus, *assigned, "--out", folder, "--device", "cpu").code == 0
    return folder


def write_pairs(path: Path, words: list[str], number: int = 300, header: str = "") -> Path:
    draw = np.random.default_rng(1)
    lines = [header] if header else []
    for _ in range(number):
        chosen = draw.choice(len(ENGLISH), 3, replace=False)
        lines.append(" ".join(ENGLISH[at] for at in chosen) + "\t" + " ".join(words[at] for at in chosen))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_german_from_pairs_finds_pictures_that_it_did_not_find_before(teacher: Path, own_ground: Path) -> None:
    pairs, before = write_pairs(own_ground / "pairs.tsv", GERMAN), content(teacher)
    result = call("teach", teacher, "--language", "de", "--pairs", pairs, "--out", "new", "--steps", 200, "--json").json
    assert result["languages"] == ["en", "de"]
    different = len(set(pairs.read_text().splitlines()))  # what is there twice is learned once
    assert sum(result["pairs"].values()) == different < 300
    assert result["pairs"]["train"] > 0.75 * different
    assert result["after"]["test"]["mR"] > result["before"]["test"]["mR"] + 30
    assert result["after"]["matching"]["to_known"] > 80 > result["before"]["matching"]["to_known"]
    assert result["old_languages_unchanged"] is True
    assert content(teacher) == before
    # An ordinary run: evaluated in both languages, and found to be what was shown.
    evaluated = call("evaluate", "new", "--json").json
    assert evaluated["languages"]["de"]["mR"] == pytest.approx(result["after"]["test"]["mR"])
    assert evaluated["languages"]["en"] == call("evaluate", teacher, "--json").json["languages"]["en"]
    counted = [call("parameters", run, "--json").json[0] for run in (teacher, "new")]
    added = (4 + len(GERMAN)) * 12 + 3 * 24 * (12 + 24 + 2)  # words and a reader
    assert counted[1]["test_time"] == counted[0]["test_time"] + added


def test_a_second_language_after_the_first_and_what_people_are_shown(teacher: Path, own_ground: Path) -> None:
    german = write_pairs(own_ground / "de.tsv", GERMAN)
    spanish = write_pairs(own_ground / "es.tsv", SPANISH, header="en\tes")
    steps = ["--steps", 30]
    assert call("teach", teacher, "--language", "de", "--pairs", german, "--out", "one", *steps).code == 0
    said = call(
        "teach", "one", "--language", "es", "--pairs", spanish, "--out", "two", "--student", "characters", *steps
    )
    assert said.code == 0, said.err
    assert "Spanish (es), taught by one (characters)" in said.out
    assert "The old languages are encoded as before, bit for bit." in said.out
    assert 'has no test captions in "es"' in said.out
    assert "two: reads en, de, es" in said.out
    one, two = Model.load("one", "cpu"), Model.load("two", "cpu")
    for code, words in (("en", ENGLISH), ("de", GERMAN)):
        assert np.array_equal(one.encode_text(words, code), two.encode_text(words, code))
    said = call("teach", "two", "--language", "de", "--pairs", german, "--out", "three", "--from", "es")
    assert_one_sentence(said, 'the teacher knows "de" already; to have a student read it instead, say --again')
    assert not (own_ground / "three").exists()


def test_pairs_from_a_corpus(teacher: Path, world_files: Path, own_ground: Path) -> None:
    said = call("teach", teacher, "--language", "de", "--corpus", world_files / "corpus", "--steps", 20, "--json")
    assert said.json["pairs"] == {"train": 200, "dev": 50, "test": 50}
    assert said.json["run"] == f"{teacher}+de"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--language", "de"], "say what to learn from: --pairs FILE.tsv, or --corpus NAME"),
        (["--language", "de", "--pairs", "good.tsv", "--corpus", "x"], "say what to learn from"),
        (["--language", "de", "--pairs", "none.tsv"], "none.tsv: no such file"),
        (["--language", "German", "--pairs", "good.tsv"], '--language: language "German" is not a code'),
        (["--language", "en", "--pairs", "good.tsv"], 'the teacher knows "en" already'),
        (["--language", "de", "--pairs", "good.tsv", "--from", "de"], "the known language cannot be the new one"),
        (["--language", "de", "--pairs", "good.tsv", "--from", "fr"], 'the teacher does not know "fr"'),
        (["--language", "de", "--pairs", "few.tsv"], "few.tsv: 10 pairs of"),
        (["--language", "de", "--pairs", "torn.tsv"], "torn.tsv:1: no tab in this line"),
        (["--language", "de", "--pairs", "good.tsv", "--student", "pupil"], "a student is one of words, encoder"),
        (["--language", "de", "--pairs", "good.tsv", "--test", "nowhere"], 'no corpus, file or folder named "nowhere"'),
        (
            ["--language", "fi", "--pairs", "good.tsv", "--student", "use"],
            'Encoder does not know "fi"',
        ),
        (["--language", "de", "--pairs", "good.tsv", "--device", "toaster"], "toaster"),
        (["--language", "fr", "--corpus", "CORPUS"], 'has nothing in "fr"'),
    ],
)
def test_mistakes_are_told_before_anything_is_begun(
    options: list[str], words: str, teacher: Path, world_files: Path, own_ground: Path
) -> None:
    write_pairs(own_ground / "good.tsv", GERMAN)
    write_pairs(own_ground / "few.tsv", GERMAN, 10)
    (own_ground / "torn.tsv").write_text("a dog ein Hund\n" * 60)
    options = [str(world_files / "corpus") if option == "CORPUS" else option for option in options]
    assert_one_sentence(call("teach", teacher, *options, "--out", "new"), words)
    assert not (own_ground / "new").exists()


def test_a_run_that_is_there_is_not_overwritten(teacher: Path, own_ground: Path) -> None:
    pairs = write_pairs(own_ground / "pairs.tsv", GERMAN)
    lesson = ["teach", teacher, "--language", "de", "--pairs", pairs, "--out", "new", "--steps", 10]
    assert call(*lesson).code == 0
    before = content(own_ground / "new")
    assert_one_sentence(call(*lesson), "new: a run is there already")
    assert content(own_ground / "new") == before
    assert_one_sentence(call(*lesson[:-1], 20, "--resume"), "new: holds a run of another recipe")
    assert_one_sentence(call("teach", "nothing", *lesson[2:]), "nothing: neither the folder of a run")


def test_kill_9_then_resume_gives_the_same_student(teacher: Path, own_ground: Path) -> None:
    pairs = write_pairs(own_ground / "pairs.tsv", GERMAN)
    lesson = ["teach", str(teacher), "--language", "de", "--pairs", str(pairs), "--steps", "150", "--device", "cpu"]
    assert call(*lesson, "--out", "whole").code == 0
    hurry = (  # a checkpoint at every chance
        "import sys, groundling.training.loop as loop, groundling.training.teaching as teaching, torch\n"
        "torch.set_num_threads(1)\n"
        "teaching.train = lambda *a, **k: loop.train(*a, **k, checkpoint_seconds=0)\n"
        "from groundling.cli import main\nmain(sys.argv[1:])"
    )
    command = [sys.executable, "-c", hurry, *lesson, "--out", "killed"]
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kill_9(child, (own_ground / "killed/checkpoint.safetensors").exists)
    assert not (own_ground / "killed/taught.json").exists()
    said = call(*lesson, "--out", "killed", "--resume", "--json").json
    assert said["after"]["matching"] == call(*lesson, "--out", "whole", "--resume", "--json").json["after"]["matching"]
    one, other = (load_file(own_ground / name / "best.safetensors") for name in ("whole", "killed"))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_judge_is_taught_by_statements_and_shows_what_it_judges_right(own_ground: Path) -> None:
    world = make_judged()
    storage.save(world.corpus, own_ground / "corpus")
    np.save(own_ground / "features.npy", world.features)
    (own_ground / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    settings = [
        *("features.array=features.npy", "features.names=names.txt", "text.minimum_count=1", "corpus.languages=[en]"),
        *("system.dimensions=16", "system.word_dimensions=8", "system.hidden=32", "training.batch_size=64"),
        *("training.learning_rate=1e-2", "training.maximum_steps=150", "training.validate_every=50"),
    ]
    assigned = [part for setting in settings for part in ("--set", setting)]
    assert call("train", "--corpus", "corpus", "--system", "clip_ve", *assigned, "--out", "judge").code == 0
    lesson = ["teach", "judge", "--language", "de", "--corpus", "corpus", "--out", "both", "--steps", 100]
    said = call(*lesson)
    assert said.code == 0, said.err
    assert "statements of judged, % judged right" in said.out
    result = call(*lesson, "--resume", "--json").json  # it has ended: only told again
    assert result["task"] == "entailment"
    assert result["after"]["test"]["accuracy"] > result["before"]["test"]["accuracy"] + 5
    evaluated = call("evaluate", "both", "--json").json["languages"]
    assert evaluated["de"]["accuracy"] == result["after"]["test"]["accuracy"]
    assert evaluated["en"] == call("evaluate", "judge", "--json").json["languages"]["en"]
