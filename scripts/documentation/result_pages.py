"""Puts tables of experiments into docs/results, and makes every page there from its JSON.

    python scripts/documentation/result_pages.py RUNS TABLE…
    python scripts/documentation/result_pages.py                # nothing new: every page once more

RUNS is what `groundling reproduce TABLE… --out RUNS` has trained into. Nothing is trained here; trainings that are
not in RUNS are taken from what the JSON in docs/results tells of them, as `groundling reproduce --known` does; others
leave their cells empty, and the page says how many there were. Afterwards the numbers that other pages quote
are written anew from the JSON (`result_numbers.py`), and all pages are made once more.

A page has nothing of its own: numbers, figures and how it was made are of X.json; what people wrote about them is of
X.prose.md beside it, which comes below the title and may quote marked numbers as any page may.
"""

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import result_numbers

from groundling.cli.reproduce import reproduce
from groundling.errors import UserError
from groundling.experiments.known import contradictions
from groundling.experiments.overlap import OverlapSummary
from groundling.experiments.record import KEY, SHARED, records_from_json
from groundling.experiments.summary import TableSummary
from groundling.files import read_json, write_json, write_text
from groundling.recipes import tables as named
from groundling.report.experiment import experiment_page, write_figures
from groundling.report.overlap import overlap_page
from groundling.report.result_page import with_prose

sys.path.append(str(result_numbers.ROOT / "benchmarks"))
RESULTS = result_numbers.ROOT / "docs" / "results"
BENCHMARK = re.compile(r"python benchmarks/(\w+)\.py ")
TOOK = ("steps", "seconds of training")  # of a table's trainings together, in what its JSON says of how it was made


def data_files(results: Path) -> list[Path]:
    """Every JSON that a page is made of: of `groundling reproduce`, and of the benchmarks that measure rows."""
    return [path for path in sorted(results.rglob("*.json")) if {"rows", "pairs"} & read_json(path).keys()]


def page_of(data: Path) -> str:
    """The page of a JSON and of the prose beside it."""
    told = read_json(data)
    made = told["made"]
    if benchmark := BENCHMARK.match(made["command"]):
        text = import_module(benchmark[1]).page(told["rows"], made)
    elif "pairs" in told:
        text = overlap_page(told["about"], OverlapSummary.from_json(told), made)
    else:
        text = experiment_page(told["about"], TableSummary.from_json(told), made, f"{data.stem}-figure")
    return with_prose(data.with_suffix(".md"), text)


def make(data: Path) -> Path:
    """Write the page of a JSON and its figures, X.md and X-figure-1.svg, … beside X.json."""
    page, told = data.with_suffix(".md"), read_json(data)
    if "claims" in told:
        write_figures(TableSummary.from_json(told), page.parent, f"{page.stem}-figure")
    write_text(page, page_of(data))
    return page


def publish(made: Path, name: str, results: Path, lose: bool = False) -> Path:
    """Put what `groundling reproduce` made of the table `name` into `results`, and make its page.

    Where numbers that are there would be lost, nothing is published unless that is said to be meant.
    """
    data, new = results / f"{name}.json", made / "results.json"
    told = read_json(new)
    old = read_json(data) if data.exists() else {}
    gone = lost(old, told) if old and not lose else []
    if gone:
        more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
        raise UserError(
            f"{data}: its {', '.join(gone[:3])}{more} would be lost, which {new} does not have; train these rows, or "
            "say --lose"
        )
    data.parent.mkdir(parents=True, exist_ok=True)
    write_json(data, {**told, "made": carried_over(old, told)})
    return make(data)


def carried_over(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """How a table was made, with what an older one says that its trainings took, where they are the same ones.

    Of many trainings nobody noted that one by one: only their sum is known, which the table made anew cannot add up.
    """
    made = dict(new["made"])
    for key in TOOK if same_trainings(old, new) else ():
        whole = isinstance(old["made"].get(key), int)  # a sentence says of how many trainings nothing is noted
        if key in old["made"] and (key not in made or (whole and not isinstance(made[key], int))):
            made[key] = old["made"][key]
    # What other trainings took, on which these build, stays below it.
    return dict(sorted(made.items(), key=lambda told: told[0].startswith(("trainings that", "their "))))


def same_trainings(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two tables tell of exactly the same trainings, and of none of them different things."""
    before, now = (
        {one.training: one for one in records_from_json(data.get(KEY, []), data.get(SHARED, {}), data.get("title", ""))}
        for data in (old, new)
    )
    if not before or before.keys() != now.keys():
        return False
    return not any(list(contradictions(before[training], now[training])) for training in before)


def lost(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What a table tells of its rows, seed by seed, and a newer one does not."""
    rows = {row["name"]: row for row in new["rows"]}
    found = []
    for row in old["rows"]:
        now = rows.get(row["name"], {})
        for key in ("columns", "validated"):
            for name, cell in (row.get(key) or {}).items():
                if len(cell["values"]) > len((now.get(key) or {}).get(name, {"values": []})["values"]):
                    found.append(f"{name} of {row['name']}")
        told = [key for key in ("parameters", "seconds") if row.get(key) and not now.get(key)]
        found += [f"{key} of {row['name']}" for key in told]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", nargs="?", type=Path, help="the folder given to `groundling reproduce --out`")
    parser.add_argument("tables", nargs="*", help="tables, or folders of them, by name")
    parser.add_argument("--lose", action="store_true", help="publish though numbers that are there would be lost")
    options = parser.parse_args()
    for name in dict.fromkeys(name for each in options.tables for name in named(each)):
        reproduce([name], out=options.runs, show=True, known=[RESULTS])
        print(f"published as {publish(options.runs / name, name, RESULTS, options.lose)}")
    problems = result_numbers.rewrite_pages()
    for data in data_files(RESULTS):
        make(data)
    sys.exit("\n".join(problems) or 0)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"{error}")
