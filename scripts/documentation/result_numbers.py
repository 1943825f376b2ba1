"""Numbers of README and docs that name a result are those of its JSON, and are written from it.

A number is marked where it stands, in a comment that readers do not see:

    <!--= lessons-f8k7/seven :: seven languages + caption–caption :: mean -->37.6 ± 0.4
    <!--= lessons-f8k7/table7 :: Multilingual − Monolingual :: fr -->+10.4 ± 2.7
    <!--= liwe-f8k7/every-other :: (7) S-LIWE − liwe-f8k7/one-drawn/languages: (1) S-LIWE :: pt -->−5.1 ± 2.2

The first part is a file of docs/results without its ending, the second a row of it or the difference of two rows, the
second of which may be of another file, the third a column, also "dev" or "steps to 25" of the dev split, a language
whose metrics are columns of their own, several with "+" between them ("en+de", their mean), or "parameters.words";
with " (M)" behind it, it is in millions, with " @ seed 1", " @ lowest" or " @ highest" that of one seed (of a
difference, that within seeds). After the mark stands the mean over seeds with its deviation, or the mean alone; of a
difference, half of its 95% interval (that of the table's claim, else Welch's).

    python scripts/documentation/result_numbers.py           # rewrites every marked number
    python scripts/documentation/result_numbers.py --check   # says which are not those of the JSON, and exits with 1
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from groundling.errors import UserError
from groundling.evaluation.significance import difference_interval, mean_interval
from groundling.files import write_text
from groundling.report.numbers import rounded

ROOT = Path(__file__).resolve().parents[2]
MILLIONS, OF_A_SEED = " (M)", " @ "
MARKED = re.compile(
    r"(?P<mark><!--= (?P<file>\S+) :: (?P<row>.+?) :: (?P<column>.+?) -->\**)"
    r"(?P<sign>[+−]?)(?P<value>\d+(?:,\d{3})*(?:\.(?P<decimals>\d+))?)(?P<spread> ± \d+(?:,\d{3})*(?:\.\d+)?)?"
)


@dataclass(frozen=True)
class Figure:
    """A mean with what is printed after ±; no spread where there was one seed."""

    mean: float
    spread: float | None

    def like(self, found: re.Match[str]) -> str:
        """The figure written as the one that stands there: its decimals, with sign, spread and commas or without."""
        digits = len(found["decimals"] or "")
        commas = "," in found["value"]
        size = _written(abs(self.mean), digits, commas)
        below = self.mean < 0 and any(digit in size for digit in "123456789")  # −0.0 only where a sign stands already
        text = (("+" if self.mean >= 0 else "−") if found["sign"] or below else "") + size
        if not found["spread"]:
            return text
        if self.spread is None:
            raise UserError(
                f"{found['file']}: {found['row']}, {found['column']} has one seed, so nothing stands after ±"
            )
        return f"{text} ± {_written(self.spread, digits, commas)}"


def _written(number: float, digits: int, commas: bool) -> str:
    whole, point, rest = rounded(number, digits).partition(".")
    return f"{int(whole):,}{point}{rest}" if commas else f"{whole}{point}{rest}"


def pages() -> list[Path]:
    """README and every page of docs, apart from those that a command wrote as a whole."""
    written = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not page.with_suffix(".json").exists()]
    return [ROOT / "README.md", *written]


def look_up(file: str, row: str, column: str) -> Figure:
    """What a mark names."""
    if column.endswith(MILLIONS):
        found = look_up(file, row, column.removesuffix(MILLIONS))
        return Figure(found.mean / 1e6, None if found.spread is None else found.spread / 1e6)
    if OF_A_SEED in column:
        name, _, which = column.partition(OF_A_SEED)
        return Figure(_of_a_seed(file, row, name, which), None)
    table = _read(file)
    if "rows" not in table:  # one model: its mean, say, and a metric, "mean :: text_to_image.R@10"
        found = table[row] if row in table else table["languages"][row]  # "mean", or one of its languages
        for part in column.split("."):
            found = found[part]
        return Figure(float(found), None)
    rows = _rows(table)
    if row in rows:
        if column not in _columns(rows[row]):
            return Figure(*mean_interval(_seeds(file, rows[row], column))[:2])
        cell = _cell(file, rows[row], column)
        return Figure(cell["mean"], cell["deviation"] if len(cell["values"]) > 1 else None)
    better, _, than = row.partition(" − ")
    other, colon, there = than.partition(": ")
    if better in rows and than not in rows and colon and there in (others := _rows(_read(other))):
        return Figure(*difference_interval(_seeds(file, rows[better], column), _seeds(other, others[there], column)))
    if better not in rows or than not in rows:
        raise UserError(f"{file}.json: there is no row {row!r}; there are {', '.join(rows)}")
    for claim in table.get("claims", []):
        sign = {(better, than): 1, (than, better): -1}.get((claim["better"], claim["than"]))
        if sign and column in claim["languages"]:
            found = claim["languages"][column]
            return Figure(sign * found["difference"], found["interval"])
    return Figure(*difference_interval(*(_seeds(file, rows[side], column) for side in (better, than))))


def _of_a_seed(file: str, row: str, column: str, which: str) -> float:
    """What one seed has ("seed 1"), or the one that has least or most ("lowest", "highest")."""
    table = _read(file)
    rows = _rows(table)
    better, _, than = row.partition(" − ")
    if row not in rows and not {better, than} <= rows.keys():
        raise UserError(f"{file}.json: there is no row {row!r}; there are {', '.join(rows)}")
    if row in rows:
        values = _seeds(file, rows[row], column)
    else:
        sides = (_seeds(file, rows[side], column) for side in (better, than))
        values = [one - other for one, other in zip(*sides, strict=True)]
    named = {"lowest": min(values), "highest": max(values)}
    named |= {f"seed {seed}": value for seed, value in zip(table.get("seeds", []), values, strict=False)}
    if which not in named:
        raise UserError(f"{file}: {which!r} is none of {', '.join(named)}")
    return named[which]


def _read(file: str) -> dict:  # type: ignore[type-arg]  # as JSON has it
    path = ROOT / "docs" / "results" / f"{file}.json"
    if not path.is_file():
        raise UserError(f"docs/results/{file}.json is not there; a mark names it")
    table: dict = json.loads(path.read_text())  # type: ignore[type-arg]
    return table


def _rows(table: dict) -> dict[str, dict]:  # type: ignore[type-arg]
    return {entry["name"]: entry for entry in table["rows"]}


def _seeds(file: str, row: dict, column: str) -> list[float]:  # type: ignore[type-arg]
    """The numbers of a column; of a language that has several metrics, their mean seed by seed, as claims have it.

    "en+de" is the mean of both columns, seed by seed.
    """
    if column.count("+"):
        return [fmean(seed) for seed in zip(*(_seeds(file, row, each) for each in column.split("+")), strict=True)]
    metrics = [cell["values"] for name, cell in row["columns"].items() if name.startswith(f"{column} ")]
    return [fmean(seed) for seed in zip(*metrics, strict=True)] if metrics else _cell(file, row, column)["values"]


def _columns(row: dict) -> dict[str, dict]:  # type: ignore[type-arg]
    sizes = (row.get("parameters") or {}).items()
    counted = {f"parameters.{kind}": {"values": [count], "mean": count, "deviation": None} for kind, count in sizes}
    return row["columns"] | (row.get("validated") or {}) | counted


def _cell(file: str, row: dict, column: str) -> dict:  # type: ignore[type-arg]  # as JSON has it
    columns = _columns(row)
    if column not in columns:
        raise UserError(f"{file}: {row['name']!r} has no column {column!r}; it has {', '.join(columns)}")
    cell: dict = columns[column]  # type: ignore[type-arg]
    return cell


def rewritten(text: str) -> str:
    """A page with every marked number as its JSON has it."""
    return MARKED.sub(
        lambda found: found["mark"] + look_up(found["file"], found["row"], found["column"]).like(found), text
    )


def differences(page: Path) -> Iterator[str]:
    """Every marked number of a page that is not the one of its JSON, in a sentence; and marks that mark none."""
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if "<!--= " in MARKED.sub("", line):
            yield f"{page.relative_to(ROOT)}:{number}: a mark has no number right behind it"
        for found in MARKED.finditer(line):
            right, there = rewritten(found[0]), found[0]
            if right != there:
                mark = len(found["mark"])
                named = ", ".join((found["file"], found["row"], found["column"]))
                yield f"{page.relative_to(ROOT)}:{number}: {there[mark:]} should be {right[mark:]} ({named})"


def rewrite_pages() -> list[str]:
    """Write every page's marked numbers anew; those that name what is not there stay, and are told in a sentence."""
    problems: list[str] = []

    def anew(page: Path, found: re.Match[str]) -> str:
        try:
            return rewritten(found[0])
        except UserError as error:
            problems.append(f"{page.relative_to(ROOT)}: {error}")
            return found[0]

    for page in pages():
        text = page.read_text()
        if (new := MARKED.sub(partial(anew, page), text)) != text:
            write_text(page, new)
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where a number is another")
    if parser.parse_args().check:
        wrong = [line for page in pages() for line in differences(page)]
        print("\n".join(wrong) or "every marked number is that of its JSON")
        sys.exit(1 if wrong else 0)
    sys.exit("\n".join(rewrite_pages()) or 0)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"{error}")
