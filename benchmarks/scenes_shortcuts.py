"""How far one gets on the test statements of scenes without putting things together.

    python benchmarks/scenes_shortcuts.py --out docs/results/scenes/shortcuts

The picture alone: always the most frequent label of the very picture, which nobody knows beforehand. What is seen: a
table of the most frequent label, learnt on train, by the form of the statement, by which of the sizes, colours and
kinds that it names are seen anywhere in the picture, and by what is hidden: colours, kinds, a box. Nothing is trained.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import torch

from groundling.corpus.builtin.grammars import GRAMMARS
from groundling.corpus.builtin.scenes_sampling import scenes
from groundling.corpus.builtin.scenes_statements import Made, draw
from groundling.corpus.builtin.scenes_world import Absent, Beside, Count, Exists, More, Scene
from groundling.report.formatted_table import Column, Table
from groundling.training.facts import commit, device_name
from measured_page import measured_page, write_measured

TITLE = "Scenes: what is right without putting things together"
ABOUT = (
    "Percent of the test statements that are judged right by the most frequent label of the picture itself, and by a "
    "list of the things that are seen in it, whatever belongs together; all of them, those that training has word for "
    "word (in English), and the others. [What it says](../scenes.md)."
)
FORMS = {Exists: "there is", Absent: "there is no", Count: "exactly", Beside: "where", More: "more"}
Right = list[tuple[str, bool]]  # of each statement: seen or new, and whether the label that was said is its own


def what_is_seen(scene: Scene, made: Made) -> tuple[object, ...]:
    statement = made.statement
    things = [statement.thing, *([statement.other] if isinstance(statement, Beside | More) else [])]
    words = [word for thing in things for word in (thing.size, thing.colour, thing.kind) if word is not None]
    seen = {word for item in scene for word in (item.size, item.colour, item.kind)}
    hidden = {(item.colour is None, item.kind is None) for item in scene} - {(False, False)}
    number = statement.number if isinstance(statement, Count) else 0
    return type(statement).__name__, number, *(word in seen for word in words), frozenset(hidden)


def measure() -> list[dict[str, Any]]:
    world = {split: scenes(split, number, 0) for split, number in (("train", 8000), ("test", 1000))}
    made = {split: draw(world[split], Random(f"statements 0 {split}")) for split in world}
    said = {GRAMMARS["en"].say(one.statement) for one in made["train"]}
    table: dict[tuple[object, ...], Counter[int]] = defaultdict(Counter)
    for one in made["train"]:
        table[what_is_seen(world["train"][one.scene], one)][one.label] += 1
    pictures: dict[int, Counter[int]] = defaultdict(Counter)
    for one in made["test"]:
        pictures[one.scene][one.label] += 1
    rows: dict[str, Right] = defaultdict(list)
    for one in made["test"]:
        known = table.get(what_is_seen(world["test"][one.scene], one), Counter([0]))
        right = known.most_common(1)[0][0] == one.label
        met = "seen" if GRAMMARS["en"].say(one.statement) in said else "new"
        rows["the picture alone"].append((met, pictures[one.scene].most_common(1)[0][0] == one.label))
        rows["what is seen"].append((met, right))
        rows[f"what is seen: {FORMS[type(one.statement)]}"].append((met, right))
    return [{"name": name, "columns": shares(found)} for name, found in sorted(rows.items())]


def shares(found: Right) -> dict[str, dict[str, Any]]:
    """Percent that is right of all, of what was met in training and of what was not.

    >>> [round(cell["mean"]) for cell in shares([("seen", True), ("seen", False), ("new", True)]).values()]
    [67, 50, 100]
    """
    parts = {"all": [right for _, right in found]}
    parts |= {kind: [right for met, right in found if met == kind] for kind in ("seen", "new")}
    percent = {name: 100 * sum(each) / len(each) for name, each in parts.items() if each}
    return {name: {"values": [value], "mean": value, "deviation": None} for name, value in percent.items()}


def page(rows: list[dict[str, Any]], made: Mapping[str, str | int]) -> str:
    columns = [Column("", text=True), Column("all"), Column("seen in training"), Column("new")]
    cells = [[row["name"], *(written(row["columns"].get(part)) for part in ("all", "seen", "new"))] for row in rows]
    return measured_page(TITLE, ABOUT, Table("", columns, cells), made)


def written(cell: Mapping[str, Any] | None) -> str:
    """Where training has every such statement, none is new."""
    return "–" if cell is None else f"{cell['mean']:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="name of page and JSON, without an ending")
    options = parser.parse_args()
    rows = measure()
    made: dict[str, str | int] = {
        "command": "python benchmarks/scenes_shortcuts.py --out docs/results/scenes/shortcuts",
        "commit": str(commit()),
        "device": device_name(torch.device("cpu")),
    }
    write_measured(options.out, TITLE, rows, made, page(rows, made))


if __name__ == "__main__":
    main()
