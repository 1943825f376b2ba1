"""Numbers of README and docs that name a result are those of the JSON that a command wrote."""

import json
import re
from pathlib import Path

import pytest
from site_scripts import ROOT, script

from groundling.errors import UserError

result_numbers = script("result_numbers")
unmarked_numbers = script("unmarked_numbers")

SPREAD = re.compile(r"\d\.\d+ ± \d")


@pytest.mark.parametrize("page", result_numbers.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_marked_numbers_are_those_of_their_json(page: Path) -> None:
    assert list(result_numbers.differences(page)) == []


def test_every_mean_over_seeds_is_marked() -> None:
    unmarked = []
    for page in result_numbers.pages():
        name = str(page.relative_to(ROOT))
        for number, line in enumerate(page.read_text().splitlines(), start=1):
            if SPREAD.search(result_numbers.MARKED.sub("", line)) and "<!-- no JSON -->" not in line:
                unmarked.append(f"{name}:{number}: {line}")
    assert unmarked == []


@pytest.mark.parametrize("page", result_numbers.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_numbers_beside_a_result_are_marked(page: Path) -> None:
    assert list(unmarked_numbers.unmarked(page, page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("name", "words"), [(name, words) for name, allowed in unmarked_numbers.NOT_RESULTS.items() for words in allowed]
)
def test_what_is_no_result_still_stands_there(name: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert list(unmarked_numbers.unmarked(ROOT / name, text)) == []
    allowed = unmarked_numbers.NOT_RESULTS[name].keys() - {words}
    monkeypatch.setitem(unmarked_numbers.NOT_RESULTS, name, dict.fromkeys(allowed, ""))
    found = [line.split(": ")[1].split()[0] for line in unmarked_numbers.unmarked(ROOT / name, text)]
    assert found and set(found) <= set(words.replace("%", "").split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("French has 23.8 ([measured](../results/teach-f8k7.md)).", ["1: 23.8"]),
        ("Two lines\nand 1,234.5\n([it](../results/x.json)).", ["1: 1,234.5"]),
        ("On [it](../results/x.json) by torch 2.13.0 it is 1.5. Then", ["1: 1.5"]),
        ("French has <!--= a :: b :: c -->23.8 ± 0.1 ([measured](../results/teach-f8k7.md)).", []),
        ("French has 23.8, see [elsewhere](../guides/words.md).", []),
        ("On [F8K-7](../results/x.md) 0.5M words, `rate 0.1`, published +1.3, torch 2.13.0, 400 sentences", ["1: 0.5"]),
        ("[x](../results/x.md)\n\n```\na 1.5\n```\n\n    b 1.5\n\nafter it 1.5", []),
        ("- one 1.5\n- [two](../results/x.md)\n  has 2.5\n- three 3.5", ["2: 2.5"]),
        ("In [a table](../results/x.md):\n\n| | ours | published |\n|---|---|---|\n| a | 1.5 | 2.5 |", ["5: 1.5"]),
        ("| a | b |\n|---|---|\n| 1.5 | 2 |\n| 2.5 | [x](../results/x.md) |", ["4: 2.5"]),
        ("[x](../results/x.md) has 82% of 5,982, and 3 to 5 of 10", ["1: 82"]),
        ("[x](../results/x.md): 14 points apart, 18 to 49 %, 7 or 8\npercent", [f"1: {n}" for n in (14, 18, 49, 7, 8)]),
        ("[x](../results/x.md): 18 to <!--= a :: b :: c -->49%, a 12-point gap", ["1: 18", "1: 12"]),
        ("[x](../results/x.md): half of a 95% interval, 95%\nintervals, 95% of them", ["1: 95"]),
    ],
)
def test_a_number_beside_a_result_without_a_mark_is_found(text: str, found: list[str]) -> None:
    page = ROOT / "docs" / "tutorials" / "any.md"
    assert list(unmarked_numbers.unmarked(page, text)) == [
        f"docs/tutorials/any.md:{one} names no result" for one in found
    ]


@pytest.mark.parametrize("page", ["README.md", "docs/results/any.md", "docs/papers/any.md"])
def test_every_number_of_readme_and_of_a_page_of_results_or_of_a_paper_is_looked_at(page: str) -> None:
    tables = "| a | b |\n|---|---|\n| 2.5 | 3 |\n\n| a <!-- no JSON --> |\n|---|\n| 4.5 |"
    text = f"One has 1.5\n\n{tables}\n\n- of an old run 5.5 <!-- no JSON -->\n- and 6.5"
    found = [line.split(": ")[1].split()[0] for line in unmarked_numbers.unmarked(ROOT / page, text)]
    assert found == ["1.5", "2.5", "6.5"]


def test_of_a_number_that_is_no_result_only_those_words_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {"1.3 GB": "memory", "2.0": "a licence", "82% of words": "counted"}
    monkeypatch.setattr(unmarked_numbers, "NOT_RESULTS", {"docs/results/any.md": allowed})
    text = "In 1.3\nGB, CC 2.0, 82% of words\n\n1.3 recall\n\n12.0, 2.05, 82% of recall\n\n11.3 GB"
    found = [line.split(": ")[1].split()[0] for line in unmarked_numbers.unmarked(ROOT / "docs/results/any.md", text)]
    assert found == ["1.3", "12.0", "2.05", "82", "11.3"]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def cell(*values: float) -> dict[str, object]:
        mean = sum(values) / len(values)
        return {"values": list(values), "mean": mean, "deviation": 1.0}

    rows = [
        {"name": "far", "columns": {"en": {**cell(4000.0, 6000.0), "deviation": 1200.0}}},
        {"name": "old", "columns": {"en": cell(30.0, 31.0, 32.0)}},
        {"name": "new", "columns": {"en": cell(33.0, 34.0, 35.0)}},
        {"name": "many", "columns": {"en": cell(4421.0)}},
        {"name": "once", "columns": {"en": cell(12.25)}, "validated": {"dev": cell(20.0, 22.0)}},
    ]
    folder = tmp_path / "docs" / "results"
    folder.mkdir(parents=True)
    (folder / "table.json").write_text(json.dumps({"rows": rows, "claims": [], "seeds": [3, 4, 5]}))
    recalls = {"en R@1": cell(20.0, 21.0, 22.0), "en R@5": cell(40.0, 41.0, 42.0)}  # of which claims take the mean
    sized = {"name": "sized", "columns": {}, "parameters": {"all": 6_778_368, "words": 190_000}}
    earlier = [{**rows[1], "name": "oldest"}, {"name": "by recall", "columns": recalls}, sized]
    earlier.append({"name": "newest", "columns": {"en": cell(33.01, 34.01, 35.01)}})
    earlier.append({"name": "two", "columns": {"en": cell(10.0, 20.0, 30.0), "de": cell(30.0, 20.0, 16.0)}})
    (folder / "earlier.json").write_text(json.dumps({"rows": earlier}))
    monkeypatch.setattr(result_numbers, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("<!--= table :: old :: en -->99.9 ± 9.9", "<!--= table :: old :: en -->31.0 ± 1.0"),
        ("<!--= table :: new :: en -->**12.34**", "<!--= table :: new :: en -->**34.00**"),
        # By hand: both variances are 1, so the error is √(2/3) with 4 degrees of freedom, and 2.776 · 0.816 = 2.27.
        ("<!--= table :: new − old :: en -->+1.0 ± 1.0", "<!--= table :: new − old :: en -->+3.0 ± 2.3"),
        ("<!--= table :: old − new :: en -->+1.00 ± 1.00", "<!--= table :: old − new :: en -->−3.00 ± 2.27"),
        (
            "<!--= table :: new − earlier: oldest :: en -->+1.0 ± 1.0",
            "<!--= table :: new − earlier: oldest :: en -->+3.0 ± 2.3",
        ),
        (
            "<!--= table :: new − earlier: by recall :: en -->+1.0",
            "<!--= table :: new − earlier: by recall :: en -->+3.0",
        ),
        (
            "<!--= table :: new − earlier: newest :: en -->0.3 ± 1.0",  # −0.01 is 0.0 where no sign stands
            "<!--= table :: new − earlier: newest :: en -->0.0 ± 2.3",
        ),
        ("<!--= table :: new − earlier: newest :: en -->0.30", "<!--= table :: new − earlier: newest :: en -->−0.01"),
        ("<!--= earlier :: by recall :: en -->1.0 ± 9.9", "<!--= earlier :: by recall :: en -->31.0 ± 1.0"),
        (
            "<!--= earlier :: sized :: parameters.all (M) -->1.0M",
            "<!--= earlier :: sized :: parameters.all (M) -->6.8M",
        ),
        ("<!--= earlier :: sized :: parameters.words -->9", "<!--= earlier :: sized :: parameters.words -->190000"),
        ("<!--= table :: once :: en -->12.2", "<!--= table :: once :: en -->12.3"),  # halves go up, as in the tables
        ("<!--= table :: once :: dev -->9.9 ± 9.9", "<!--= table :: once :: dev -->21.0 ± 1.0"),
        ("<!--= table :: far :: en -->9,999 ± 9,999 steps", "<!--= table :: far :: en -->5,000 ± 1,200 steps"),
        ("<!--= table :: many :: en -->9,999, and so on", "<!--= table :: many :: en -->4,421, and so on"),
        ("<!--= table :: old :: en @ seed 4 -->99.9", "<!--= table :: old :: en @ seed 4 -->31.0"),
        ("<!--= table :: old :: en @ highest -->99.9", "<!--= table :: old :: en @ highest -->32.0"),
        ("<!--= table :: far − far :: en @ lowest -->9.9", "<!--= table :: far − far :: en @ lowest -->0.0"),
        ("<!--= earlier :: by recall :: en @ lowest -->9", "<!--= earlier :: by recall :: en @ lowest -->30"),
        # Both languages seed by seed: 20, 20 and 23, whose variance is 3.
        ("<!--= earlier :: two :: en+de -->9.9 ± 9.9", "<!--= earlier :: two :: en+de -->21.0 ± 1.7"),
        ("beside 99.9 ± 9.9 that names nothing", "beside 99.9 ± 9.9 that names nothing"),
    ],
)
def test_numbers_are_written_from_the_json(results: Path, written: str, right: str) -> None:
    assert result_numbers.rewritten(written) == right
    page = results / "page.md"
    page.write_text(f"a line\n{written}\n")
    assert [line.split(" should be ")[0].split(": ")[0] for line in result_numbers.differences(page)] == (
        ["page.md:2"] if written != right else []
    )


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ("nowhere :: old :: en", "nowhere.json is not there"),
        ("table :: older :: en", "there is no row 'older'; there are far, old, new, many, once"),
        ("table :: old − earlier: other :: en", "there is no row 'old − earlier: other'"),
        ("table :: old :: de", "'old' has no column 'de'; it has en"),
        ("table :: once :: en", "has one seed"),
        ("table :: old :: en @ seed 0", "'seed 0' is none of lowest, highest, seed 3, seed 4, seed 5"),
        ("table :: older :: en @ lowest", "there is no row 'older'"),
    ],
)
def test_marks_that_name_nothing_are_told(results: Path, mark: str, says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)):
        result_numbers.rewritten(f"<!--= {mark} -->1.0 ± 1.0")


def test_what_a_mark_names_in_vain_stops_no_other(results: Path) -> None:
    page = results / "docs" / "page.md"
    old = "<!--= table :: old :: en -->"
    page.write_text(f"<!--= table :: gone :: en -->1.0 and {old}2.0, that is {old}2.0 ± 2.0\n")
    (results / "README.md").write_text("nothing\n")
    problems = result_numbers.rewrite_pages()
    assert page.read_text() == f"<!--= table :: gone :: en -->1.0 and {old}31.0, that is {old}31.0 ± 1.0\n"
    assert len(problems) == 1
    assert problems[0].startswith("docs/page.md: table.json: there is no row 'gone'")


@pytest.mark.parametrize("page", result_numbers.pages(), ids=lambda page: page.name)
def test_no_line_begins_with_a_mark(page: Path) -> None:
    """There Markdown takes the comment for a block of its own, and the sentence or list around it falls apart."""
    begun = [line for line in page.read_text(encoding="utf-8").splitlines() if line.lstrip().startswith("<!--=")]
    assert begun == []


def test_a_mark_without_a_number_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing would ever be written there, and nothing compared."""
    monkeypatch.setattr(result_numbers, "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("One\nhas <!--= a/b :: row :: en -->?\n")
    assert list(result_numbers.differences(page)) == ["page.md:2: a mark has no number right behind it"]
