"""Pages of docs/results are made from their JSON and from the prose beside it, and from nothing else."""

import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from site_scripts import ROOT, script

from groundling.errors import UserError
from groundling.experiments.record import Record, records_to_json
from groundling.experiments.summary import TableSummary
from groundling.files import read_json, write_json

sys.path.append(str(ROOT / "tests" / "report"))
from experiment_summaries import CLAIM, MADE, ROWS, summary_of

from groundling.report.experiment import experiment_figures, write_experiment
from groundling.report.result_page import COMMIT

result_pages = script("result_pages")
RESULTS = ROOT / "docs" / "results"
DATA = result_pages.data_files(RESULTS)


@pytest.mark.parametrize("data", DATA, ids=lambda data: data.relative_to(RESULTS).as_posix())
def test_every_page_is_the_one_of_its_json_and_prose(data: Path) -> None:
    """Where this fails: `python scripts/documentation/result_pages.py` makes them all."""
    page = data.with_suffix(".md")
    assert page.read_text(encoding="utf-8") == result_pages.page_of(data)
    told = read_json(data)
    drawn = [svg for _, svg in experiment_figures(TableSummary.from_json(told))] if "claims" in told else []
    there = [page.with_name(f"{page.stem}-figure-{number}.svg") for number in range(1, len(drawn) + 1)]
    assert sorted(page.parent.glob(f"{page.stem}-figure-*.svg")) == sorted(there)
    assert [path.read_text(encoding="utf-8") for path in there] == [f"{svg}\n" for svg in drawn]


def test_every_page_that_has_json_is_among_them() -> None:
    """But for that of the commands' times, which has a test of its own."""
    beside = {data for data in RESULTS.rglob("*.json") if data.with_suffix(".md").exists()}
    assert beside - set(DATA) == {RESULTS / "timings.json"}


def test_the_page_of_swapped_captions_is_the_one_of_its_json() -> None:
    made = importlib.import_module("check_swapped").page(read_json(RESULTS / "check-f8k7" / "check.json"))
    assert (RESULTS / "check-f8k7.md").read_text(encoding="utf-8") == made


@pytest.mark.parametrize("data", sorted(RESULTS.rglob("*.json")), ids=lambda data: data.relative_to(RESULTS).as_posix())
def test_every_json_says_what_made_it(data: Path) -> None:
    """Command, commit and device; what was not noted at the time is said to be so."""
    made = read_json(data)["made"]
    trained = {"commit": "trained at", "device": "trained on"}  # of a model that was trained elsewhere
    assert made["command"].split()[0] in ("groundling", "python")
    for key, other in trained.items():
        told = str(made.get(key) or made[other])
        assert told.startswith("not noted") or (told != "None" and not told.endswith("+")), f"{key}: {told}"


@pytest.mark.parametrize("data", sorted(RESULTS.rglob("*.json")), ids=lambda data: data.relative_to(RESULTS).as_posix())
def test_commits_that_made_results_can_be_checked_out(data: Path) -> None:
    made = read_json(data)["made"]
    commits = COMMIT.findall(" ".join(str(made.get(key, "")) for key in ("commit", "trained at", "their commit")))
    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository").stdout.strip() == "true":
        pytest.skip("no history to look them up in")
    assert [one for one in commits if git("merge-base", "--is-ancestor", one, "HEAD").returncode] == []


def git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)


def test_prose_lies_beside_a_page_that_is_made() -> None:
    prose = {path.with_name(path.name.replace(".prose.md", ".json")) for path in RESULTS.rglob("*.prose.md")}
    assert prose and prose <= set(DATA)


def test_publishing_again_keeps_the_prose(tmp_path: Path) -> None:
    made, pages = tmp_path / "made", tmp_path / "pages"
    summary = summary_of(ROWS, {"Alone": {"en": 12.5}}, claims=[CLAIM])
    write_experiment(made, "Why we did it.", summary, MADE)
    (pages / "a").mkdir(parents=True)
    (pages / "a" / "table.prose.md").write_text("*An older run.*\n")
    (pages / "a" / "table-figure-7.svg").write_text("of an earlier page")
    (pages / "a" / "tables-figure-7.svg").write_text("of another table")
    page = result_pages.publish(made, "a/table", pages)
    assert page == result_pages.publish(made, "a/table", pages) == pages / "a" / "table.md"
    plain = (made / "results.md").read_text().replace("](figure-", "](table-figure-")
    assert "](table-figure-1.svg)" in plain
    assert page.read_text() == plain.replace("# Two rows\n", "# Two rows\n\n*An older run.*\n")
    assert sorted(path.name for path in page.parent.glob("*.svg")) == ["table-figure-1.svg", "tables-figure-7.svg"]
    assert (page.parent / "table-figure-1.svg").read_text() == (made / "figure-1.svg").read_text()
    assert read_json(page.with_suffix(".json")) == read_json(made / "results.json")


def test_tables_of_words_are_published_too(tmp_path: Path) -> None:
    pair = {"languages": ["en", "de"], "jaccard": 0.25, "published": 0.3}
    told = {"title": "Words", "corpus": "x", "pairs": [pair], "sizes": [], "about": "", "made": {"command": "y"}}
    write_json(tmp_path / "made" / "results.json", told)
    page = result_pages.publish(tmp_path / "made", "words", tmp_path)
    assert page.read_text().startswith("# Words\n") and "0.2500" in page.read_text()


def test_publishing_does_not_lose_numbers(tmp_path: Path) -> None:
    """Unless that is meant: runs are gone sooner than pages."""
    made, pages = tmp_path / "made", tmp_path / "pages"
    write_experiment(made, "Two rows.", summary_of(ROWS, claims=[CLAIM]), MADE)
    page = result_pages.publish(made, "a/table", pages)
    before = page.read_text()
    write_experiment(made, "One row.", summary_of({"Alone": ROWS["Alone"]}), MADE)
    with pytest.raises(UserError, match=r"table.json: its en of Both.* would be lost, which .* does not have; train"):
        result_pages.publish(made, "a/table", pages)
    assert page.read_text() == before
    result_pages.publish(made, "a/table", pages, lose=True)
    assert "One row." in page.read_text()


def publish_twice(folder: Path, before: list[Record], after: list[Record], made: dict[str, Any]) -> dict[str, Any]:
    """How the table was made, as its JSON says after a second publishing that knows nothing of steps and seconds."""
    for records, told in ((before, made), (after, {"command": "y", "known from earlier JSON": len(after)})):
        summary = replace(summary_of(ROWS, claims=[CLAIM]), trainings=records)
        write_experiment(folder / "made", "Two rows.", summary, told)
        page = result_pages.publish(folder / "made", "a/table", folder / "pages")
    assert all(f"- {key}: " in page.read_text() for key in read_json(page.with_suffix(".json"))["made"])
    return dict(read_json(page.with_suffix(".json"))["made"])


def test_publishing_keeps_steps_and_seconds_of_the_same_trainings(tmp_path: Path) -> None:
    """Of trainings known from JSON that notes none of each, a sum that was published is still true."""
    took = {"steps": 300, "seconds of training": 9}
    one, two = (Record(f"cells/{name}", "Both", 0, {"en": {"mR": 5.0}}) for name in "ab")
    made = publish_twice(tmp_path / "same", [one, two], [two, one], {"command": "x", **took})
    assert made == {"command": "y", "known from earlier JSON": 2, **took}
    more = replace(one, values={"en": {"mR": 5.0}, "de": {"mR": 6.0}})
    assert took.items() <= publish_twice(tmp_path / "more", [one], [more], {"command": "x", **took}).items()
    for name, others in (
        ("fewer", [one]),
        ("another", [one, replace(two, training="cells/c")]),
        ("again", [one, replace(two, values={"en": {"mR": 5.1}})]),
    ):
        made = publish_twice(tmp_path / name, [one, two], others, {"command": "x", **took})
        assert not took.keys() & made.keys(), name
    assert not took.keys() & publish_twice(tmp_path / "nobody knows", [], [], {"command": "x", **took}).keys()


def test_a_sum_that_is_whole_is_better_than_a_part() -> None:
    record = Record("cells/a", "A", 0, {"en": {"mR": 5.0}})

    def carried(before: int | str | None, after: int | str | None) -> int | str | None:
        tables = (
            {"made": {} if steps is None else {"steps": steps}, **records_to_json([record])}
            for steps in (before, after)
        )
        return result_pages.carried_over(*tables).get("steps")  # type: ignore[no-any-return]

    part, other = "100, without 1 of 2 trainings that have none noted", "90, without 1 of 2 …"
    assert (carried(300, None), carried(300, part), carried(part, None)) == (300, 300, part)
    assert (carried(300, 310), carried(part, 310), carried(other, part), carried(None, None)) == (310, 310, part, None)


def test_what_the_judges_took_stays_below_what_the_table_took() -> None:
    told = records_to_json([Record("cells/a", "A", 0, {"en": {"mR": 5.0}})])
    judges = {"command": "y", "trainings that these build on": 3, "their steps": 7}
    made = result_pages.carried_over({"made": {"steps": 300}, **told}, {"made": judges, **told})
    assert list(made) == ["command", "steps", "trainings that these build on", "their steps"]


def test_what_a_newer_table_lacks() -> None:
    cell = {"values": [1.0, 2.0]}
    old = {"rows": [{"name": "A", "columns": {"en": cell}, "validated": {"dev": cell}, "parameters": {"all": 1}}]}
    fewer = {"rows": [{"name": "A", "columns": {"en": {"values": [1.0]}}, "validated": {}, "parameters": None}]}
    assert result_pages.lost(old, fewer) == ["en of A", "dev of A", "parameters of A"]
    assert result_pages.lost(old, {"rows": []}) == ["en of A", "dev of A", "parameters of A"]
    assert result_pages.lost(fewer, old) == []
    assert result_pages.lost(old, old) == []
