"""The report of a run: one HTML page that needs nothing beside it, and the same in short as Markdown."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from groundling.evaluation.examples import Example, examples, queries_of
from groundling.evaluation.metrics import DIRECTIONS
from groundling.evaluation.results import EntailmentResult, Result, RetrievalResult
from groundling.evaluation.retrieval import RankedSplit
from groundling.evaluation.saved import Evaluation
from groundling.files import write_text
from groundling.report.curves import best_validation, learning_curves
from groundling.report.entailment_figures import entailment_sections
from groundling.report.entailment_tables import accuracy_table, calibration_table
from groundling.report.escape import clean, escape_markdown
from groundling.report.formatted_table import Column, Table
from groundling.report.html import Details, Facts, Header, Meter, Note, Page, Section
from groundling.report.languages import language_name
from groundling.report.numbers import Value, duration, rounded
from groundling.report.picture_sheet import picture_blocks
from groundling.report.retrieval_tables import chance_scores, fold_words, recall_table
from groundling.training.metrics import read_metrics

Data = Mapping[str, Any]

QUESTIONS = {
    "text_to_image": "of captions find their picture among the first ten",
    "image_to_text": "of pictures find a caption of theirs among the first ten",
}


class _View(Protocol):
    """What a report shows of the result of one task."""

    heading: str

    def tables(self) -> list[Table]:
        """In a page only the first has the heading above it, for figures go with the others."""
        ...

    def counted(self) -> str:
        """What was tested with, beside pictures."""
        ...

    def folds(self) -> str:
        """How pictures were divided, in words."""
        ...

    def headlines(self) -> list[tuple[str, float, float | None]]:
        """For each direction its name, mean R@10 and the R@10 of chance, where known."""
        ...

    def sections(self) -> list[Section]:
        """What comes after the table."""
        ...


@dataclass(frozen=True)
class _RetrievalView:
    result: RetrievalResult
    heading = "Recall"

    def tables(self) -> list[Table]:
        return [recall_table(self.result)]

    def counted(self) -> str:
        return f"{self.result.captions:,} captions"

    def folds(self) -> str:
        return fold_words(self.result.folds, self.result.pictures)

    def headlines(self) -> list[tuple[str, float, float | None]]:
        mean, chance = self.result.mean, chance_scores(self.result)
        return [(way, getattr(mean, way)["R@10"], getattr(chance, way).get("R@10")) for way in DIRECTIONS]

    def sections(self) -> list[Section]:
        return []


@dataclass(frozen=True)
class _EntailmentView:
    result: EntailmentResult
    heading = "Entailment"

    def tables(self) -> list[Table]:
        return [accuracy_table(self.result), calibration_table(self.result)]

    def counted(self) -> str:
        return f"{self.result.overall.statements:,} statements"

    def folds(self) -> str:
        return ""

    def headlines(self) -> list[tuple[str, float, float | None]]:
        return []

    def sections(self) -> list[Section]:
        return entailment_sections(self.result)


_VIEWS: dict[str, Callable[[Any], _View]] = {"retrieval": _RetrievalView, "entailment": _EntailmentView}


@dataclass(frozen=True)
class Seen:
    """Pictures of the training, asked about as those of the test were: what a model knows of what it has seen."""

    result: RetrievalResult
    sheet: Sequence[Example] = ()

    @staticmethod
    def of(split: RankedSplit) -> "Seen":
        return Seen(split.result, examples(split, queries=6, annotated=0))

    @property
    def recall(self) -> float:
        return float(self.result.mean.text_to_image["R@10"])


@dataclass(frozen=True)
class RunReport:
    """What a report is about.

    Attributes:
        result: the evaluation.
        metrics: the rows of metrics.jsonl.
        settings: the recipe.
        facts: run.json; nothing of a run that has not ended.
        sheet: examples to look at.
        seen: the same of training pictures, where that was asked, to be told apart from what the test asks.
    """

    result: Result
    metrics: Sequence[Data] = ()
    settings: Data = field(default_factory=dict)
    facts: Data = field(default_factory=dict)
    sheet: Sequence[Example] = ()
    seen: Seen | None = None

    @property
    def title(self) -> str:
        return " on ".join(str(part) for part in (self.facts.get("system"), self.result.corpus) if part)

    @property
    def view(self) -> _View:
        return _VIEWS[self.result.task](self.result)

    @property
    def scope(self) -> str:
        """ "Tested on 250 pictures and 3,750 captions in 15 languages (split test)."."""
        result, languages = self.result, list(self.result.languages)
        among = f"{len(languages)} languages" if len(languages) > 1 else language_name(languages[0])
        split = ", ".join(part for part in (f"(split {result.split})", self.view.folds()) if part)
        unseen = "" if self.seen is None else " that training has never seen"
        return f"Tested on {result.pictures:,} pictures{unseen} and {self.view.counted()} in {among} {split}."

    def html(self) -> str:
        meters = [
            Meter(recall, chance, f"{QUESTIONS[direction]} ({DIRECTIONS[direction]} R@10)")
            for direction, recall, chance in self.view.headlines()
        ]
        if self.seen is not None:  # unseen and seen side by side; the other direction is in the table
            chance = chance_scores(self.seen.result).text_to_image.get("R@10")
            meters[1:] = [Meter(self.seen.recall, chance, f"the same of {self._seen_pictures}")]
        facts = Facts(_facts(self.facts), _command(self.facts))
        sections = [
            Section(self.view.heading, self.view.tables()[:1]),
            *self.view.sections(),
            Section("Learning curves", learning_curves(self.metrics)),
            *self._sheets(),
            Section("Settings", [Details("All settings", _settings_table(self.settings))] if self.settings else []),
            Section("How it was made", [facts] if facts.rows or facts.command else []),
        ]
        return Page(Header("groundling report", self.title, self.scope, meters=meters), sections).html()

    @property
    def _seen_pictures(self) -> str:
        return "" if self.seen is None else f"{self.seen.result.pictures:,} pictures that it was trained on"

    def _sheets(self) -> list[Section]:
        """Unseen pictures and those of the training are never in one sheet."""
        asked, described = picture_blocks(self.sheet)
        if self.seen is None:
            return [Section("Picture sheet", [*asked, *described])]
        known = picture_blocks(self.seen.sheet)[0]
        drawn = "Drawn at random, not chosen; each is searched among {:,} pictures of its kind."
        return [
            Section(title, [Note(drawn.format(count)), *blocks] if blocks else [])
            for title, count, blocks in (
                ("Pictures that training has never seen", self.result.pictures, [*asked, *described]),
                ("Pictures that it was trained on", self.seen.result.pictures, known),
            )
        ]

    def markdown(self) -> str:
        """The report without pictures and curves, to read in a terminal or to paste into a discussion."""
        parts = [f"# {escape_markdown(self.title)}", escape_markdown(self.scope)]
        items = []
        for direction, recall, chance in self.view.headlines():
            beside = "" if chance is None else f" (chance {rounded(chance)} %)"
            items.append(f"- {rounded(recall)} % {QUESTIONS[direction]}{beside}")
        if self.seen is not None:
            items.append(f"- {rounded(self.seen.recall)} % {QUESTIONS['text_to_image']}, of {self._seen_pictures}")
        parts.append("\n".join(items))
        parts += [f"## {self.view.heading}", *(table.markdown() for table in self.view.tables())]
        best = best_validation(self.metrics)
        if best:
            parts += ["## Learning", f"Best validation score {rounded(best[1])} at step {best[0]:,.0f}."]
        queries = queries_of(self.sheet)
        if queries:
            columns = [Column("language", text=True), Column("query", text=True), Column("rank of the right picture")]
            rows: list[list[Value]] = [[language_name(one.language), one.text, one.rank] for one in queries]
            parts += ["## Queries", Table("", columns, rows).markdown()]
        if self.settings:
            parts += ["## Settings", _settings_table(self.settings).markdown()]
        command, facts = clean(_command(self.facts)), _facts(self.facts)
        if command or facts:
            parts += ["## How it was made", "\n".join("    " + line for line in command.splitlines())]
        if facts:
            parts.append(Table("", [Column("fact", text=True), Column("value", text=True)], facts).markdown())
        return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"

    def write(self, folder: Path) -> Path:
        """report.html and report.md in `folder`, each whole or not at all."""
        write_text(folder / "report.html", self.html())
        write_text(folder / "report.md", self.markdown())
        return folder / "report.html"


def write_report(evaluation: Evaluation, seen: RankedSplit | None = None) -> Path:
    """The report of a model that was evaluated, in the folder that has the evaluation; `seen` are pictures of its
    training (`evaluate_seen`)."""
    run, split, model = evaluation.run, evaluation.split, evaluation.model
    facts = run.facts().to_json() if run.finished else {"system": model.system_name}
    settings = evaluation.request.to_json(model)
    if evaluation.run == model.run:
        settings = run.recipe().model_dump(exclude_none=True)
    sheet = examples(split) if isinstance(split, RankedSplit) else []
    known = None if seen is None else Seen.of(seen)
    return RunReport(split.result, read_metrics(run.metrics_file), settings, facts, sheet, known).write(run.folder)


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
