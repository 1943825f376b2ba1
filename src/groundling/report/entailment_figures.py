"""The figures of a model that judges statements: what it takes for what, how sure it may be, and which languages are
hard for it. The tables beside them are in `report.entailment_tables`.
"""

from groundling.corpus.entailment import LABELS
from groundling.evaluation.language_distances import KINDS, by_distance, spearman
from groundling.evaluation.metrics import METRICS
from groundling.evaluation.results import Calibration, EntailmentResult, EntailmentScores
from groundling.recipes import PUBLISHED
from groundling.report.charts import Series, lines, scatter, square
from groundling.report.entailment_tables import calibration_table
from groundling.report.formatted_table import Column, Table
from groundling.report.html import Block, Charts, Figure, Note, Section
from groundling.report.languages import language_name
from groundling.report.numbers import rounded
from groundling.settings import Settings, check, read_yaml

FEWEST = 3  # languages for a correlation
SHORT = ("contrad.", "neutral", "entailed")
THREE = "grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))"  # figures side by side


class PublishedEntailment(Settings):
    """Published numbers by language, and the corpora that they are of; a part of one is called by its name and more."""

    title: str
    corpora: list[str]
    log_loss: dict[str, float]
    accuracy: dict[str, float]
    notes: list[str]


def entailment_sections(result: EntailmentResult, base: str = "en") -> list[Section]:
    """`base` is the language that distances are measured from: the teacher's. Curves are in `report.curves`."""
    published = published_entailment()
    beside = result.corpus.startswith(tuple(published.corpora))
    return [
        Section("Beside the published numbers", [published_table(result, published)] if beside else []),
        Section("What is taken for what", confusion_figures(result)),
        Section("Is it as sure as it is right?", reliability_figure(result)),
        Section("Accuracy and distance between languages", distance_figures(result, base)),
    ]


def published_entailment(name: str = "snli-ve") -> PublishedEntailment:
    path = PUBLISHED / f"{name}.yaml"
    return check(PublishedEntailment, read_yaml(path), path.name)


def published_table(result: EntailmentResult, published: PublishedEntailment) -> Table:
    """Loss and accuracy by language, published numbers beside ours."""
    plain: dict[str, Calibration | EntailmentScores] = {**result.languages}
    plain |= result.uncalibrated.languages if result.uncalibrated else {}  # as theirs: no temperature
    columns = [Column("language", text=True)]
    for metric, decimals in ((METRICS["log_loss"], 4), (METRICS["accuracy"], 2)):
        columns += [Column(name, f"test {metric.heading}", metric.better, decimals) for name in ("ours", "published")]
    rows = []
    for code in dict.fromkeys([*published.accuracy, *result.languages]):
        loss = plain[code].log_loss if code in plain else None
        accuracy = result.languages[code].accuracy if code in result.languages else None
        theirs = published.log_loss.get(code), published.accuracy.get(code)
        rows.append([language_name(code), loss, theirs[0], accuracy, theirs[1]])
    return Table(published.title, columns, rows, published.notes)


def confusion_figures(result: EntailmentResult) -> list[Block]:
    """One square for all statements, and one for each language where there are several."""
    parts = [("All languages", result.overall)] if len(result.languages) != 1 else []
    parts += [(language_name(code), part) for code, part in result.languages.items()]
    figures = [
        Figure(square(f"Confusion, {name}", LABELS, part.confusion, SHORT), f"{name}, {part.statements:,} statements")
        for name, part in parts
    ]
    note = "Rows are the truth; each row sums to 100 %. What is judged right is framed."
    return [Charts(figures, style=THREE), Note(note)]


def reliability_figure(result: EntailmentResult) -> list[Block]:
    """Accuracy against sureness, with a temperature and without, beside the diagonal of what is as sure as it is right.

    A point is a bin of statements about which the model is about equally sure.
    """
    lowest = 100 / len(LABELS)
    ideal = Series("as sure as right", [(lowest, lowest), (100.0, 100.0)])
    series = [_reliability("the model", result.overall.calibration), ideal]
    if result.uncalibrated:
        series.append(_reliability("without its temperature", result.uncalibrated.overall))
    x_label = "probability of the predicted label, %"
    chart = lines("Accuracy by sureness", series, x_label, "right, %", y_range=(0.0, 100.0))
    caption = "All languages; below the diagonal the model is too sure of itself"
    return [Charts([Figure(chart, caption)], style="max-width:28rem"), calibration_table(result)]


def _reliability(name: str, found: Calibration) -> Series:
    return Series(name, [(part.sureness, part.accuracy) for part in found.bins if part.sureness is not None])


def distance_figures(result: EntailmentResult, base: str = "en") -> list[Block]:
    """Accuracy against each of the six distances; a sentence where too few distances are known."""
    accuracy = {code: part.accuracy for code, part in result.languages.items()}
    if len(accuracy) < 2:
        return []
    known = by_distance(accuracy, KINDS[0], base)
    if len(known) < FEWEST:
        start = f"Distances from {language_name(base)} are known for {len(known)} of these languages"
        return [Note(f"{start}, too few to draw.")]
    whiskers = {code: (part.low, part.high) for code, part in result.languages.items()}
    ends = [end for code in known for end in whiskers[code]]
    figures = []
    for kind in KINDS:
        points = by_distance(accuracy, kind, base)
        found = spearman([x for x, _ in points.values()], [y for _, y in points.values()])
        told = "no correlation can be computed"
        if found.value is not None and found.chance is not None:
            value = rounded(found.value, 2).replace("-", "−")
            told = f"ρ = {value}, by chance as far from 0 in {100 * found.chance:.0f} %"
        chart = scatter(
            f"Accuracy by {kind} distance",
            points,
            f"{kind} distance from {language_name(base)}",
            "right, %",
            {code: whiskers[code] for code in points},
            (min(ends), max(ends)),
        )
        figures.append(Figure(chart, f"{kind.capitalize()}: {told}"))
    missing = [language_name(code) for code in accuracy if code not in known and code != base]
    notes = [
        f"ρ: Spearman's rank correlation over {len(known)} languages; the share says how often languages in a random "
        "order have one as far from 0. With so few languages, six distances that go with each other, and translations "
        "of different quality, this shows a tendency at most. Whiskers: 95 % intervals.",
        "Distances: URIEL (Littell et al. 2017) as Xu 2024, Table 1.1, prints them."
        + (f" Not in that table: {', '.join(missing)}." if missing else ""),
    ]
    return [Charts(figures), *map(Note, notes)]
