"""The tables of retrieval: recalls of one evaluation by language, and systems beside published numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from groundling.report.formatted_table import Column, Table
from groundling.report.languages import NAMES, language_name
from groundling.report.numbers import Measured, Value

DIRECTIONS = {"text_to_image": "text→image", "image_to_text": "image→text"}
RECALLS = ("R@1", "R@5", "R@10")
MANY = 8  # more columns than these are headed by codes: names would not fit a line


def _number(part: Mapping[str, Any], key: str) -> float | None:
    value = part.get(key)
    return None if value is None else float(value)


def _recalls(part: Mapping[str, Any]) -> list[Value]:
    """R@1, R@5, R@10 and median in both directions, then mR."""
    cells: list[Value] = []
    for direction in DIRECTIONS:
        ranks = part.get(direction) or {}
        cells += [_number(ranks, key) for key in (*RECALLS, "median")]
    return [*cells, _number(part, "mR")]


def chance_by_direction(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """The recalls of drawing at random, in the shape of an evaluation.

    Plain recalls are those of text→image, K of all pictures. They hold for image→text, too, where every picture has one
    caption in each language; elsewhere we do not know them.
    """
    chance: Mapping[str, Any] = evaluation.get("chance") or {}
    if any(direction in chance for direction in DIRECTIONS):
        return dict(chance)
    parts = (evaluation.get("languages") or {}).values()
    pictures = evaluation.get("pictures")
    one_each = evaluation.get("captions") == (pictures or 0) * len(parts)
    if not one_each or any(part.get("captions", pictures) != pictures for part in parts):
        return {"text_to_image": chance}
    known = [float(chance[key]) for key in RECALLS if chance.get(key) is not None]
    mean = {"mR": sum(known) / len(known)} if len(known) == len(RECALLS) else {}
    return {**dict.fromkeys(DIRECTIONS, chance), **mean}


def recall_table(evaluation: Mapping[str, Any]) -> Table:
    """One row per language; below them the mean over languages, and what drawing at random would give."""
    languages: Mapping[str, Mapping[str, Any]] = evaluation.get("languages") or {}
    counts = [part.get("captions") for part in languages.values()]
    counted = len(set(counts)) > 1  # a column of equal numbers says nothing
    columns = [Column("language", text=True)]
    columns += [Column("captions")] if counted else []
    columns += [Column(key, group) for group in DIRECTIONS.values() for key in (*RECALLS, "median")]
    columns.append(Column("mR"))

    def row(name: str, part: Mapping[str, Any], captions: int | None = None) -> list[Value]:
        return [name, *([captions] if counted else []), *_recalls(part)]

    rows = [row(language_name(code) or "all", part, part.get("captions")) for code, part in languages.items()]
    foot = []
    if evaluation.get("mean") and len(languages) != 1:
        foot.append(row("mean", evaluation["mean"]))
    if evaluation.get("chance"):
        foot.append(row("chance", chance_by_direction(evaluation)))
    where = " ".join(str(evaluation[key]) for key in ("corpus", "split") if evaluation.get(key))
    folds = fold_words(evaluation)
    return Table(
        title=", ".join(part for part in ("Recall by language", where, folds) if part),
        columns=columns,
        rows=rows,
        foot=foot,
        notes=[
            "R@K: share of queries, in percent, with a right answer among the first K. "
            "Median: the middle rank of the first right answer. mR: mean of the six recalls.",
            *([f"Every number is a {folds}: consecutive pictures, each fold ranked by itself."] if folds else []),
        ],
    )


def fold_words(evaluation: Mapping[str, Any]) -> str:
    """ "mean over 5 folds of 1,000 pictures"; nothing where all pictures were ranked together."""
    folds, pictures = evaluation.get("folds", 1), evaluation.get("pictures")
    if folds == 1:
        return ""
    return f"mean over {folds} folds" + (f" of {pictures // folds:,} pictures" if pictures else "")


def results_table(
    title: str,
    columns: Sequence[str],
    ours: Mapping[str, Mapping[str, Measured | float | None]],
    published: Mapping[str, Mapping[str, float | None]] | None = None,
    best: Literal["", "high", "low"] = "high",
    notes: Sequence[str] = (),
    decimals: int = 1,
) -> Table:
    """Systems × languages (or any columns), our numbers beside the published ones where there are any.

    `ours` and `published` hold system → column → number; a number that nobody has is a dash. A column with published
    numbers becomes two under one heading.
    """
    published = published or {}
    systems = list(dict.fromkeys([*ours, *published]))
    beside = {column for column in columns if any(row.get(column) is not None for row in published.values())}
    headings = [Column("system", text=True)]
    for column in columns:
        name = language_name(column) if column in NAMES and len(columns) <= MANY else column
        if column in beside:
            headings += [Column("ours", name, best, decimals), Column("published", name, best, decimals)]
        else:
            headings.append(Column(name, "", best, decimals))
    rows: list[list[Value]] = []
    for system in systems:
        cells: list[Value] = [system]
        for column in columns:
            own = ours.get(system, {}).get(column)
            cells.append(own if own is None or isinstance(own, Measured) else float(own))
            if column in beside:
                cells.append(_number(published.get(system, {}), column))
        rows.append(cells)
    return Table(title, headings, rows, notes)
