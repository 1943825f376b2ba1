"""What tables of claims say ("holds", "opposite", "not resolved") against the marked differences of the same row.

    python scripts/documentation/verdicts.py   # names each row that says another, and exits with 1 where there are any

Each verdict of a row needs a marked difference (see `result_numbers`) whose 95% interval lies above zero, below it, or
around it, unless the row shows fewer differences than verdicts; and a difference that has a cell to itself, or is the
only one of its row, needs the verdict that it bears out. A claim that something costs, or is worse, is one of a
difference below zero.

Looked at are tables whose first heading is "claim", and of them rows that have both a verdict and a difference. Which
of several differences a verdict is about is not read.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import result_numbers
from unmarked_numbers import cells

from groundling.errors import UserError

ABOVE, BELOW, AROUND = "above zero", "below zero", "around zero"
TURNED = {ABOVE: BELOW, BELOW: ABOVE, AROUND: AROUND}
#: What a row says → where the interval lies.
VERDICTS = {
    ABOVE: re.compile(r"\bholds\b", re.IGNORECASE),
    BELOW: re.compile(r"\b(?:opposite|worse)\b", re.IGNORECASE),
    AROUND: re.compile(r"\bnot resolved\b|\bno difference (?:that )?(?:is )?seen\b", re.IGNORECASE),
}
CLAIMS_LESS = re.compile(r"\b(?:costs?|worse)\b")
REMARK = re.compile(r"[\s*]*(?:\([^)]*\))?\s*")


def contradictions(page: Path, text: str) -> Iterator[str]:
    """Every verdict that no difference of its row bears out, and every difference that bears out none."""
    name = page.relative_to(result_numbers.ROOT).as_posix()
    for line, row in claims(text):
        said, shown = verdicts(row), differences(row)
        if not said or not shown:
            continue
        lies = {side for _, side, _ in shown}
        if len(shown) >= len(said):
            yield from (f"{name}:{line}: {said[side]!r}, but no difference lies {side}" for side in said.keys() - lies)
        for written, side, alone in shown:
            if side not in said and (alone or len(shown) == 1):
                yield f"{name}:{line}: {written} lies {side}, but the row says {', '.join(said.values())}"


def claims(text: str) -> Iterator[tuple[int, str]]:
    """The rows of tables of claims, each with its line."""
    heading = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            heading = None
        elif heading is None:
            heading = cells(line)[0].strip()
        elif heading == "claim":
            yield number, line


def verdicts(row: str) -> dict[str, str]:
    """Where differences lie by what a row says beside its claim → the words that say it."""
    claim, *rest = cells(result_numbers.MARKED.sub("", row))
    found = {side: pattern.search(" | ".join(rest)) for side, pattern in VERDICTS.items()}
    turn = bool(CLAIMS_LESS.search(claim))
    return {TURNED[side] if turn else side: words[0] for side, words in found.items() if words}


def differences(row: str) -> list[tuple[str, str, bool]]:
    """The marked differences of a row with an interval: as written, where they lie, whether alone in their cell."""
    found: list[tuple[str, str, bool]] = []
    for cell in cells(row):
        marks = list(result_numbers.MARKED.finditer(cell))
        alone = len(marks) == 1 and REMARK.fullmatch(result_numbers.MARKED.sub("", cell)) is not None
        found += [
            (f"{mark['sign']}{mark['value']}{mark['spread']}", _lies(mark), alone)
            for mark in marks
            if mark["spread"] and " − " in mark["row"]
        ]
    return found


def _lies(mark: re.Match[str]) -> str:
    """Where the interval lies before it is rounded, so that +1.4 ± 1.4 may be either."""
    figure = result_numbers.look_up(mark["file"], mark["row"], mark["column"])
    if figure.spread is None or abs(figure.mean) <= figure.spread:
        return AROUND
    return ABOVE if figure.mean > 0 else BELOW


def main() -> None:
    found = [one for page in result_numbers.pages() for one in contradictions(page, page.read_text(encoding="utf-8"))]
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"{error}")
