"""The command line: help without waiting, one sentence for every mistake, and a whole journey on data of one's own."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image, ImageDraw

import groundling
from conftest import make_recipe, make_world
from groundling import progress
from groundling.cli import main
from groundling.cli import recipes as recipes_command
from groundling.corpus import catalogue, storage
from groundling.dataset import Dataset
from groundling.settings import Recipe
from groundling.vision.backbones import Backbone


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


def call(*arguments: object) -> Said:
    """`groundling ARGUMENTS` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return Said(stop.value.code or 0, out.getvalue(), err.getvalue())  # type: ignore[arg-type]


def child(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, text=True, timeout=60, **options)


def assert_one_sentence(said: Said, words: str) -> None:
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("groundling: ")
    assert said.err.count("\n") == 1, said.err
    assert said.err.endswith("\n")
    assert "Traceback" not in said.err
    assert words in said.err


@pytest.fixture(autouse=True)
def own_ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Each test in a folder of its own, with a cache of its own and no data sets."""
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    progress.show(False)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- help


HEAVY = ["torch", "transformers", "pyarrow", "PIL", "numpy"]
WHAT_HELP_IMPORTS = f"""
import sys
from groundling.cli import main
try:
    main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
print([name for name in {HEAVY} if name in sys.modules], code, file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["train", "--help"], ["corpus", "build", "--help"], ["--version"]])
def test_help_does_not_wait_for_what_it_does_not_need(arguments: list[str]) -> None:
    said = child(WHAT_HELP_IMPORTS, *arguments, capture_output=True)
    assert said.stderr == "[] 0\n"
    assert said.stdout.strip()


def test_help_names_every_command_and_a_group_without_one_shows_its_help() -> None:
    said = call("--help")
    for command in ("demo", "corpus", "features", "train", "evaluate", "reproduce", "recipes"):
        assert f"\n  {command} " in said.out
    assert call("--version").out == f"groundling {groundling.__version__}\n"
    for group in ([], ["corpus"]):
        said = call(*group)
        assert said.code == 2
        assert "Usage: groundling" in said.err


def test_an_exit_code_and_a_sentence_reach_the_shell() -> None:
    said = child("from groundling.cli import main; main()", "train", "nope", capture_output=True)
    assert_one_sentence(Said(said.returncode, said.stdout, said.stderr), 'no recipe is called "nope"')


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_early_gets_no_traceback(options: list[str]) -> None:
    """`groundling corpus list | head -0`"""
    reader, writer = os.pipe()
    os.close(reader)
    said = child(
        "from groundling.cli import main; main()", "corpus", "list", *options, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert said.stderr == ""


def test_control_c_stops_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "names", interrupted)
    assert call("corpus", "list") == (130, "", "groundling: stopped\n")


def test_a_mistake_of_ours_is_not_passed_off_as_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(catalogue, "names", broken)
    with pytest.raises(ZeroDivisionError):
        main(["corpus", "list"])


# --- a user's mistakes


@pytest.fixture
def things(own_ground: Path) -> Path:
    """Small files that the mistakes below are made with."""
    (own_ground / "list.yaml").write_text("- corpus\n- system\n")
    (own_ground / "broken.yaml").write_text("corpus: [\n")
    (own_ground / "recipe.yaml").write_text("corpus: {name: world}\n")
    table = "title: T\nlanguages: [en]\nbase: {corpus: {name: world}}\ncells: [{name: a}]\n"
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
    "trian": "No such command 'trian'",
    "corpus biuld x": "No such command 'biuld'",
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
    "train f8k7/languages": "run it with `groundling reproduce f8k7/languages`",
    "reproduce recipe.yaml": "train it with `groundling train recipe.yaml`",
    "reproduce emoji/demo": "train it with `groundling train emoji/demo`",
    "reproduce list.yaml": "list.yaml: a recipe is a mapping of settings",
    "reproduce nothing": 'no recipe is called "nothing"',
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
    "evaluate nowhere": "nowhere: no run here",
    "evaluate note.txt": "note.txt: no run here",
    "evaluate nowhere --split nope": '--split: "nope" is not train, dev or test',
    "evaluate nowhere --captions some": '--captions: "some" is not first or all',
    "evaluate": "give either a run folder or --vectors",
    "evaluate nowhere --vectors P.npy C.npy": "give either a run folder or --vectors",
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


@pytest.fixture(scope="module")
def world_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, world = tmp_path_factory.mktemp("world"), make_world()
    storage.save(world.corpus, folder / "corpus")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    return folder


@pytest.fixture
def train_world(world_files: Path) -> list[str]:
    """`train` on the world, in no time."""
    settings = [
        f"features.array={world_files / 'features.npy'}",
        f"features.names={world_files / 'names.txt'}",
        *("system.dimensions=8", "system.word_dimensions=8", "text.minimum_count=1"),
        *("training.batch_size=16", "training.maximum_steps=10"),
    ]
    assigned = [part for setting in settings for part in ("--set", setting)]
    return ["train", "--corpus", str(world_files / "corpus"), "--system", "lessons", *assigned]


@pytest.mark.parametrize("device", ["toaster", "cpu:x", "meta", "vulkan"])
def test_a_device_that_cannot_compute_is_named(device: str, train_world: list[str], own_ground: Path) -> None:
    """Torch knows more names than it can compute on; the run folder must not be begun for any of them."""
    assert_one_sentence(call(*train_world, "--out", "run", "--device", device), device)
    assert not (own_ground / "run").exists()


def test_a_wrong_setting_of_the_system_is_named_before_the_run_is_begun(
    train_world: list[str], own_ground: Path
) -> None:
    said = call(*train_world, "--set", "system.marginn=1", "--out", "run")
    assert_one_sentence(said, 'system lessons: unknown setting "marginn" (did you mean "margin"?)')
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
    assert content(own_ground / "run") == before
    (own_ground / "run/run.json").unlink()  # as if it had been cut off at its end
    assert call("train", "--resume", "run", "--json").json["best_score"] == facts["best_score"]
    assert (own_ground / "run/best.safetensors").read_bytes() == before["best.safetensors"]
    (own_ground / "mine").mkdir()
    (own_ground / "mine/letter.txt").write_text("dear")
    assert_one_sentence(call(*train_world, "--out", "mine"), "mine: not empty and not a run")
    assert content(own_ground / "mine") == {"letter.txt": b"dear"}


@pytest.mark.parametrize("command", ["train", "corpus", "features", "demo"])
def test_out_that_is_a_file_is_one_sentence(
    command: str, train_world: list[str], things: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_: make_world()))
    write_table(things / "shapes", draw_shapes(things / "shapes")[:2])
    arguments = {
        "train": train_world,
        "corpus": ["corpus", "build", "shapes"],
        "features": ["features", "shapes", "--size", "32"],
        "demo": ["demo"],
    }
    assert_one_sentence(call(*arguments[command], "--out", "note.txt"), "note.txt")
    assert (things / "note.txt").read_text() == "not a folder\n"


# --- vectors of anybody


def test_vectors_of_anybody_by_hand(own_ground: Path) -> None:
    """Dot products of three pictures (columns) with four captions, and their owners:

    c0 2 0 1 (owner 0, rank 1), c1 0 2 1 (owner 2, rank 2), c2 2 4 3 (owner 1, rank 1), c3 6 2 4 (owner 1, rank 3).
    p0's best own caption has 2, a tie with c2 and less than c3: rank 3. p1's has 4: rank 1. p2's has 1, a tie with c0
    and less than c2 and c3: rank 4. Ties count against the model.
    """
    np.save(own_ground / "P.npy", np.array([[2, 0], [0, 2], [1, 1]], dtype=np.float32))
    np.save(own_ground / "C.npy", np.array([[1, 0], [0, 1], [1, 2], [3, 1]], dtype=np.float32))
    np.save(own_ground / "O.npy", np.array([0, 2, 1, 1]))
    arguments = ["evaluate", "--vectors", "P.npy", "C.npy", "--owners", "O.npy"]
    third = pytest.approx(100 / 3)
    assert call(*arguments, "--json").json == {
        "text_to_image": {"R@1": 50, "R@5": 100, "R@10": 100, "median": 1.5, "mean": 1.75},
        "image_to_text": {"R@1": third, "R@5": 100, "R@10": 100, "median": 3, "mean": pytest.approx(8 / 3)},
        "rsum": pytest.approx(450 + 100 / 3),
        "mR": pytest.approx((450 + 100 / 3) / 6),
        "pictures": 3,
        "captions": 4,
    }
    table = call(*arguments).out
    for number in ("50.0", "33.3", "100.0", "80.6"):
        assert number in table
    assert sorted(path.name for path in own_ground.iterdir()) == ["C.npy", "O.npy", "P.npy"]


# --- a journey on data of one's own


COLOURS = {
    "red": ("rot", (220, 30, 30)),
    "green": ("grün", (30, 180, 60)),
    "blue": ("blau", (40, 60, 220)),
    "yellow": ("gelb", (240, 220, 40)),
    "black": ("schwarz", (15, 15, 15)),
    "white": ("weiß", (245, 245, 245)),
}
SHAPES = {"square": "Quadrat", "circle": "Kreis"}
SPLIT_OF_COPY = ["train", "train", "dev", "test"]


def draw_shapes(folder: Path) -> list[list[str]]:
    """Four PNGs of each colour and shape, a little different; rows of a captions table in two languages."""
    draw = np.random.default_rng(0)
    (folder / "png").mkdir(parents=True)
    rows = []
    for copy, split in enumerate(SPLIT_OF_COPY):
        for colour, (farbe, rgb) in COLOURS.items():
            for shape, form in SHAPES.items():
                name = f"png/{colour}-{shape}-{copy}.png"
                picture = Image.new("RGB", (64, 64), (128, 128, 128))
                left, top, size = draw.integers(4, 14), draw.integers(4, 14), draw.integers(36, 46)
                box = [int(left), int(top), int(left + size), int(top + size)]
                pencil = ImageDraw.Draw(picture)
                (pencil.rectangle if shape == "square" else pencil.ellipse)(box, fill=rgb)
                picture.save(folder / name)
                rows.append([name, "en", f"a {colour} {shape}", split])
                rows.append([name, "de", f"{form}, {farbe}", split])
    return rows


def write_table(folder: Path, rows: list[list[str]]) -> None:
    with (folder / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["picture", "language", "text", "split"], *rows])


class Journey(NamedTuple):
    folder: Path
    built: Any
    inspected: Any
    features: Any
    facts: Any
    evaluation: Any
    report: Said


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """From a folder of pictures to a report, as a newcomer would go; the tests below look at what it left."""
    folder = tmp_path_factory.mktemp("journey")
    write_table(folder / "shapes", draw_shapes(folder / "shapes"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(folder / "cache"))
        patch.delenv("GROUNDLING_DATA", raising=False)
        patch.chdir(folder)
        built = call("corpus", "build", "shapes", "--out", "corpus", "--json").json
        inspected = call("corpus", "inspect", "corpus", "--json").json
        features = call("features", "corpus", "--size", 64, "--json").json

        def again(*_: object) -> None:
            raise AssertionError("these features are in the cache")

        patch.setattr(Backbone, "encode", again)
        settings = ["features.size=64", "text.minimum_count=1", "training.batch_size=16", "training.maximum_steps=120"]
        settings += ["training.learning_rate=0.005", "training.validate_every=40", "system.buckets=500"]
        assigned = [part for setting in settings for part in ("--set", setting)]
        facts = call("train", "--corpus", "corpus", "--system", "bag", *assigned, "--out", "run", "--json").json
        evaluation = call("evaluate", "run", "--json").json
        report = call("evaluate", "run")
    yield Journey(folder, built, inspected, features, facts, evaluation, report)
    progress.show(False)


def test_the_journey_s_corpus(journey: Journey) -> None:
    for facts in (journey.built, journey.inspected):
        assert (facts["name"], facts["pictures"], facts["captions"]) == ("shapes", 48, 96)
        assert facts["splits"]["train"] == {"pictures": 24, "en": 24, "de": 24}
        assert facts["splits"]["test"] == {"pictures": 12, "en": 12, "de": 12}
    assert journey.built["problems"] == []
    assert journey.built["folder"] == "corpus"
    leaks = journey.inspected["leaks"]
    assert leaks["captions"]["en"]["test"]["count"] == 12  # the same words were trained on, and inspect says so
    assert leaks["pictures_by_content"]["test"]["count"] == 0


def test_the_journey_s_features_and_training(journey: Journey) -> None:
    features = {key: journey.features[key] for key in ("corpus", "backbone", "pictures", "dimensions", "skipped")}
    assert features == {
        "corpus": "shapes",
        "backbone": "efficientnet-lite0",
        "pictures": 48,
        "dimensions": 1280,
        "skipped": [],
    }
    assert journey.facts["system"] == "bag"
    assert journey.facts["steps"] == 120
    assert sorted(journey.facts["languages"]) == ["de", "en"]
    recipe = json.loads((journey.folder / "run/recipe.json").read_text())
    assert recipe["system"] == {"name": "bag", "buckets": 500}
    assert recipe["training"]["maximum_steps"] == 120


def test_the_journey_s_evaluation_has_every_number(journey: Journey) -> None:
    result = journey.evaluation
    assert (result["corpus"], result["split"], result["pictures"], result["captions"]) == ("shapes", "test", 12, 24)
    assert set(result["languages"]) == {"en", "de"}
    for part in (*result["languages"].values(), result["mean"]):
        six = []
        for direction in ("image_to_text", "text_to_image"):
            assert set(part[direction]) == {"R@1", "R@5", "R@10", "median", "mean"}
            six += [part[direction][key] for key in ("R@1", "R@5", "R@10")]
        assert part["rsum"] == pytest.approx(sum(six))
        assert part["mR"] == pytest.approx(sum(six) / 6)
    assert result["chance"]["R@1"] == pytest.approx(100 / 12)
    for code in ("en", "de"):  # it has learnt: chance is 8.3
        assert result["languages"][code]["text_to_image"]["R@1"] > 40


def test_the_journey_s_report(journey: Journey) -> None:
    run = journey.folder / "run"
    assert json.loads((run / "evaluation.json").read_text()) == journey.evaluation
    html, markdown = (run / "report.html").read_text(), (run / "report.md").read_text()
    assert "✓" in html
    assert "✗" in html
    assert "a red circle" in html
    recall = f"{journey.evaluation['languages']['de']['text_to_image']['R@1']:.1f}"
    for text in (html, markdown, journey.report.out):
        assert "German" in text
        assert recall in text
    assert "Report: run/report.html" in journey.report.out


@pytest.fixture
def at_the_end(journey: Journey, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of where the journey ended, to go on from."""
    monkeypatch.setenv("GROUNDLING_CACHE", str(journey.folder / "cache"))
    shutil.copytree(journey.folder / "run", "run")
    recipe = json.loads(Path("run/recipe.json").read_text())
    recipe["corpus"]["name"] = str(journey.folder / "corpus")
    Path("run/recipe.json").write_text(json.dumps(recipe))
    return Path("run")


def test_evaluating_again_gives_the_same_and_other_questions_change_nothing(journey: Journey, at_the_end: Path) -> None:
    assert call("evaluate", at_the_end, "--json").json == journey.evaluation
    before = content(at_the_end)
    dev = call("evaluate", at_the_end, "--split", "dev", "--json").json
    assert dev["split"] == "dev"
    assert dev["pictures"] == 12
    other = call("evaluate", at_the_end, "--corpus", journey.folder / "corpus", "--json").json
    assert other == journey.evaluation
    said = call("evaluate", at_the_end, "--split", "train")
    assert "train" in said.out
    assert "Report:" not in said.out
    assert content(at_the_end) == before


def test_a_run_whose_corpus_is_gone_names_it(at_the_end: Path) -> None:
    recipe = json.loads((at_the_end / "recipe.json").read_text())
    recipe["corpus"]["name"] = "gone"
    (at_the_end / "recipe.json").write_text(json.dumps(recipe))
    assert_one_sentence(call("evaluate", at_the_end), 'no corpus, file or folder named "gone"')
    assert_one_sentence(call("train", "--resume", at_the_end), 'no corpus, file or folder named "gone"')


BAD_ROWS = [
    ["png/rde-square-0.png", "en", "a red square", "train"],
    ["png/red-square-0.png", "en", "  ", "train"],
    ["png/red-square-0.png", "en", "a red square", "nope"],
]


@pytest.fixture
def damaged(own_ground: Path) -> Path:
    """Eight good pictures with sixteen captions, three bad rows, and a picture with two captions cut in half."""
    rows = draw_shapes(own_ground / "shapes")[:18]
    write_table(own_ground / "shapes", [*rows[:5], *BAD_ROWS, *rows[5:]])
    cut = own_ground / "shapes" / rows[17][0]
    cut.write_bytes(cut.read_bytes()[:-80])
    return own_ground / "shapes"


def test_bad_rows_and_pictures_are_listed_counted_and_left_out(damaged: Path) -> None:
    facts = call("corpus", "build", damaged, "--out", "corpus", "--json").json
    assert facts["skipped"] == {"rows": 3, "pictures": 1, "captions": 2}
    assert (facts["pictures"], facts["captions"]) == (8, 16)
    problems = facts["problems"]
    assert len(problems) == 4
    assert problems[0].startswith('captions.csv:7: no picture named "png/rde-square-0.png"')
    assert '(did you mean "png/red-square-0.png"?)' in problems[0]
    assert problems[1].startswith("captions.csv:8: ")
    assert problems[2].startswith("captions.csv:9: ")
    assert problems[3].startswith("png/black-square-0.png: unreadable picture")
    said = call("corpus", "build", damaged, "--out", "again")
    assert said.code == 0
    assert said.err.splitlines()[:5] == [*problems, "4 problems, left out"]
    assert "Written to again" in said.out
    assert "Left out when it was built" in call("corpus", "inspect", "again").out


def test_strict_stops_at_the_first_problem_and_writes_nothing(damaged: Path, own_ground: Path) -> None:
    said = call("corpus", "build", damaged, "--out", "corpus", "--strict")
    assert_one_sentence(said, 'captions.csv:7: no picture named "png/rde-square-0.png"')
    assert "3 more" in said.err or "2 more" in said.err
    assert not (own_ground / "corpus").exists()
    rows = [row for row in csv.reader((damaged / "captions.csv").open(encoding="utf-8")) if row not in BAD_ROWS][1:]
    write_table(damaged, rows)
    said = call("corpus", "build", damaged, "--out", "corpus", "--strict")
    assert_one_sentence(said, "png/black-square-0.png: unreadable picture")
    assert not (own_ground / "corpus").exists()


def test_a_picture_lost_after_the_corpus_was_built_is_counted_by_features(damaged: Path) -> None:
    call("corpus", "build", damaged, "--out", "corpus")
    (damaged / "png/red-circle-0.png").unlink()
    facts = call("features", "corpus", "--size", 32, "--out", "array", "--json").json
    assert facts["skipped"] == ["png/red-circle-0.png"]
    assert facts["pictures"] == 7
    assert np.load("array/features.npy").shape == (7, 1280)
    assert len(Path("array/names.txt").read_text().splitlines()) == 7
    said = call("features", "corpus", "--size", 32)
    assert "png/red-circle-0.png: cannot be read, skipped" in said.err
    assert "7 pictures × 1280 (efficientnet-lite0), 1 skipped" in said.out
    assert_one_sentence(call("features", "corpus", "--size", 32, "--strict"), "red-circle-0.png")


# --- the other commands


def test_lists_for_people_and_for_programs() -> None:
    corpora = call("corpus", "list", "--json").json
    assert {"emoji", "f8k7", "multi30k-task1"} <= {corpus["name"] for corpus in corpora}
    listed = call("recipes", "--json").json
    assert {"name": "emoji/demo", "kind": "recipe"}.items() <= listed[0].items()
    assert {(entry["name"], entry["kind"]) for entry in listed} >= {("f8k7/languages", "table"), ("bag", "system")}
    for name in ("emoji/demo", "f8k7/languages", "bag"):
        assert name in call("recipes").out
    assert call("recipes", "emoji/demo", "--json").json["corpus"] == {"name": "emoji"}
    assert "maximum_steps: 1200" in call("recipes", "emoji/demo").out
    assert call("recipes", "bag", "--json").json["properties"]["buckets"]["default"] == 2**16
    assert "of the caption's mean vector" in call("recipes", "bag").out


@pytest.mark.parametrize("name", list(recipes_command.builtin()))
def test_recipes_that_come_with_it_are_valid(name: str) -> None:
    from groundling import systems
    from groundling.experiments.table import TableSettings, cells
    from groundling.settings import check, read_yaml

    values = read_yaml(recipes_command.find(name))
    if "cells" in values:
        found = [cell.recipe for cell in cells(check(TableSettings, values, name))]
    else:
        found = [recipes_command.resolve(name, None, None, [])]
    for recipe in found:
        systems.make(recipe.system)


def test_what_stands_on_the_command_line_changes_the_recipe() -> None:
    recipe = recipes_command.resolve("emoji/demo", "mine", "vse", ["training.seed=4", "system.margin=0.3"])
    assert recipe.corpus.name == "mine"
    assert recipe.system == {"name": "vse", "margin": 0.3}
    assert recipe.training.seed == 4
    assert recipe.training.batch_size == 1024  # of the demo
    assert recipe.features.size == 128


@pytest.fixture
def tiny_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo on the world, in no time."""

    def tiny(name: str, corpus: object, system: object, assignments: list[str]) -> Recipe:
        seed = int(assignments[0].removeprefix("training.seed="))
        return make_recipe(name="demo", training={"maximum_steps": 10, "seed": seed})

    monkeypatch.setattr(recipes_command, "resolve", tiny)
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_: make_world()))


def test_the_demo_trains_evaluates_and_replaces_only_a_demo(tiny_demo: None, own_ground: Path) -> None:
    facts = call("demo", "--json").json
    assert facts["run"] == "runs/demo"
    assert facts["pictures"] == 25
    assert (own_ground / facts["report"]).exists()
    first = (own_ground / "runs/demo/best.safetensors").read_bytes()
    said = call("demo", "--seed", 1)
    assert said.code == 0
    assert "Text→image R@10, mean of 2 languages: " in said.out
    assert "Report: runs/demo/report.html" in said.out
    assert (own_ground / "runs/demo/best.safetensors").read_bytes() != first
    other_run = '{"name": "other", "corpus": {"name": "x"}}'
    for name, file, text in (("letters", "letter.txt", "dear"), ("other", "recipe.json", other_run)):
        (own_ground / name).mkdir()
        (own_ground / name / file).write_text(text)
        assert_one_sentence(call("demo", "--out", name), f"{name}: holds something else than a demo")
        assert (own_ground / name / file).read_text() == text


def test_a_demo_that_cannot_start_leaves_the_last_one(tiny_demo: None, own_ground: Path) -> None:
    call("demo")
    before = content(own_ground / "runs/demo")
    assert_one_sentence(call("demo", "--device", "toaster"), "toaster")
    assert content(own_ground / "runs/demo") == before


def test_quiet_commands_show_no_progress(journey: Journey, at_the_end: Path) -> None:
    call("--quiet", "evaluate", at_the_end)
    with progress.bar("Shown?", 1) as bar:
        assert type(bar).__name__ == "_Silent"
    call("evaluate", at_the_end)
    with progress.bar("Shown?", 1) as bar:
        assert type(bar).__name__ != "_Silent"
