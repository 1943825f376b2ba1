"""Any retrieval model tells which captions belong to other pictures, and which words do not fit."""

import csv
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colour_judge import ColourJudge, paint

from groundling.checking import matcher as module
from groundling.checking.caption_table import CheckedTable, check_table
from groundling.checking.checker import Checker
from groundling.checking.choice import method_for
from groundling.checking.matcher import FITS, MISFIT, Matcher
from groundling.checking.outputs import write_output
from groundling.checking.sheet import sheet
from groundling.corpus.formats.decisions import Decisions
from groundling.errors import UserError
from groundling.model import Model
from groundling.model.vectors import Vectors
from groundling.vision.preprocessing import Preprocessing

LEVELS = {"no": 0, "little": 85, "some": 170, "much": 255, "kein": 0, "wenig": 85, "etwas": 170, "viel": 255}
COLOURS = {"red": 0, "green": 1, "blue": 2, "rot": 0, "grün": 1, "blau": 2}


class Colours(Model):
    """Finds pictures by sentences like "much red, no green, some blue", in English and German."""

    kind, name, backbone, dimensions = "pretrained", "colours", "colours", 6
    fingerprint = text_fingerprint = picture_fingerprint = "colours"
    vocabulary = frozenset([*LEVELS, *COLOURS])

    def __init__(self) -> None:
        self.languages = ["en", "de"]

    @property
    def preparation(self) -> Callable[[bytes], np.ndarray]:
        return Preprocessing(8)

    def encode_prepared(self, prepared: Sequence[np.ndarray]) -> Vectors:
        return self._unit(np.stack([np.asarray(pixels).reshape(-1, 3).mean(axis=0) for pixels in prepared]))

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        found = np.full((len(texts), 3), 127.0)
        for row, text in enumerate(texts):
            words = text.replace(",", " ").lower().split()
            for level, colour in pairwise(words):
                if level in LEVELS and colour in COLOURS:
                    found[row, COLOURS[colour]] = LEVELS[level]
        return self._unit(found)

    def _unit(self, colours: np.ndarray) -> Vectors:
        angles = colours / 255 * np.pi / 2  # two vectors are the nearer, the nearer all three levels are
        return (np.concatenate([np.sin(angles), np.cos(angles)], axis=1) / np.sqrt(3)).astype(np.float32)


@pytest.fixture
def matcher() -> Matcher:
    return Matcher(Colours())


def described(colour: Sequence[int], language: str = "en") -> str:
    level = {value: word for word, value in list(LEVELS.items())[:4]}
    german = dict(zip(list(LEVELS)[:4], list(LEVELS)[4:], strict=True))
    names = list(COLOURS)[:3] if language == "en" else list(COLOURS)[3:]
    words = [level[value] if language == "en" else german[level[value]] for value in colour]
    return ", ".join(f"{word} {name}" for word, name in zip(words, names, strict=True))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """32 pictures, each with an English and a German caption; the German ones of first and last are exchanged."""
    levels = sorted(set(LEVELS.values()))
    colours = [(a, b, c) for a in levels for b in levels for c in levels][::2]
    rows = []
    for number, colour in enumerate(colours):
        paint(tmp_path / f"{number}.png", colour)
        told = {0: 31, 31: 0}.get(number, number)
        rows.append([f"{number}.png", described(colours[told], "de"), "de", f"photographer {number}", "x"])
        rows.append([f"{number}.png", described(colour), "", "", "y"])
    with (tmp_path / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["picture", "text", "language", "By", "problem"], *rows[::2], *rows[1::2]])
    return tmp_path / "captions.csv"


def test_swapped_captions_come_first_and_name_each_other(matcher: Matcher, table: Path) -> None:
    checked = check_table(matcher, table)
    first, second = sorted(checked.rows[:2], key=lambda row: row.line)
    assert (first.line, second.line) == (2, 33)
    assert {first.kind, second.kind} == {MISFIT}
    assert (first.answer.better_picture, second.answer.better_picture) == ("31.png", "0.png")
    assert (first.answer.better_line, second.answer.better_line) == (33, 2)
    assert first.answer.better_caption == second.text
    assert [row.kind for row in checked.rows[2:]].count(FITS) == len(checked.rows) - 2
    assert all(row.answer.picture_rank == 1 for row in checked.rows[2:])
    english = [row for row in checked.rows if row.line > 33]
    assert all((row.answer.language, row.answer.detected) == ("en", True) for row in english)


def test_the_order_of_rows_changes_nothing(matcher: Matcher, table: Path) -> None:
    def found(checked: CheckedTable) -> dict[tuple[str, str], tuple[Any, ...]]:
        return {
            (row.picture, row.text): (row.kind, round(row.answer.probability, 5), row.answer.better_picture)
            for row in checked.rows
            if row.answer
        }

    before = found(check_table(matcher, table))
    header, *lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([header, *reversed(lines)]) + "\n", encoding="utf-8")
    assert found(check_table(matcher, table)) == before


def test_other_columns_are_kept(matcher: Matcher, table: Path, tmp_path: Path) -> None:
    checked = check_table(matcher, table)
    write_output(tmp_path / "found.csv", checked)
    write_output(tmp_path / "found.jsonl", checked)
    with (tmp_path / "found.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["line"], row["by"], row["table_problem"]) for row in rows} >= {("2", "photographer 0", "x")}
    assert rows[0]["result"] == MISFIT
    assert rows[0]["problem"] == ""
    lines = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0]["better_picture"] == rows[0]["better_picture"]


def test_the_word_that_does_not_fit_is_marked(matcher: Matcher, table: Path) -> None:
    text = table.read_text(encoding="utf-8")
    right, wrong = "no red, little green, some blue", "much red, little green, some blue"
    table.write_text(text.replace(f'"{right}"', f'"{wrong}"', 1), encoding="utf-8")
    [row] = [row for row in check_table(matcher, table).rows if row.text == wrong and row.picture == "3.png"]
    assert row.kind != FITS
    assert row.answer.misfits[0].word in ("much", "red")  # without either of them nothing is said of red
    start = row.answer.misfits[0].start
    assert wrong[start : row.answer.misfits[0].end] == row.answer.misfits[0].word
    page = sheet(CheckedTable(table, table.parent, matcher.answer, [row]), table.parent / "s.html")
    assert f'<mark title="The caption fits better without this word">{row.answer.misfits[0].word}</mark>' in page


def test_words_and_languages_that_it_does_not_know_are_not_checked(matcher: Matcher, table: Path) -> None:
    with table.open("a", encoding="utf-8") as file:
        file.write("0.png,vireo plumbago,en,,\n0.png,много красного,,,\n0.png,beaucoup,fr,,\n")
    problems = {row.line: row.problem for row in check_table(matcher, table).rows if row.problem}
    assert 'does not know "vireo", "plumbago"' in problems[66]
    assert "looks like Russian (ru), and the model reads English and German" in problems[67]
    assert '"fr" is unknown to the model' in problems[68]


def test_one_text_is_compared_with_other_pictures(matcher: Matcher, table: Path) -> None:
    others = [table.parent / f"{number}.png" for number in range(1, 12)]
    right = matcher.check(table.parent / "0.png", described((0, 0, 0)), others=[*others, table.parent / "none.png"])
    assert (right.label, right.picture_rank, right.pictures, right.probability) == (FITS, 1, 12, None)
    wrong = matcher.check(table.parent / "0.png", described((0, 85, 170)), others=others)
    assert wrong.label == MISFIT or wrong.picture_rank > 1
    assert wrong.better_picture.endswith(".png")
    alone = matcher.check(table.parent / "0.png", described((0, 0, 0)))
    assert alone.label == "unsure"
    assert "no other picture to compare with" in alone.told()
    with pytest.raises(UserError, match="no such picture"):
        matcher.check(table.parent / "none.png", described((0, 0, 0)))


def test_decisions_come_back_with_their_rows(matcher: Matcher, table: Path, tmp_path: Path) -> None:
    (tmp_path / "decisions.csv").write_text(
        "line,picture,text,language,decision,corrected\n"
        f'2,0.png,"{described((255, 255, 170), "de")}",de,Corrected,"kein rot"\n3,1.png,x,de,,\n',
        encoding="utf-8",
    )
    decided = Decisions.read(tmp_path / "decisions.csv")
    assert len(decided) == 1
    checked = check_table(matcher, table, decisions=decided)
    [row] = [row for row in checked.rows if row.decision]
    assert checked.as_json(row)["corrected"] == "kein rot"
    page = sheet(checked, tmp_path / "s.html")
    assert 'data-decision="corrected" data-corrected="kein rot"' in page
    (tmp_path / "decisions.csv").write_text("picture,text,decision\n0.png,x,perhaps\n")
    with pytest.raises(UserError, match=r'decisions.csv:2: unknown decision "perhaps"'):
        Decisions.read(tmp_path / "decisions.csv")


def test_a_judge_is_used_only_where_it_beats_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ColourJudge()
    with pytest.raises(UserError, match=r"nobody has tested .* --judge"):
        method_for(judge)
    assert isinstance(method_for(judge, judge=True), Checker)
    monkeypatch.setattr(ColourJudge, "accuracy", {"en": 55.0, "de": 41.0})
    monkeypatch.setattr(ColourJudge, "words_alone", {"en": 58.0, "de": 40.0}, raising=False)
    with pytest.raises(UserError, match=r"55 % .* words alone tell 58 %"):
        method_for(judge)
    monkeypatch.setattr(ColourJudge, "words_alone", {"en": 51.0, "de": 40.0})
    used = method_for(judge)
    assert isinstance(used, Checker)
    assert "The words of these statements alone, without a picture, tell: English (en) 51 %." in used.notes(["en"])
    assert isinstance(method_for(Colours()), Matcher)
    with pytest.raises(UserError, match="cannot judge whether a text is true"):
        method_for(Colours(), judge=True)


def test_pictures_that_cannot_be_read_are_rows_of_their_own(matcher: Matcher, table: Path) -> None:
    (table.parent / "31.png").write_text("no picture")
    checked = check_table(matcher, table)
    assert checked.counts()["not checked"] == 2
    assert all("not a picture" in row.problem for row in checked.rows[-2:])


def test_only_doubtful_captions_are_explained(matcher: Matcher, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[int] = []
    real = module.misfit_words
    monkeypatch.setattr(module, "misfit_words", lambda *given: explained.extend(given[-1]) or real(*given))
    check_table(matcher, table)
    assert sorted(explained) == [0, 31]
