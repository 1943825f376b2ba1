"""The files of an experiment's report, and words from outside in them, which stay words."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiment_summaries import CLAIM, MADE, ROWS, Page, markdown_rows, printed, summary_of

from groundling.experiments.record import Record
from groundling.experiments.summary import TableSummary
from groundling.report.experiment import experiment_tables, rows_by_commit, write_experiment

COMMITS = [("Alone", "aaaaaaa or bbbbbbb"), ("Alone", "aaaaaaa"), ("Both", None)]
NASTY = "<script>alert('1')</script> | a & b \\ **c** `d` \"e\" <!-- ]]>"


def test_the_files_of_an_experiment(tmp_path: Path) -> None:
    summary = summary_of(ROWS, {"Alone": {"en": 12.5}}, claims=[CLAIM])
    page = write_experiment(tmp_path / "new", " Why we did it.\n", summary, MADE)
    assert page == tmp_path / "new/results.html"
    assert json.loads((tmp_path / "new/results.json").read_text()) == {
        **summary.to_json(),
        "about": "Why we did it.",
        "made": MADE,
    }
    text = (tmp_path / "new/results.md").read_text()
    assert text.startswith("# Two rows\n\nWhy we did it.\n")
    assert "- command: `groundling reproduce x`" in text
    assert ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "–", "18.5 ± 4.9", "–"] in markdown_rows(text)
    assert "+9.0 ± 5.6" in text
    html = Page(page.read_text())
    assert (html.wrong, html.open) == ([], [])
    assert ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "–", "18.5 ± 4.9", "–"] in html.rows
    assert html.tags.count("table") == 3
    for words in ("Why we did it.", "groundling reproduce x", "+9.0 ± 5.6", "Results", "How it was made"):
        assert words in html.text
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "figure-1.svg",
        "results.html",
        "results.json",
        "results.md",
    ]


def test_words_from_outside_are_words_on_the_page(tmp_path: Path) -> None:
    """Names of rows, titles, claims and commands come from a file that anybody may have written."""
    rows = {NASTY: ROWS["Alone"], "Both": ROWS["Both"]}
    claim = replace(CLAIM, says=NASTY)
    changes: dict[str, Any] = {"title": NASTY, "claims": [claim], "published_on": NASTY}
    summary = summary_of(rows, {NASTY: {"en": 1.0}}, **changes)
    page = write_experiment(tmp_path, NASTY, summary, {"command": NASTY, NASTY: 3})
    html = Page(page.read_text())
    assert (html.wrong, html.open) == ([], [])
    assert "script" not in html.tags
    assert not [name for name in html.attributes if name.startswith("on")]
    assert [row for row in html.rows if row and row[0] == NASTY]
    assert json.loads((tmp_path / "results.json").read_text())["rows"][0]["name"] == NASTY
    for line in (tmp_path / "results.md").read_text().splitlines():
        assert not line.startswith("|") or "<script>" not in line
    for table in experiment_tables(summary):
        assert "<script>" in printed(table, width=400)  # a terminal shows it as it is


def test_codes_of_languages_are_words_too(tmp_path: Path) -> None:
    code, metrics = "<i>x", ("image_to_text.R@1", "image_to_text.R@5", "image_to_text.R@10")
    summary = summary_of({"One": {code: (3.0, 5.0)}}, metrics=metrics, languages=(code,))
    html = Page(write_experiment(tmp_path, "", summary, MADE).read_text())
    assert html.wrong == []
    assert "figcaption" in html.tags
    assert "i" not in html.tags


def test_words_from_outside_are_words_in_markdown_too(tmp_path: Path) -> None:
    write_experiment(tmp_path, NASTY, summary_of(ROWS, title=NASTY), {"command": "a `b` c"})
    text = (tmp_path / "results.md").read_text()
    assert "<script>" not in text
    assert "`a `b` c`" not in text


def test_a_page_without_results_is_a_page(tmp_path: Path) -> None:
    page = Page(write_experiment(tmp_path, "", summary_of({"None": {}}), MADE).read_text())
    assert (page.wrong, page.open) == ([], [])
    assert "Figures" not in page.text


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    claims = [CLAIM, replace(CLAIM, metric="mR", by_seed=True)]
    summary = summary_of(ROWS, {"Alone": {"en": 12.5}}, claims=claims, parameters=True, validation=True)
    write_experiment(tmp_path, "", summary, MADE)
    assert TableSummary.from_json(json.loads((tmp_path / "results.json").read_text())) == summary


def test_a_table_of_an_earlier_version_is_read() -> None:
    """It had no means over languages, no parameters, and one kind of axis."""
    told = summary_of(ROWS, mean=False).to_json()
    old = {key: told[key] for key in told if key not in ("means", "common_languages", "parameters")}
    old["x"] = {"label": "", "log": False}
    later = ("validated", "seconds", "empty", "common_mean", "parameters")
    old["rows"] = [{key: row[key] for key in row if key not in later} for row in told["rows"]]
    assert TableSummary.from_json(old) == summary_of(ROWS, mean=False)


def test_pages_say_which_rows_were_trained_at_which_commit(tmp_path: Path) -> None:
    """Where that is the same for all, the commit alone is enough."""
    trainings = [Record(f"cells/{at}", row, at, {}, commit=commit) for at, (row, commit) in enumerate(COMMITS)]
    whole = replace(summary_of(ROWS), trainings=trainings)
    write_experiment(tmp_path, "", whole, MADE)
    page, html = (tmp_path / "results.md").read_text(), (tmp_path / "results.html").read_text()
    assert page.endswith(
        'Rows by the commit that trained them ("or": nobody noted which of them):\n\n'
        "- aaaaaaa; other seeds aaaaaaa or bbbbbbb: Alone\n- not noted: Both\n"
    )
    assert "trained at not noted" in html
    write_experiment(tmp_path, "", replace(whole, trainings=trainings[:1]), MADE)
    assert "Rows by the commit" not in (tmp_path / "results.md").read_text()
    assert "trained at" not in (tmp_path / "results.html").read_text()


def test_the_commit_of_most_trainings_stands_first() -> None:
    """Whatever order they come in: a page must not change because Python was started anew."""
    made = [("ccccccc", "aaaaaaa", "ccccccc"), ("bbbbbbb", "aaaaaaa")]
    trainings = [
        Record(f"cells/{row}-{seed}", f"row {row}", seed, {}, commit=commit)
        for row, commits in enumerate(made)
        for seed, commit in enumerate(commits)
    ]
    for order in (trainings, trainings[::-1]):
        found = rows_by_commit(replace(summary_of(ROWS), trainings=order))
        assert found == {"ccccccc; other seeds aaaaaaa": ["row 0"], "aaaaaaa; other seeds bbbbbbb": ["row 1"]}
