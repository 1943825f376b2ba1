"""Once: puts into the JSON of tables that were made before `trainings` was kept what their rows tell of each training.

    python scripts/documentation/trainings_from_rows.py KEYS

KEYS has, for each commit that trained (KEYS/COMMIT.json), the keys of the entries of all its tables. A training is
written down only where today's recipe asks for the same settings as one of those commits did. Its numbers are those of
its row, seed by seed; its commit is one of those that every table names which has it.
"""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from groundling.experiments.record import EITHER, KEY, Record
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.experiments.validations import written
from groundling.files import read_json, write_json
from groundling.recipes import read_table
from groundling.settings import check

# Of a row with a model for each language only the sum is known. Counted again at 8065d7e, the same with one step:
# groundling reproduce liwe-emoji/languages --row "(1) S-LIWE" --seed 0 --set training.maximum_steps=1
COUNTED = {
    "LIWE with more and more languages on emoji": {
        ("en",): (1494412, 506508),
        ("de",): (1494460, 506556),
        ("ar",): (1495132, 507228),
        ("zh",): (1529908, 542004),
        ("ru",): (1494772, 506868),
    }
}
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def must(holds: bool, *what: object) -> None:
    if not holds:
        sys.exit(str(what))


def commits_of(data: dict[str, Any]) -> set[str]:
    return set(str(data["made"].get("commit", "")).split(", "))


def devices_of(data: dict[str, Any]) -> str:
    told = str(data["made"]["device"])
    return told.replace("NVIDIA H200, ", f"NVIDIA H200{EITHER}")


def records(data: dict[str, Any], table: TableSettings, commits: dict[str, set[str]]) -> list[Record]:
    rows = {row["name"]: row for row in data["rows"] if row["columns"]}
    by_row: dict[str, dict[int, list[TableEntry]]] = defaultdict(lambda: defaultdict(list))
    for entry in table_entries(table, data["seeds"]):
        by_row[entry.row][entry.recipe.training.seed].append(entry)
    made = []
    for name, seeds in by_row.items():
        if name not in rows:
            continue
        row = rows[name]
        several = {len(entries) for entries in seeds.values()} != {1}
        lengths = {len(cell["values"]) for column, cell in row["columns"].items() if column not in data["means"]}
        must(len(lengths) == 1, data["title"], name, lengths)
        done = list(seeds)[: lengths.pop()]
        if len(done) < len(seeds):
            print(f"  {name}: seeds {done} of {list(seeds)}")
        for place, seed in enumerate(done):
            for entry in seeds[seed]:
                if not commits.get(entry.key):
                    print(f"  {name}: {entry.key} is at none of its commits")
                    continue
                values: dict[str, dict[str, float]] = {}
                for column in data["columns"]:
                    translated = entry.ask is not None and entry.ask.translate_to
                    own = column["language"] in (table.languages if translated else entry.answers)
                    if own and column["name"] in row["columns"]:
                        number = row["columns"][column["name"]]["values"][place]
                        values.setdefault(column["language"], {})[column["metric"]] = number
                dev, best, reached = None, None, {}
                if row["validated"] and not several:
                    went = row["validated"]
                    must(len(went["dev"]["values"]) == len(done), name)
                    dev, best = went["dev"]["values"][place], int(went["best step"]["values"][place])
                    if table.reaches is not None:
                        goal = written(table.reaches)
                        there = [number >= table.reaches for number in went["dev"]["values"]]
                        steps = went.get(f"steps to {goal}", {"values": []})["values"]
                        must(len(steps) == sum(there), name, steps, there)
                        reached = {goal: int(steps[sum(there[:place])]) if there[place] else None}
                parameters = row["parameters"] or {}
                if several:
                    every = COUNTED.get(data["title"], {})
                    sums = [sum(part) for part in zip(*every.values(), strict=True)]
                    must(not every or sums == [parameters["all"], parameters["words"]], sums, parameters)
                    whole, words = every.get(entry.group, (0, 0))
                    parameters = {"all": whole, "words": words, "trainable": whole} if every else {}
                made.append(
                    Record(
                        entry.key,
                        name,
                        seed,
                        values,
                        EITHER.join(sorted(commits[entry.key])),
                        devices_of(data),
                        data["made"]["precision"].replace(", ", EITHER),
                        best_step=best,
                        parameters=parameters,
                        dev=dev,
                        reached=reached,
                    )
                )
    return made


def main() -> None:
    keys = {
        path.stem: {entry[4] for entries in read_json(path).values() for entry in entries}
        for path in Path(sys.argv[1]).glob("*.json")
    }
    found = {}
    for path in sorted(RESULTS.rglob("*.json")):
        data = read_json(path)
        if (
            "claims" in data
            and data["made"]["command"].startswith("groundling reproduce")
            and commits_of(data) <= keys.keys()
        ):
            name = data["made"]["command"].split()[2]
            found[path] = data, check(TableSettings, read_table(name), name)
    commits: dict[str, set[str]] = {}
    for data, table in found.values():
        rows = {row["name"] for row in data["rows"] if row["columns"]}
        for entry in table_entries(table, data["seeds"]):
            if entry.row in rows:
                at = {commit for commit in commits_of(data) if entry.key in keys[commit]}
                commits[entry.key] = commits.get(entry.key, at) & at
    for path, (data, table) in found.items():
        print(path.relative_to(RESULTS))
        told = [one.to_json() for one in records(data, table, commits)]
        kept = {key: value for key, value in data.items() if key not in (KEY, "about", "made")}
        write_json(path, {**kept, KEY: told, "about": data["about"], "made": data["made"]})


main()
