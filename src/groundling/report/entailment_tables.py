"""The tables of a model that judges statements: accuracy by language, with what needs no picture beside it; what is
taken for what; and whether it is as sure as it is right.
"""

from collections.abc import Mapping
from typing import Any

from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name
from groundling.report.numbers import Value, rounded


def accuracy_table(evaluation: Mapping[str, Any]) -> Table:
    """One row per language, and the mean over languages; `majority` and `words only` never look at a picture."""
    languages: Mapping[str, Mapping[str, Any]] = evaluation["languages"]
    without: Mapping[str, Mapping[str, Any]] = evaluation.get("text_only") or {}
    columns = [Column("language", text=True), Column("statements"), Column("accuracy", best="high")]
    columns += [Column("95% interval", text=True), Column("loss", decimals=3)]
    columns += [Column("majority", "without pictures"), Column("words only", "without pictures")]
    rows: list[list[Value]] = [
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
    foot: list[list[Value]] = []
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
    rows: list[list[Value]] = [
        [label, *(100 * count / max(1, sum(line)) for count in line)]
        for label, line in zip(labels, counts, strict=True)
    ]
    return Table("What is taken for what, in percent of the truth, all languages together", columns, rows)


def calibration_table(evaluation: Mapping[str, Any]) -> Table:
    """How sure and how right, by language, with the model's temperature and, where it has one, without."""
    languages: Mapping[str, Mapping[str, Any]] = evaluation["languages"]
    without: Mapping[str, Any] = evaluation.get("uncalibrated") or {}
    columns = [Column("language", text=True), Column("accuracy"), Column("mean sureness")]
    for group, decimals in (("calibration error", 1), ("loss", 3)):
        columns += [Column("without", group, decimals=decimals), Column("with", group, decimals=decimals)]
    if not without:
        columns = [*columns[:3], Column("calibration error"), Column("loss", decimals=3)]

    def row(name: str, part: Mapping[str, Any], plain: Mapping[str, Any]) -> list[Value]:
        line: list[Value] = [name, part["accuracy"], _sureness(part)]
        for key in ("calibration_error", "log_loss"):
            line += [plain[key], part[key]] if without else [part[key]]
        return line

    plain = without.get("languages") or {}
    rows = [row(language_name(code), part, plain.get(code) or {}) for code, part in languages.items()]
    foot = [row("all", evaluation["overall"], without.get("overall") or {})] if len(languages) > 1 else []
    notes = [
        "Sureness: the probability of the verdict, in percent. Calibration error: how far it is from accuracy, in mean "
        f"over {len(evaluation['overall']['bins'])} bins of statements.",
    ]
    if without:
        notes.append(
            f"With: logits divided by the model's temperature, {rounded(evaluation['temperature'], 2)}, which was "
            "fitted on other statements (`temperature_from` in run.json); verdicts are the same without."
        )
    return Table("Sureness and accuracy", columns, rows, notes, foot)


def _sureness(part: Mapping[str, Any]) -> float:
    total = sum(inside["statements"] * (inside["sureness"] or 0.0) for inside in part["bins"])
    return float(total / part["statements"])
