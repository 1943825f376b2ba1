"""The tables of a model that judges statements: accuracy by language, with what needs no picture beside it; what is
taken for what; and whether it is as sure as it is right.
"""

from groundling.corpus.entailment import LABELS
from groundling.evaluation.metrics import METRICS, EntailmentMetric, of_kind
from groundling.evaluation.results import Calibration, EntailmentResult, EntailmentScores
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name
from groundling.report.numbers import Value, rounded


def accuracy_table(result: EntailmentResult) -> Table:
    """One row per language, and the mean over languages; `majority` and `words only` never look at a picture."""
    others = [metric for metric in of_kind(EntailmentMetric) if metric.in_tables and metric.name != "accuracy"]
    columns = [Column("language", text=True), Column("statements"), Column("accuracy", best="high")]
    columns += [Column("95% interval", text=True)]
    columns += [Column(metric.heading, "", "", metric.decimals) for metric in others]
    columns += [Column("majority", "without pictures"), Column("words only", "without pictures")]
    if result.seen:
        columns += [Column(name, "accuracy, in training") for name in ("share", "seen", "new")]
    rows: list[list[Value]] = [
        [
            language_name(code),
            part.statements,
            part.accuracy,
            f"{part.low:.1f} … {part.high:.1f}",
            *(part.values.get(metric.name) for metric in others),
            part.majority,
            result.text_only[code].words if code in result.text_only else None,
            *_seen(result, code),
        ]
        for code, part in result.languages.items()
    ]
    foot: list[list[Value]] = []
    if len(result.languages) > 1:
        mean, words = result.mean, [found.words for found in result.text_only.values()]
        alone = sum(words) / len(words) if len(words) == len(result.languages) else None
        numbers = [mean.get(metric.name) for metric in others]
        empty: list[Value] = [None] * (3 if result.seen else 0)
        foot.append(["mean", None, mean["accuracy"], "", *numbers, mean["majority"], alone, *empty])
    about = [METRICS["accuracy"].about, "Majority: always the label that is most frequent in training"]
    about += ["Words only: logistic regression on the words of the statement", *(metric.about for metric in others)]
    if result.seen:
        about.append("Share: of statements that training has word for word, of other pictures")
    title = f"Accuracy by language, {result.corpus} {result.split}"
    return Table(title, columns, rows, [f"{'. '.join(about)}."], foot)


def _seen(result: EntailmentResult, code: str) -> list[Value]:
    if not result.seen:
        return []
    found = result.seen.get(code)
    if found is None:
        return [None, None, None]
    return [100 * found.seen / max(1, found.seen + found.new), found.seen_accuracy, found.new_accuracy]


def confusion_table(result: EntailmentResult) -> Table:
    """How often statements of each label were judged to be of each, all languages together, in percent."""
    columns = [Column("truth", text=True), *(Column(label, "judged") for label in LABELS)]
    rows: list[list[Value]] = [
        [label, *(100 * count / max(1, sum(line)) for count in line)]
        for label, line in zip(LABELS, result.overall.confusion, strict=True)
    ]
    return Table("What is taken for what, in percent of the truth, all languages together", columns, rows)


def calibration_table(result: EntailmentResult) -> Table:
    """How sure and how right, by language, with the model's temperature and, where it has one, without."""
    without = result.uncalibrated
    columns = [Column("language", text=True), Column("accuracy"), Column("mean sureness")]
    measures = [METRICS[name] for name in ("calibration_error", "log_loss")]
    for metric in measures:
        beside = [("without", metric.heading), ("with", metric.heading)] if without else [(metric.heading, "")]
        columns += [Column(*names, decimals=metric.decimals) for names in beside]

    def row(name: str, part: EntailmentScores, plain: Calibration | None) -> list[Value]:
        line: list[Value] = [name, part.accuracy, _sureness(part)]
        for metric in measures:
            line += [] if plain is None else [getattr(plain, metric.name)]
            line.append(part.values[metric.name])
        return line

    plain = without.languages if without else {}
    rows = [row(language_name(code), part, plain.get(code)) for code, part in result.languages.items()]
    foot = [row("all", result.overall, without.overall if without else None)] if len(result.languages) > 1 else []
    notes = [
        "Sureness: the probability of the predicted label, in percent. Calibration error: how far it is from accuracy, "
        f"in mean over {len(result.overall.bins)} bins of statements.",
    ]
    if without:
        notes.append(
            f"With: logits divided by the model's temperature, {rounded(result.temperature, 2)}, which was fitted on "
            "other statements (`temperature_from` in run.json); what is predicted is the same without."
        )
    return Table("Sureness and accuracy", columns, rows, notes, foot)


def _sureness(part: EntailmentScores) -> float:
    return sum(inside.statements * (inside.sureness or 0.0) for inside in part.bins) / part.statements
