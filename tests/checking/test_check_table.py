"""A table of captions: rows go on when one cannot, pictures stay in their folder, the worst comes first."""

import csv
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "decoding"))

import bombs
import colour_judge
import pytest
from colour_judge import BLUE, GREEN, RED, Backbones, ColourJudge, paint

from groundling.checking.caption_table import check_table
from groundling.checking.checker import Checker
from groundling.checking.outputs import write_output
from groundling.errors import UserError

checker, counter = colour_judge.checker, colour_judge.counter


def write(path: Path, *rows: list[str], header: str = "picture text language") -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(), *rows])
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, colour in (("red", RED), ("green", GREEN), ("blue", BLUE)):
        paint(tmp_path / "photos" / f"{name}.png", colour)
    paint(tmp_path / "secret.png", RED)
    return tmp_path / "photos"


def test_the_worst_comes_first_and_what_was_not_checked_last(checker: Checker, folder: Path) -> None:
    table = write(
        folder / "captions.csv",
        ["red.png", "red", "en"],
        ["nothing.png", "red", "en"],
        ["red.png", "ein Bild", "de"],
        ["blue.png", "rot", "de"],
        ["green.png", "a green picture of grass", ""],
    )
    checked = check_table(checker, table)
    assert [row.line for row in checked.rows] == [5, 4, 2, 6, 3]
    assert [row.kind for row in checked.rows][:2] == ["contradiction", "neutral"]
    assert checked.counts() == {"contradiction": 1, "neutral": 1, "entailment": 2, "not checked": 1}
    assert checked.rows[3].answer is not None
    assert (checked.rows[3].answer.language, checked.rows[3].answer.detected) == ("en", True)


def test_each_row_that_cannot_be_checked_says_why(checker: Checker, folder: Path) -> None:
    (folder / "words.png").write_text("no picture")
    (folder / "link.png").symlink_to(folder.parent / "secret.png")
    (folder / "out").symlink_to(folder.parent)
    (folder / "bomb.png").write_bytes(bombs.png(60_000, 60_000, rows=1))
    (folder / "scans.jpg").write_bytes(bombs.scans(5000))
    (folder / "segments.jpg").write_bytes(bombs.exif_segments())
    wrong = {
        ("red.png", "  ", "en"): "the text is empty",
        ("red.png", "red", "fr"): 'language "fr" is unknown to the model',
        ("red.png", "красная машина", ""): "looks like Russian (ru)",
        ("words.png", "red", "en"): "not a picture of a known format",
        ("rad.png", "red", "en"): 'no picture named "rad.png" in photos/ (did you mean "red.png"?)',
        ("", "red", "en"): "the picture is empty",
        ("../secret.png", "red", "en"): "leads out of the folder",
        (str(folder / "red.png"), "red", "en"): "an absolute path",
        ("link.png", "red", "en"): "links are not followed",
        ("out/secret.png", "red", "en"): "link",
        ("bomb.png", "red", "en"): "60000 × 60000 pixels",
        ("scans.jpg", "red", "en"): "scans",
        ("segments.jpg", "red", "en"): "segments",
    }
    table = write(folder / "captions.csv", ["red.png", "red", "en"], *map(list, wrong))
    rows = sorted(check_table(checker, table).rows, key=lambda row: row.line)
    assert rows[0].kind == "entailment"
    for row, words in zip(rows[1:], wrong.values(), strict=True):
        assert row.kind == "not checked"
        assert words in row.problem
        assert "\n" not in row.problem


def test_a_broken_table_stops_before_anything_is_looked_at(checker: Checker, folder: Path, counter: Backbones) -> None:
    for text, words in [
        ("picture,caption\nred.png,red\n", 'captions.csv:1: no column "text"'),
        ("picture,text\nred.png,red\nred.png,red,blue\n", "captions.csv:3: 3 fields where the header has 2"),
        ('picture,text\nred.png,red\nred.png,"red\n', "captions.csv:3: broken row"),
        ("picture,text\n", "no row below the header"),
        ("", "the file is empty"),
    ]:
        (folder / "captions.csv").write_text(text)
        with pytest.raises(UserError) as said:
            check_table(checker, folder / "captions.csv")
        assert words in str(said.value)
    (folder / "captions.jsonl").write_text('{"picture": "red.png", "text": "red"}\n{"picture":\n')
    with pytest.raises(UserError, match=r"captions.jsonl:2: broken JSON"):
        check_table(checker, folder / "captions.jsonl")
    with pytest.raises(UserError, match="no such file"):
        check_table(checker, folder / "nothing.csv")
    with pytest.raises(UserError, match="no such folder of pictures"):
        check_table(checker, folder / "captions.csv", folder / "nowhere")
    assert counter.looked == 0


def test_names_may_begin_with_the_folder_of_pictures(checker: Checker, folder: Path) -> None:
    """As in a table that a corpus is built of: relative to the table, with --pictures photos all the same."""
    rows = (["photos/red.png", "rot"], ["photos/gone.png", "rot"])
    table = write(folder.parent / "captions.csv", *rows, header="picture text")
    found = check_table(checker, table, folder, "de").rows
    assert [(row.picture, row.kind) for row in found] == [
        ("photos/red.png", "entailment"),
        ("photos/gone.png", "not checked"),
    ]
    write(table, *rows, ["secret.png", "rot"], header="picture text")  # beside the folder, not in it
    assert {row.kind for row in check_table(checker, table, folder, "de").rows} == {"not checked"}


def test_pictures_may_be_elsewhere_and_rows_may_share_a_language(checker: Checker, folder: Path) -> None:
    table = write(folder.parent / "captions.csv", ["red.png", "rot"], ["blue.png", "rot"], header="picture text")
    rows = check_table(checker, table, folder, "de").rows
    assert [(row.picture, row.kind) for row in rows] == [("blue.png", "contradiction"), ("red.png", "entailment")]
    assert all(row.answer and row.answer.language == "de" and not row.answer.detected for row in rows)


def test_json_rows_of_other_types_are_problems_of_their_own(checker: Checker, folder: Path) -> None:
    lines = [
        {"picture": "red.png", "text": "red", "language": "en"},
        {"picture": "red.png", "text": 7},
        {"picture": None, "text": "red"},
        {"text": "red"},
        {"picture": "red.png", "text": "red", "language": ["en"]},
    ]
    (folder / "captions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = sorted(check_table(checker, folder / "captions.jsonl").rows, key=lambda row: row.line)
    assert [row.kind for row in rows] == ["entailment"] + ["not checked"] * 4


def test_many_captions_of_a_picture_look_at_it_once_in_batches(
    checker: Checker, folder: Path, counter: Backbones, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checker, "at_once", 4)
    colours = ["red", "green", "blue"]
    asked = [[f"{one}.png", other, "en"] for one in colours for other in colours * 3]
    rows = check_table(checker, write(folder / "captions.csv", *asked)).rows
    judge = checker.model
    assert isinstance(judge, ColourJudge)
    assert (counter.looked, judge.calls, len(judge.asked)) == (3, 7, 27)
    for row in rows:  # batches mix up neither pictures nor texts
        same = row.picture == f"{row.text}.png"
        assert row.kind == ("entailment" if same else "contradiction")


def test_outputs_hold_the_same_rows(checker: Checker, folder: Path, tmp_path: Path) -> None:
    table = write(
        folder / "captions.csv",
        ["red.png", 'a "red", red\npicture', "en"],
        ["red.png", "", "en"],
        ["blue.png", "rot", ""],
    )
    checked = check_table(checker, table)
    for name in ("found.csv", "found.jsonl"):
        write_output(tmp_path / name, checked)
    lines = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines == [checked.as_json(row) for row in checked.rows]
    with (tmp_path / "found.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    as_text = [{key: "" if value is None else str(value) for key, value in line.items()} for line in lines]
    assert cells == as_text
