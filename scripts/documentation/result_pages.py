"""Puts tables of experiments into docs/results: page, figures and JSON as `groundling reproduce` makes them.

    python scripts/documentation/result_pages.py RUNS TABLE…

RUNS is what `groundling reproduce TABLE… --out RUNS` has trained into. Nothing is trained here; trainings that are
missing leave their cells empty, and the page says how many there were. Afterwards the numbers that other pages quote
are written anew from the JSON (`result_numbers.py`).
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

import result_numbers

from groundling.cli.reproduce import reproduce
from groundling.errors import UserError
from groundling.files import write_text
from groundling.recipes import tables as named

FIGURE = re.compile(r"\]\((figure-\d+\.svg)\)")


def publish(made: Path, name: str, pages: Path) -> Path:
    """Copy what was `made` of the table `name` below `pages`: NAME.md, NAME.json and NAME-figure-1.svg, …"""
    page = pages / f"{name}.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    for old in page.parent.glob(f"{page.stem}-figure-*.svg"):
        old.unlink()
    for figure in sorted(made.glob("figure-*.svg")):
        shutil.copyfile(figure, page.with_name(f"{page.stem}-{figure.name}"))
    shutil.copyfile(made / "results.json", page.with_suffix(".json"))
    write_text(page, FIGURE.sub(rf"]({page.stem}-\1)", (made / "results.md").read_text()))
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", type=Path, help="the folder given to `groundling reproduce --out`")
    parser.add_argument("tables", nargs="+", help="tables, or folders of them, by name")
    options = parser.parse_args()
    for name in dict.fromkeys(name for each in options.tables for name in named(each)):
        reproduce([name], out=options.runs, show=True)
        print(f"published as {publish(options.runs / name, name, result_numbers.ROOT / 'docs' / 'results')}")
    sys.exit("\n".join(result_numbers.rewrite_pages()) or 0)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(f"{error}")
