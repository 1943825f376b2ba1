"""What tables of claims say is what the marked differences of their rows show."""

import json
from pathlib import Path

import pytest
from site_scripts import ROOT, script

result_numbers = script("result_numbers")
verdicts = script("verdicts")

WORDS = {verdicts.ABOVE: "holds", verdicts.BELOW: "opposite", verdicts.AROUND: "not resolved"}
HEADING = "| claim | here | number |\n|---|---|---|\n"
OURS = ("docs/results/README.md", "docs/results/claims.md", "docs/results/smalr-f8k7.md")


def weighed(name: str) -> list[str]:
    """The rows of a page that have a verdict and a difference."""
    rows = [row for _, row in verdicts.claims((ROOT / name).read_text(encoding="utf-8"))]
    return [row for row in rows if verdicts.verdicts(row) and verdicts.differences(row)]


def plain(name: str) -> list[str]:
    """Those of them with one verdict, which all their differences bear out."""
    lies = {row: {side for _, side, _ in verdicts.differences(row)} for row in weighed(name)}
    return [row for row, sides in lies.items() if len(sides) == 1 and verdicts.verdicts(row).keys() == sides]


@pytest.mark.parametrize("page", result_numbers.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_row_says_another_than_its_differences(page: Path) -> None:
    assert list(verdicts.contradictions(page, page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("name", OURS)
def test_a_turned_verdict_is_found_in_each_row_that_has_one(name: str) -> None:
    assert len(weighed(name)) > 5 and len(plain(name)) > 2
    for row in plain(name):
        (side,) = verdicts.verdicts(row)
        _, claim, rest = row.split("|", 2)
        turned = bool(verdicts.CLAIMS_LESS.search(claim))
        words = verdicts.VERDICTS[verdicts.TURNED[side] if turned else side]
        assert list(verdicts.contradictions(ROOT / name, HEADING + row)) == []
        others = [word for word in WORDS.values() if not words.search(word)]
        assert len(others) == 2
        for word in others:
            wrong = f"|{claim}|{words.sub(word, rest)}"
            assert list(verdicts.contradictions(ROOT / name, HEADING + wrong)) != [], wrong


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    columns = {"old": (30, 31, 32), "new": (33, 34, 35), "level": (30, 31, 33)}
    rows = [
        {"name": name, "columns": {"en": {"values": values, "mean": sum(values) / 3, "deviation": 1}}}
        for name, values in columns.items()
    ]
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results" / "t.json").write_text(json.dumps({"rows": rows}))
    monkeypatch.setattr(verdicts.result_numbers, "ROOT", tmp_path)
    return tmp_path / "page.md"


MORE = "<!--= t :: new − old :: en -->+3.0 ± 2.3"
LESS = "<!--= t :: old − new :: en -->−3.0 ± 2.3"
LEVEL = "<!--= t :: level − old :: en -->+0.3 ± 3.1"


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (f"new is better | holds | {MORE}", []),
        (f"new is better | **holds** on average | {MORE} (English)", []),
        (f"new is better | the opposite | {LESS}", []),
        (f"new is better | no difference seen | {LEVEL}", []),
        (f"new is better | Not resolved: {LEVEL} English | page", []),
        (f"new is better | opposite | {MORE}", ["'opposite', but no difference lies below", "+3.0 ± 2.3 lies above"]),
        (f"new is better | holds | {LESS}", ["'holds', but no difference lies above", "−3.0 ± 2.3 lies below"]),
        (f"new is better | holds | {LEVEL}", ["'holds', but no difference lies above", "+0.3 ± 3.1 lies around"]),
        (f"new is better | not resolved: {MORE} | page", ["'not resolved', but no", "+3.0 ± 2.3 lies above"]),
        # A cost is one of a difference below zero.
        (f"new words cost recall | holds | {LESS}", []),
        (f"new words cost recall | opposite | {MORE}", []),
        (f"new words cost recall | holds | {MORE}", ["'holds', but no difference lies below", "+3.0 ± 2.3 lies above"]),
        # Several verdicts: each needs a difference, unless there are fewer, of which none may bear out no verdict.
        (f"it helps | holds; Czech not resolved | {MORE}", []),
        (f"it helps | holds; Czech not resolved | {LESS}", ["−3.0 ± 2.3 lies below zero, but the row says holds, not"]),
        (f"it helps | holds: {MORE}, Czech not resolved: {LEVEL} | page", []),
        (f"it helps | holds: {MORE}, Czech not resolved: {MORE} | page", ["'not resolved', but no difference"]),
        # In a sentence more may be said than the verdict; in a cell of its own a number stands for it.
        (f"it helps | holds: {MORE}, though {LEVEL} with another rate | page", []),
        (f"it helps | holds | {MORE} | {LEVEL}", ["+0.3 ± 3.1 lies around zero"]),
        # Neither the claim nor means, nor what does not hold, is a verdict on a difference.
        (f"what holds for us | seen | {LESS}", []),
        (f"it helps | does not hold | {LESS}", []),
        ("it helps | holds | <!--= t :: new :: en -->34.0 ± 1.0", []),
    ],
)
def test_verdicts_are_weighed_against_the_differences_of_their_row(page: Path, row: str, wrong: list[str]) -> None:
    found = list(verdicts.contradictions(page, f"Words.\n\n{HEADING}| {row} |\n"))
    assert len(found) == len(wrong)
    for one, part in zip(found, wrong, strict=True):
        assert one.startswith("page.md:5: ") and part in one


def test_only_tables_of_claims_are_looked_at(page: Path) -> None:
    row = f"| it helps | holds | {LESS} |\n"
    other = "| row | here | number |\n|---|---|---|\n"
    assert list(verdicts.contradictions(page, other + row)) == []
    assert {one.split(":")[1] for one in verdicts.contradictions(page, f"{other}{row}\n{HEADING}{row}")} == {"7"}
