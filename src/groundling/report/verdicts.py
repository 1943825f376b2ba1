"""The table of a model that judges statements: accuracy by language, with what needs no picture beside it."""

from collections.abc import Mapping
from typing import Any

from groundling.report.languages import language_name
from groundling.report.numbers import Cell
from groundling.report.table import Column, Table


def accuracy_table(evaluation: Mapping[str, Any]) -> Table:
    """One row per language, and the mean over languages; `majority` and `words only` never look at a picture."""
    languages: Mapping[str, Mapping[str, Any]] = evaluation["languages"]
    without: Mapping[str, Mapping[str, Any]] = evaluation.get("text_only") or {}
    columns = [Column("language", text=True), Column("statements"), Column("accuracy", best="high")]
    columns += [Column("95% interval", text=True), Column("loss", decimals=3)]
    columns += [Column("majority", "without pictures"), Column("words only", "without pictures")]
    rows: list[list[Cell]] = [
        [
            language_name(code),
            part["statements"],
            part["accuracy"],
            f"{part['low']:.1f} … {part['high']:.1f}",
            part["log_loss"],
            part["majority"],
            (without.get(code) or {}).get("words"),
        ]
        for code, part in languages.items()
    ]
    foot: list[list[Cell]] = []
    if len(languages) > 1:
        mean = evaluation["mean"]
        words = [found["words"] for found in without.values()]
        alone = sum(words) / len(words) if len(words) == len(languages) else None
        foot.append(["mean", None, mean["accuracy"], "", mean["log_loss"], mean["majority"], alone])
    where = " ".join(str(evaluation[key]) for key in ("corpus", "split") if evaluation.get(key))
    return Table(
        f"Accuracy by language, {where}",
        columns,
        rows,
        foot=foot,
        notes=[
            "Accuracy: share of statements, in percent, that are judged right. Majority: always the label that is most "
            "frequent in training. Words only: logistic regression on the words of the statement. Loss: mean of "
            "−ln of the probability of the true label; a third each is 1.099.",
        ],
    )


def confusion_table(evaluation: Mapping[str, Any]) -> Table:
    """How often statements of each label were judged to be of each, all languages together, in percent."""
    labels, counts = evaluation["labels"], evaluation["overall"]["confusion"]
    columns = [Column("truth", text=True), *(Column(label, "judged") for label in labels)]
    rows: list[list[Cell]] = [
        [label, *(100 * count / max(1, sum(line)) for count in line)]
        for label, line in zip(labels, counts, strict=True)
    ]
    return Table("What is taken for what, in percent of the truth, all languages together", columns, rows)
