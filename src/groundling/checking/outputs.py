"""What was found in a table, written as its reader needs it: a sheet to look at, or a table to work on."""

import csv
import json
from pathlib import Path

from groundling.checking.caption_table import CheckedTable
from groundling.checking.sheet import SHOWN, sheet
from groundling.errors import UserError
from groundling.files import atomic_path, remove_leftovers, write_text

KINDS = (".html", ".csv", ".jsonl")


def check_output(path: Path) -> None:
    """Say before the work what would be said after it."""
    if path.suffix.lower() not in KINDS:
        raise UserError(f"--out {path}: ends in {path.suffix or 'nothing'}; write {', '.join(KINDS)} by its name")
    if path.is_dir():
        raise UserError(f"--out {path}: is a folder, where the name of a file is needed")


def write_output(
    path: Path,
    checked: CheckedTable,
    shown: int = SHOWN,
) -> None:
    """All rows, worst first, as .csv or .jsonl; the worst of them as a .html sheet."""
    kind = path.suffix.lower()
    remove_leftovers(path.parent, path.name)
    if kind == ".html":
        write_text(path, sheet(checked, path, shown))
    elif kind == ".jsonl":
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            for row in checked.rows:
                file.write(json.dumps(checked.as_json(row), default=str, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            rows = [checked.as_json(row) for row in checked.rows]
            writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
            writer.writeheader()
            writer.writerows(rows)
