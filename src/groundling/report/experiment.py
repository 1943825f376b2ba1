"""A table of experiments for people: terminal, Markdown, HTML with its figures, and JSON."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from groundling.evaluation.metrics import find
from groundling.experiments.record import EITHER
from groundling.experiments.summary import RowResult, TableColumn, TableSummary
from groundling.files import write_json, write_text
from groundling.report.escape import escape_markdown, markdown_prose
from groundling.report.experiment_figures import experiment_figures
from groundling.report.formatted_table import Column, Table
from groundling.report.html import Charts, Facts, Figure, Header, Page, Section
from groundling.report.languages import language_name
from groundling.report.numbers import Measured, Value, rounded
from groundling.report.result_page import how_it_was_made, with_seeds
from groundling.report.retrieval_tables import abouts

BESIDE = 4  # up to so many columns have the published number beside ours; more have it in a row below
MANY = 8  # more columns than these become rows, where there is one metric and nothing published


def heading(summary: TableSummary, column: TableColumn) -> str:
    several = len(summary.metrics) > 1
    one_language = len(summary.languages) == 1
    metric = find(column.metric).heading
    if one_language and several:
        return metric
    language = column_title(summary, column.language)
    return f"{language} {metric}" if several else language


def column_title(summary: TableSummary, column: str) -> str:
    """The name of a language, or of a mean over several."""
    return column if column in summary.means else language_name(column)


def experiment_tables(summary: TableSummary) -> list[Table]:
    """The table itself; the intervals of its means; what our seeds say about the paper's claims.

    Rows that wait for their trainings are named below the table; those that have no published numbers are not in it.
    """
    waiting = [row.name for row in summary.rows if not row.columns and not row.empty]
    summary = replace(summary, rows=[row for row in summary.rows if row.published or row.name not in waiting])
    table = experiment_table(summary)
    trained = {training.row for training in summary.trainings}
    told = {
        "Not trained yet": [name for name in waiting if name not in trained],
        "Trained, but what this table asks for was not kept": [name for name in waiting if name in trained],
    }
    notes = [f"{what}: {'; '.join(names)}." for what, names in told.items() if names]
    tables = [replace(table, notes=[*table.notes, *notes])]
    if any(row.validated for row in summary.rows):
        tables.append(validated_table(summary))
    if len(summary.seeds) > 1:
        tables.append(interval_table(summary))
    if any(found.outcome for claim in summary.claims for found in claim.languages.values()):
        tables.append(claims_table(summary))
    return tables


def experiment_table(summary: TableSummary) -> Table:
    """Mean ± deviation over seeds, published numbers beside or below."""
    columns, rows = summary.columns, summary.rows
    published = any(row.published for row in rows)
    notes = _notes(summary, published)
    if len(columns) > MANY and len(summary.metrics) == 1 and not published:
        digits = find(summary.metrics[0]).decimals
        headings = [Column("language", text=True), *(Column(row.name, decimals=digits) for row in rows)]
        each = [[heading(summary, column), *(_ours(row, column) for row in rows)] for column in columns]
        means = sum(column.language in summary.means for column in columns)  # the last ones
        alone = len(each) - means
        return Table(summary.title, headings, each[:alone], notes, each[alone:])
    beside = published and len(columns) <= BESIDE
    headings = [Column("", text=True)]
    lines: list[list[Value]] = []
    for column in columns:
        name, metric = heading(summary, column), find(column.metric)
        best, digits = metric.better, metric.decimals
        if beside:
            headings += [Column("ours", name, best, digits), Column("published", name, "", digits)]
        else:
            headings.append(Column(name, "", best, digits))
    counted = any(row.parameters for row in rows)
    kinds = ["all", "words"]
    if counted:
        headings += [Column("all", "parameters (M)"), Column("words", "parameters (M)", decimals=2)]
        notes.append(
            "Parameters at test time, in millions, of all models of a row together; words: their vectors alone."
        )
        if summary.parameters == "trainable":
            kinds.append("trainable")
            notes.append("Trainable: what training changes, also what is left behind when a model is used.")
            headings.append(Column("trainable", "parameters (M)"))
    timed = any(row.seconds is not None for row in rows)
    if timed:
        headings.append(Column("seconds", decimals=0))
        notes.append("Seconds that one training took, with others beside it on the same device.")
    for row in rows:
        line: list[Value] = [row.name]
        for column in columns:
            line.append(_ours(row, column))
            if beside:
                line.append(row.published.get(column.name))
        if counted:
            size = row.parameters or {}
            line += [size[key] / 1e6 if key in size else None for key in kinds]
        if timed:
            line.append(row.seconds)
        lines.append(line)
        if published and not beside and row.published:
            # As text: a published number does not compete for the best of its column.
            theirs = [(row.published.get(column.name), find(column.metric).decimals) for column in columns]
            lines.append(["\u2003published", *("" if number is None else rounded(number, d) for number, d in theirs)])
            lines[-1] += [""] * ((len(kinds) if counted else 0) + timed)
    return Table(summary.title, headings, lines, notes)


def _ours(row: RowResult, column: TableColumn) -> Measured | None:
    cell = row.columns.get(column.name)
    return None if cell is None else Measured(cell.mean, cell.deviation)


def _notes(summary: TableSummary, published: bool) -> list[str]:
    seeds = len(summary.seeds)
    what = "; ".join(abouts([find(metric) for metric in summary.metrics]))
    only = find(summary.metrics[0]).heading
    if len(summary.metrics) == 1 and not what.lower().startswith(only.lower()):  # no column names it
        what = f"{only}; {what}"
    over = f"; mean ± deviation over {seeds} seeds" if seeds > 1 else "; one seed"
    folds = f", mean over {summary.folds} folds" if summary.folds > 1 else ""
    notes = [f"{what}, test split{folds}{over}."]
    if list(summary.means) != ["mean"]:
        notes += [f"{name}: the mean of {_listed(summary, codes)}." for name, codes in summary.means.items()]
    if published and summary.published_on:
        notes.append(f"Published: on {summary.published_on}; compare orders and differences, not values.")
    for row in summary.rows:
        fewest = min((len(cell.values) for cell in row.columns.values()), default=0)
        if 0 < fewest < seeds:
            notes.append(f"{row.name}: {fewest} of {seeds} seeds.")
    return [*notes, *(f"{row.name}: not trained; {row.empty}" for row in summary.rows if row.empty)]


def _listed(summary: TableSummary, codes: list[str]) -> str:
    return "all languages" if set(codes) == set(summary.languages) else ", ".join(codes)


def validated_table(summary: TableSummary) -> Table:
    """How the trainings of each row went on the dev split."""
    names = list(dict.fromkeys(name for row in summary.rows for name in row.validated))
    headings = [Column("", text=True), *(Column(name, decimals=1 if name == "dev" else 0) for name in names)]
    found = [(row.name, [row.validated.get(name) for name in names]) for row in summary.rows]
    lines: list[list[Value]] = [
        [name, *(None if each is None else Measured(each.mean, each.deviation) for each in cells)]
        for name, cells in found
    ]
    note = "Dev: mR, or the accuracy of statements, mean of the languages, at the step that was kept."
    return Table("On the dev split", headings, lines, [note])


def interval_table(summary: TableSummary) -> Table:
    """The 95% interval of each mean over seeds (Student's t)."""
    headings = [Column("", text=True), *(Column(heading(summary, column)) for column in summary.columns)]
    lines: list[list[Value]] = []
    for row in summary.rows:
        line: list[Value] = [row.name]
        for column in summary.columns:
            cell = row.columns.get(column.name)
            if cell is None or cell.interval is None:
                line.append(None)
            else:
                ends, digits = (cell.mean - cell.interval, cell.mean + cell.interval), find(column.metric).decimals
                line.append(" … ".join(rounded(end, digits) for end in ends))
        lines.append(line)
    return Table("95% intervals of the means over seeds", headings, lines)


def claims_table(summary: TableSummary) -> Table:
    """For each claim and language the difference we measured, the published one, and what follows."""
    headings = [Column("claim", text=True), Column("language", text=True), Column("difference", text=True)]
    headings += [Column("published"), Column("here", text=True)]
    lines: list[list[Value]] = []
    metrics = summary.metrics
    for claim in summary.claims:
        says, only = claim.says, claim.metric or (metrics[0] if len(metrics) == 1 else None)
        digits = 1 if only is None else find(only).decimals
        for language, found in claim.languages.items():
            ours = "–"
            if found.difference is not None:
                spread = "" if found.interval is None else f" ± {rounded(found.interval, digits)}"
                ours = f"{_signed(found.difference, digits)}{spread}{' by seed' if claim.by_seed else ''}"
            theirs = None if found.published is None else _signed(found.published, digits)
            lines.append([says, column_title(summary, language), ours, theirs, found.outcome or "not trained"])
            says = ""
    named = dict.fromkeys(find(claim.metric).heading for claim in summary.claims if claim.metric)
    several = "the mean of the columns' metrics" if len(metrics) > 1 else find(metrics[0]).heading
    if named and all(claim.metric for claim in summary.claims):
        several = " or ".join(named)
    if any(find(claim.metric or metrics[0]).better == "low" for claim in summary.claims):
        several += ", where less is better with the sign turned,"
    how = "Welch, degrees of freedom rounded down"
    if any(claim.by_seed for claim in summary.claims):
        how += "; by seed: of the differences within seeds, whose rows share what they start from"
    note = (
        f"Difference of {several} ± half of its 95% interval over seeds ({how}). Holds: the interval is above zero; "
        "opposite: below; not resolved, no difference seen: zero is inside."
    )
    return Table("What the paper says, and what our seeds say", headings, lines, [note])


def _signed(value: float, decimals: int = 1) -> str:
    text = rounded(value, decimals)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"


def experiment_page(about: str, summary: TableSummary, made: Mapping[str, str | int], figure: str = "figure") -> str:
    """The page in Markdown; its figures are files beside it, FIGURE-1.svg and so on."""
    drawn = enumerate(experiment_figures(summary), start=1)
    lines = [
        f"# {escape_markdown(summary.title)}",
        markdown_prose(about),
        *(table.markdown().rstrip("\n") for table in experiment_tables(summary)),
        *(f"![{escape_markdown(name)}]({figure}-{number}.svg)" for number, (name, _) in drawn),
        how_it_was_made(made, summary.seeds),
        trained_at(summary),
    ]
    return "\n\n".join(line for line in lines if line) + "\n"


def trained_at(summary: TableSummary) -> str:
    """Which rows were trained at which commits, where that is not the same for all."""
    by_commits = rows_by_commit(summary)
    if len(by_commits) < 2:
        return ""
    lines = [f"- {commits}: {'; '.join(map(escape_markdown, rows))}" for commits, rows in by_commits.items()]
    which = ' ("or": nobody noted which of them)' if any(EITHER in commits for commits in by_commits) else ""
    return "\n".join([f"Rows by the commit that trained them{which}:", "", *lines])


def rows_by_commit(summary: TableSummary) -> dict[str, list[str]]:
    """Rows that were trained at the same commits stand together, the commit of most trainings first. "a or b": one of
    them, nobody noted which."""
    by_row: dict[str, Counter[str]] = {}
    for one in summary.trainings:
        by_row.setdefault(one.row, Counter())[one.commit or "not noted"] += 1
    by_commits: dict[str, list[str]] = {}
    for row, commits in by_row.items():
        ordered = sorted(commits, key=lambda commit: (-commits[commit], len(commit), commit))
        by_commits.setdefault("; other seeds ".join(ordered), []).append(row)
    return by_commits


def write_figures(summary: TableSummary, folder: Path, figure: str = "figure") -> None:
    """FIGURE-1.svg and so on, and no others of that name from an earlier time."""
    for old in folder.glob(f"{figure}-*.svg"):
        old.unlink()
    for number, (_, svg) in enumerate(experiment_figures(summary), start=1):
        write_text(folder / f"{figure}-{number}.svg", svg + "\n")


def write_experiment(folder: Path, about: str, summary: TableSummary, made: Mapping[str, str | int]) -> Path:
    """results.json, results.md and results.html in `folder`; `made` says how: command, commit, device, seconds."""
    write_json(folder / "results.json", {**summary.to_json(), "about": about.strip(), "made": dict(made)})
    write_figures(summary, folder)
    write_text(folder / "results.md", experiment_page(about, summary, made))
    tables, figures = experiment_tables(summary), experiment_figures(summary)
    claims = list(reversed(tables[1:]))
    several = rows_by_commit(summary)
    by_commit = {f"trained at {commits}": "; ".join(rows) for commits, rows in several.items() if len(several) > 1}
    sections = [
        Section("Results", tables[:1]),
        Section("Figures", [Charts([Figure(svg, name) for name, svg in figures])] if figures else []),
        Section("Claims and intervals", claims),
        Section("How it was made", [Facts(list({**with_seeds(made, summary.seeds), **by_commit}.items()))]),
    ]
    page = Page(Header("groundling", summary.title, about), sections)
    write_text(folder / "results.html", page.html())
    return folder / "results.html"
