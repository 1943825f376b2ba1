"""The report of a run: one HTML page that needs nothing beside it, and the same in short as Markdown."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundling.files import write_text
from groundling.report.curves import best_validation, learning_curves
from groundling.report.document import document
from groundling.report.entailment_figures import entailment_sections
from groundling.report.entailment_tables import accuracy_table, calibration_table
from groundling.report.escape import clean, escape, escape_markdown
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name
from groundling.report.numbers import duration, rounded
from groundling.report.retrieval_tables import DIRECTIONS, chance_by_direction, fold_words, recall_table
from groundling.report.sheet import picture_sheet

Data = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

QUESTIONS = {
    "text_to_image": "of captions find their picture among the first ten",
    "image_to_text": "of pictures find a caption of theirs among the first ten",
}


def _title(evaluation: Data, run: Data) -> str:
    system, corpus = run.get("system"), evaluation.get("corpus")
    return " on ".join(str(part) for part in (system, corpus) if part) or "Report"


def _overall(evaluation: Data) -> Data:
    """The mean over languages, which for a single language is that language."""
    languages = evaluation.get("languages") or {}
    return evaluation.get("mean") or (next(iter(languages.values())) if len(languages) == 1 else {})


def _scope(evaluation: Data) -> str:
    """ "Tested on 250 pictures and 3,750 captions in 15 languages (split test)."."""
    counts = [
        f"{evaluation[key]:,} {key}"
        for key in ("pictures", "captions", "statements")
        if isinstance(evaluation.get(key), int)
    ]
    languages = list(evaluation.get("languages") or {})
    if len(languages) > 1:
        among = f"in {len(languages)} languages"
    else:
        among = f"in {language_name(languages[0])}" if languages else ""
    if not counts and not among:
        return ""
    split = f" (split {evaluation['split']})" if evaluation.get("split") else ""
    folds = fold_words(evaluation)
    split += f", {folds}" if folds else ""
    return " ".join(part for part in ("Tested on", " and ".join(counts), among) if part) + f"{split}."


def _results(evaluation: Data) -> dict[str, Table]:
    """The tables of what was found, by their headings."""
    if not evaluation.get("languages"):
        return {}
    if evaluation.get("task") == "entailment":
        return {"Verdicts": accuracy_table(evaluation)}
    return {"Recall": recall_table(evaluation)}


def _headlines(evaluation: Data) -> list[tuple[str, float, float | None]]:
    """For each direction what is asked, mean R@10 and the R@10 of chance, where known."""
    overall, chance = _overall(evaluation), chance_by_direction(evaluation)
    found = []
    for direction in DIRECTIONS:
        recall = (overall.get(direction) or {}).get("R@10")
        by_chance = (chance.get(direction) or {}).get("R@10")
        if recall is not None:
            found.append((direction, float(recall), None if by_chance is None else float(by_chance)))
    return found


def _head(evaluation: Data, run: Data) -> str:
    meters = []
    for direction, recall, chance in _headlines(evaluation):
        line = f"{QUESTIONS[direction]} ({DIRECTIONS[direction]} R@10)"
        mark, beside = "", ""
        if chance is not None:
            mark = f'<div class="chance" style="left:{min(max(chance, 0), 100):.2f}%"></div>'
            beside = f" <small>chance {rounded(chance)} %</small>"
        meters.append(
            f'<div class="meter"><p class="value">{rounded(recall)} %{beside}</p>'
            f'<div class="track" aria-hidden="true"><div class="fill" style="width:{min(max(recall, 0), 100):.2f}%">'
            f'</div>{mark}</div><p class="note">{escape(line)}</p></div>'
        )
    scope = _scope(evaluation)
    return (
        f'<header><p class="kind">groundling report</p><h1>{escape(_title(evaluation, run))}</h1>'
        + (f'<p class="lead">{escape(scope)}</p>' if scope else "")
        + (f'<div class="meters">{"".join(meters)}</div>' if meters else "")
        + "</header>"
    )


def _in_words(value: Any) -> str:
    if isinstance(value, list | tuple) and not any(isinstance(item, Mapping) for item in value):
        return ", ".join(map(str, value)) or "(none)"
    return str(value)


def _flat(data: Data, above: str = "") -> list[tuple[str, Any]]:
    """Nested data as dotted names and values."""
    rows: list[tuple[str, Any]] = []
    for key, value in data.items():
        rows += _flat(value, f"{above}{key}.") if isinstance(value, Mapping) and value else [(f"{above}{key}", value)]
    return rows


def _settings_table(settings: Data) -> Table:
    rows = [(name, _in_words(value)) for name, value in _flat(settings)]
    return Table("", [Column("setting", text=True), Column("value", text=True)], rows)


def _command(run: Data) -> str:
    command = run.get("command")
    return shlex.join(map(str, command)) if isinstance(command, list | tuple) else str(command or "")


def _facts(run: Data) -> list[tuple[str, str]]:
    """What there is to know about a run except its command, in words."""
    rows = []
    for key, value in _flat(run):
        if key == "command" or value is None:
            continue
        if key == "seconds" and isinstance(value, int | float):
            rows.append(("time", duration(value)))
        elif isinstance(value, int) and not isinstance(value, bool) and key != "seed":
            rows.append((key.replace("_", " "), f"{value:,}"))
        elif isinstance(value, float):
            rows.append((key.replace("_", " "), f"{value:.6g}"))
        else:
            rows.append((key.replace("_", " "), _in_words(value)))
    return rows


def _made(run: Data) -> str:
    command = _command(run)
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in _facts(run))
    return (f"<pre><code>{escape(command)}</code></pre>" if command else "") + (f"<dl>{facts}</dl>" if facts else "")


def render(
    evaluation: Data | None = None,
    metrics: Rows | None = None,
    settings: Data | None = None,
    run: Data | None = None,
    sheet: Rows | None = None,
) -> str:
    """The page. A part that was not given is left out."""
    evaluation, run = evaluation or {}, run or {}
    details = (
        f"<details><summary>All settings</summary>{_settings_table(settings).html()}</details>" if settings else ""
    )
    sections = {
        **{title: table.html() for title, table in _results(evaluation).items()},
        **(entailment_sections(evaluation) if evaluation.get("task") == "entailment" else {}),
        "Learning curves": learning_curves(metrics or []),
        "Picture sheet": picture_sheet(sheet or []),
        "Settings": details,
        "How it was made": _made(run),
    }
    return document(_title(evaluation, run), _head(evaluation, run), sections)


def render_markdown(
    evaluation: Data | None = None,
    metrics: Rows | None = None,
    settings: Data | None = None,
    run: Data | None = None,
    sheet: Rows | None = None,
) -> str:
    """The report without pictures and curves, to read in a terminal or to paste into a discussion."""
    evaluation, run = evaluation or {}, run or {}
    parts = [f"# {escape_markdown(_title(evaluation, run))}", escape_markdown(_scope(evaluation))]
    items = []
    for direction, recall, chance in _headlines(evaluation):
        beside = "" if chance is None else f" (chance {rounded(chance)} %)"
        items.append(f"- {rounded(recall)} % {QUESTIONS[direction]}{beside}")
    parts.append("\n".join(items))
    for title, table in _results(evaluation).items():
        parts += [f"## {title}", table.markdown()]
    if evaluation.get("task") == "entailment" and evaluation.get("languages"):
        parts.append(calibration_table(evaluation).markdown())
    best = best_validation(metrics or [])
    if best:
        parts += ["## Learning", f"Best validation score {rounded(best[1])} at step {best[0]:,.0f}."]
    queries = [entry for entry in sheet or [] if "captions" not in entry]
    if queries:
        columns = [Column("language", text=True), Column("query", text=True), Column("rank of the right picture")]
        rows = [[language_name(str(q.get("language") or "")), str(q.get("text", "")), q.get("rank")] for q in queries]
        parts += ["## Queries", Table("", columns, rows).markdown()]
    if settings:
        parts += ["## Settings", _settings_table(settings).markdown()]
    command, facts = clean(_command(run)), _facts(run)
    if command or facts:
        parts += ["## How it was made", "\n".join("    " + line for line in command.splitlines())]
    if facts:
        parts.append(Table("", [Column("fact", text=True), Column("value", text=True)], facts).markdown())
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def write(
    folder: Path,
    evaluation: Data | None = None,
    metrics: Rows | None = None,
    settings: Data | None = None,
    run: Data | None = None,
    sheet: Rows | None = None,
) -> tuple[Path, Path]:
    """report.html and report.md in `folder`, each whole or not at all."""
    page, short = folder / "report.html", folder / "report.md"
    write_text(page, render(evaluation, metrics, settings, run, sheet))
    write_text(short, render_markdown(evaluation, metrics, settings, run, sheet))
    return page, short
