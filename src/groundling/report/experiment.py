"""A table of experiments for people: terminal, Markdown, HTML with its figures, and JSON."""

from pathlib import Path
from typing import Any

from groundling.experiments.table_settings import ENTAILMENT_METRICS, less_is_better
from groundling.files import write_json, write_text
from groundling.report.document import document, figure
from groundling.report.escape import code, escape, escape_markdown
from groundling.report.experiment_figures import experiment_figures
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name, metric_decimals, metric_name
from groundling.report.numbers import Measured, Value, rounded

BESIDE = 4  # up to so many columns have the published number beside ours; more have it in a row below
MANY = 8  # more columns than these become rows, where there is one metric and nothing published
SPELLED_OUT = {
    "mR": "mean recall mR (mean of R@1, R@5, R@10 in both directions)",
    "rsum": "sum of the six recalls",
    "accuracy": "Accuracy: share of statements, in percent, that are judged right",
    "log_loss": "Loss: mean of −ln of the probability of the true label; a third each is 1.099",
    "calibration_error": "Calibration error: how far sureness is from accuracy, in percent",
}

Summary = dict[str, Any]


def heading(summary: Summary, column: dict[str, str]) -> str:
    several = len(summary["metrics"]) > 1
    one_language = len(summary["languages"]) == 1
    metric = metric_name(column["metric"])
    if one_language and several:
        return metric
    language = column_title(summary, column["language"])
    return f"{language} {metric}" if several else language


def column_title(summary: Summary, column: str) -> str:
    """The name of a language, or of a mean over several."""
    return column if column in summary["means"] else language_name(column)


def experiment_tables(summary: Summary) -> list[Table]:
    """The table itself; the intervals of its means; what our seeds say about the paper's claims."""
    tables = [experiment_table(summary)]
    if len(summary["seeds"]) > 1:
        tables.append(interval_table(summary))
    if any("verdict" in found for claim in summary["claims"] for found in claim["languages"].values()):
        tables.append(claims_table(summary))
    return tables


def experiment_table(summary: Summary) -> Table:
    """Mean ± deviation over seeds, published numbers beside or below."""
    columns, rows = summary["columns"], summary["rows"]
    published = any(row["published"] for row in rows)
    notes = _notes(summary, published)
    if len(columns) > MANY and len(summary["metrics"]) == 1 and not published:
        digits = metric_decimals(summary["metrics"][0])
        headings = [Column("language", text=True), *(Column(row["name"], decimals=digits) for row in rows)]
        each = [[heading(summary, column), *(_ours(row, column) for row in rows)] for column in columns]
        means = sum(column["language"] in summary["means"] for column in columns)  # the last ones
        alone = len(each) - means
        return Table(summary["title"], headings, each[:alone], notes, each[alone:])
    beside = published and len(columns) <= BESIDE
    headings = [Column("", text=True)]
    lines: list[list[Value]] = []
    for column in columns:
        name, best = heading(summary, column), "low" if less_is_better(column["metric"]) else "high"
        digits = metric_decimals(column["metric"])
        if beside:
            headings += [Column("ours", name, best, digits), Column("published", name, "", digits)]  # type: ignore[arg-type]
        else:
            headings.append(Column(name, "", best, digits))  # type: ignore[arg-type]
    counted = any(row["parameters"] for row in rows)
    kinds = ["all", "words"]
    if counted:
        headings += [Column("all", "parameters (M)"), Column("words", "parameters (M)", decimals=2)]
        notes.append(
            "Parameters at test time, in millions, of all models of a row together; words: their vectors alone."
        )
        if summary["parameters"] == "trainable":
            kinds.append("trainable")
            notes.append("Trainable: what training changes, also what is left behind when a model is used.")
            headings.append(Column("trainable", "parameters (M)"))
    for row in rows:
        line: list[Value] = [row["name"]]
        for column in columns:
            line.append(_ours(row, column))
            if beside:
                line.append(row["published"].get(column["name"]))
        if counted:
            size = row["parameters"] or {}
            line += [size[key] / 1e6 if key in size else None for key in kinds]
        lines.append(line)
        if published and not beside and row["published"]:
            # As text: a published number does not compete for the best of its column.
            theirs = [(row["published"].get(column["name"]), metric_decimals(column["metric"])) for column in columns]
            lines.append(["\u2003published", *("" if number is None else rounded(number, d) for number, d in theirs)])
            lines[-1] += [""] * len(kinds) if counted else []
    return Table(summary["title"], headings, lines, notes)


def _ours(row: dict[str, Any], column: dict[str, str]) -> Measured | None:
    cell = row["columns"].get(column["name"])
    return None if cell is None else Measured(cell["mean"], cell["deviation"])


def _notes(summary: Summary, published: bool) -> list[str]:
    seeds = len(summary["seeds"])
    metrics = summary["metrics"]
    several = "; ".join(SPELLED_OUT[metric] for metric in metrics) if metrics[0] in ENTAILMENT_METRICS else "Recalls"
    what = SPELLED_OUT.get(metrics[0], metric_name(metrics[0])) if len(metrics) == 1 else several
    over = f"; mean ± deviation over {seeds} seeds" if seeds > 1 else "; one seed"
    folds = f", mean over {summary['folds']} folds" if summary["folds"] > 1 else ""
    notes = [f"{what}, test split{folds}{over}."]
    if list(summary["means"]) != ["mean"]:
        notes += [f"{name}: the mean of {_listed(summary, codes)}." for name, codes in summary["means"].items()]
    if published and summary["published_on"]:
        notes.append(f"Published: on {summary['published_on']}; compare orders and differences, not values.")
    return notes


def _listed(summary: Summary, codes: list[str]) -> str:
    return "all languages" if set(codes) == set(summary["languages"]) else ", ".join(codes)


def interval_table(summary: Summary) -> Table:
    """The 95% interval of each mean over seeds (Student's t)."""
    headings = [Column("", text=True), *(Column(heading(summary, column)) for column in summary["columns"])]
    lines: list[list[Value]] = []
    for row in summary["rows"]:
        line: list[Value] = [row["name"]]
        for column in summary["columns"]:
            cell = row["columns"].get(column["name"])
            if cell is None or cell["interval"] is None:
                line.append(None)
            else:
                ends, digits = (cell["mean"] - cell["interval"], cell["mean"] + cell["interval"]), column["metric"]
                line.append(" … ".join(rounded(end, metric_decimals(digits)) for end in ends))
        lines.append(line)
    return Table("95% intervals of the means over seeds", headings, lines)


def claims_table(summary: Summary) -> Table:
    """For each claim and language the difference we measured, the published one, and what follows."""
    headings = [Column("claim", text=True), Column("language", text=True), Column("difference", text=True)]
    headings += [Column("published"), Column("here", text=True)]
    lines: list[list[Value]] = []
    metrics = summary["metrics"]
    for claim in summary["claims"]:
        says, only = claim["says"], claim.get("metric", metrics[0] if len(metrics) == 1 else None)
        digits = metric_decimals(only)
        for language, found in claim["languages"].items():
            ours = "–"
            if "difference" in found:
                spread = "" if found["interval"] is None else f" ± {rounded(found['interval'], digits)}"
                ours = f"{_signed(found['difference'], digits)}{spread}"
            theirs = None if found["published"] is None else _signed(found["published"], digits)
            lines.append([says, column_title(summary, language), ours, theirs, found.get("verdict", "–")])
            says = ""
    named = dict.fromkeys(metric_name(claim["metric"]) for claim in summary["claims"] if "metric" in claim)
    several = "the mean of the columns' metrics" if len(metrics) > 1 else metric_name(metrics[0])
    if named and all("metric" in claim for claim in summary["claims"]):
        several = " or ".join(named)
    if any(less_is_better(claim.get("metric", metrics[0])) for claim in summary["claims"]):
        several += ", where less is better with the sign turned,"
    note = (
        f"Difference of {several} ± half of its 95% interval over seeds (Welch). Holds: the interval is above zero; "
        "opposite: below; not resolved, no difference seen: zero is inside."
    )
    return Table("What the paper says, and what our seeds say", headings, lines, [note])


def _signed(value: float, decimals: int = 1) -> str:
    text = rounded(value, decimals)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def write_experiment(folder: Path, about: str, summary: Summary, made: dict[str, Any]) -> Path:
    """results.json, results.md and results.html in `folder`; `made` says how: command, commit, device, seconds."""
    write_json(folder / "results.json", {**summary, "made": made})
    tables = experiment_tables(summary)
    lines = [
        f"# {escape_markdown(summary['title'])}",
        escape_markdown(about.strip()),
        *(table.markdown().rstrip("\n") for table in tables),
    ]
    lines += ["## How it was made", "\n".join(f"- {key}: {code(value)}" for key, value in made.items())]
    figures = experiment_figures(summary)
    drawn = []
    for number, (name, svg) in enumerate(figures, start=1):
        write_text(folder / f"figure-{number}.svg", svg + "\n")
        drawn.append(f"![{escape_markdown(name)}](figure-{number}.svg)")
    lines[-2:-2] = drawn
    write_text(folder / "results.md", "\n\n".join(line for line in lines if line) + "\n")
    head = f'<p class="kind">groundling</p><h1>{escape(summary["title"])}</h1><p class="lead">{escape(about)}</p>'
    charts = "".join(figure(svg, name) for name, svg in figures)
    facts = "".join(f"<dt>{escape(key)}</dt><dd>{escape(str(value))}</dd>" for key, value in made.items())
    sections = {
        "Results": "\n".join(table.html() for table in tables[:1]),
        "Figures": f'<div class="charts">{charts}</div>' if charts else "",
        "Claims and intervals": "\n".join(table.html() for table in reversed(tables[1:])),
        "How it was made": f"<dl>{facts}</dl>",
    }
    write_text(folder / "results.html", document(summary["title"], f"<header>{head}</header>", sections))
    return folder / "results.html"
