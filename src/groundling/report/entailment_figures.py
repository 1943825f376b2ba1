"""The figures of a model that judges statements: what it takes for what, how sure it may be, and which languages are
hard for it. The tables beside them are in `report.verdicts`.
"""

from collections.abc import Mapping
from typing import Any

from groundling.corpus.entailment import LABELS
from groundling.evaluation.entailment_scores import EntailmentScores
from groundling.report.charts.marks import count_square, scatter
from groundling.report.charts.plots import Series, line_chart
from groundling.report.distances import KINDS, by_distance, spearman
from groundling.report.document import figure
from groundling.report.entailment_tables import calibration_table
from groundling.report.escape import escape
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name
from groundling.report.numbers import rounded

# Table 4.1 of seed 003: test loss and accuracy (%) on SNLI-VE, translated by machine for all but English.
PUBLISHED = {
    "en": (0.6550, 73.17),
    "de": (0.6761, 73.19),
    "nl": (0.6853, 71.35),
    "ja": (0.7149, 70.82),
    "zh": (0.7161, 69.94),
    "ko": (0.7391, 68.75),
}
FEWEST = 3  # languages for a correlation
SHORT = ("contrad.", "neutral", "entailed")
THREE = "grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr))"  # figures side by side

Data = Mapping[str, Any]


def entailment_sections(evaluation: Data, base: str = "en") -> dict[str, str]:
    """Heading → finished HTML, from evaluation.json; a part without data is empty. Curves are in `report.curves`.

    `base` is the language that distances are measured from: the teacher's.
    """
    judgement = EntailmentScores.from_json(evaluation)
    published = str(evaluation.get("corpus", "")).removeprefix("e-").startswith("snli-ve")
    return {
        "Beside the published numbers": published_table(evaluation).html() if published else "",
        "What is taken for what": confusion_figures(judgement),
        "Is it as sure as it is right?": reliability_figure(evaluation),
        "Accuracy and distance between languages": distance_figures(judgement, base),
    }


def published_table(evaluation: Data) -> Table:
    """Loss and accuracy by language in the shape of Table 4.1, with its numbers beside ours."""
    languages = evaluation.get("languages") or {}
    plain = (evaluation.get("uncalibrated") or {}).get("languages") or languages  # as theirs: no temperature
    codes = [*PUBLISHED, *(code for code in languages if code not in PUBLISHED)]
    columns = [Column("language", text=True)]
    columns += [Column(name, "test loss", "low", 4) for name in ("ours", "published")]
    columns += [Column(name, "test accuracy", "high", 2) for name in ("ours", "published")]
    rows = []
    for code in codes:
        ours, theirs = languages.get(code) or {}, PUBLISHED.get(code, (None, None))
        loss = (plain.get(code) or {}).get("log_loss")
        rows.append([language_name(code), loss, theirs[0], ours.get("accuracy"), theirs[1]])
    note = (
        "Published: Table 4.1 of the thesis, CLIP-VE in English and one student of it for each language, on SNLI-VE's "
        "test split, which was translated by machine. Only numbers on the same statements can be compared. Losses are "
        "without a temperature, as theirs."
    )
    return Table("Loss and accuracy by language", columns, rows, [note])


def confusion_figures(judgement: EntailmentScores) -> str:
    """One square for all statements, and one for each language where there are several."""
    parts = [("All languages", judgement.overall)] if len(judgement.languages) != 1 else []
    parts += [(language_name(code), part) for code, part in judgement.languages.items()]
    figures = [
        figure(
            count_square(f"Confusion, {name}", LABELS, part.confusion, SHORT), f"{name}, {part.statements:,} statements"
        )
        for name, part in parts
    ]
    note = "Rows are the truth; each row sums to 100 %. What is judged right is framed."
    return f'<div class="charts" style="{THREE}">{"".join(figures)}</div><p class="note">{note}</p>'


def reliability_figure(evaluation: Data) -> str:
    """Accuracy against sureness, with a temperature and without, beside the diagonal of what is as sure as it is right.

    A point is a bin of statements about which the model is about equally sure.
    """
    lowest = 100 / len(LABELS)
    ideal = Series("as sure as right", [(lowest, lowest), (100.0, 100.0)])
    series, without = [_reliability("the model", evaluation), ideal], evaluation.get("uncalibrated")
    if without:
        series.append(_reliability("without its temperature", without))
    chart = line_chart(
        "Accuracy by sureness", series, "probability of the verdict, %", "right, %", y_range=(0.0, 100.0)
    )
    caption = "All languages; below the diagonal the model is too sure of itself"
    table = calibration_table(evaluation).html()
    return f'<div class="charts" style="max-width:28rem">{figure(chart, caption)}</div>{table}'


def _reliability(name: str, evaluation: Data) -> Series:
    bins = evaluation["overall"]["bins"]
    return Series(name, [(part["sureness"], part["accuracy"]) for part in bins if part["sureness"] is not None])


def distance_figures(judgement: EntailmentScores, base: str = "en") -> str:
    """Accuracy against each of the six distances; a sentence where too few distances are known."""
    accuracy = {code: part.accuracy for code, part in judgement.languages.items()}
    if len(accuracy) < 2:
        return ""
    known = by_distance(accuracy, KINDS[0], base)
    if len(known) < FEWEST:
        return (
            f'<p class="note">{escape(f"Distances from {language_name(base)} are known")} '
            f"for {len(known)} of these languages, too few to draw.</p>"
        )
    whiskers = {code: (part.low, part.high) for code, part in judgement.languages.items()}
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
        figures.append(figure(chart, f"{kind.capitalize()}: {told}"))
    missing = [language_name(code) for code in accuracy if code not in known and code != base]
    notes = [
        f"ρ: Spearman's rank correlation over {len(known)} languages; the share says how often languages in a random "
        "order have one as far from 0. With so few languages, six distances that go with each other, and translations "
        "of different quality, this shows a tendency at most. Whiskers: 95 % intervals.",
        "Distances: URIEL (Littell et al. 2017) as Table 1.1 of the thesis prints them."
        + (f" Not in that table: {', '.join(missing)}." if missing else ""),
    ]
    told_notes = "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
    return f'<div class="charts">{"".join(figures)}</div>{told_notes}'
