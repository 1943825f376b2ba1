"""Trainings that need not be done again: their numbers are on record in the JSON of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from groundling.errors import UserError
from groundling.experiments.entry_data import entry_dataset
from groundling.experiments.finished import Results, shortened
from groundling.experiments.record import KEY, Record, records_from_json
from groundling.experiments.table_entries import TableEntry
from groundling.experiments.table_settings import TableSettings
from groundling.experiments.validations import written
from groundling.files import read_json


def read_records(paths: Iterable[Path]) -> list[Record]:
    """The trainings that JSON files of tables tell of, also all files of that kind in a folder.

    What several tables tell of one training is put together. That they tell different things of it is an error, since
    nobody could say which of them a new table should have.
    """
    known: dict[str, tuple[Record, Path]] = {}
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        told = [(file, record) for file in files for record in _of_file(file, alone=not path.is_dir())]
        if not told:
            raise UserError(f"{path}: no JSON of a table here that tells of its trainings")
        for file, record in told:
            if record.training not in known:
                known[record.training] = record, file
                continue
            before, source = known[record.training]
            known[record.training] = _together(before, record, source, file), source
    return [record for record, _ in known.values()]


def _of_file(path: Path, alone: bool) -> list[Record]:
    """Of a folder, files that are no tables count for nothing."""
    data = read_json(path)
    if not isinstance(data, dict) or KEY not in data:
        if alone:
            raise UserError(
                f"{path}: does not tell of its trainings; it is no table, or was made by an older groundling"
            )
        return []
    return records_from_json(data[KEY], str(path))


def _together(first: Record, second: Record, source: Path, other: Path) -> Record:
    values = {code: dict(numbers) for code, numbers in first.values.items()}
    for code, numbers in second.values.items():
        for metric, number in numbers.items():
            if values.setdefault(code, {}).setdefault(metric, number) != number:
                raise UserError(
                    f"{other}: {metric} of {first.training} in {code} is {number:g}, and {values[code][metric]:g} in "
                    f"{source}; give only one of the two with --known"
                )
    return replace(
        first,
        values=values,
        parameters=first.parameters or second.parameters,
        seconds=second.seconds if first.seconds is None else first.seconds,
        steps=first.steps or second.steps,
        best_step=first.best_step or second.best_step,
        dev=second.dev if first.dev is None else first.dev,
        reached={**second.reached, **first.reached},
        asked=first.asked | second.asked,
    )


def known_results(records: Iterable[Record], tables: Iterable[tuple[TableSettings, Sequence[TableEntry]]]) -> Results:
    """The entries of some tables that need not be trained: all that their tables ask of them is on record."""
    by_key = {record.training: record for record in records}
    asked = [(table, entry) for table, entries in tables for entry in entries if entry.key in by_key]
    lacking = {entry.key for table, entry in asked if not _has_all(by_key[entry.key], table, entry)}
    return {entry.key: by_key[entry.key].found() for _, entry in asked if entry.key not in lacking}


def _has_all(record: Record, table: TableSettings, entry: TableEntry) -> bool:
    """The metrics in each language that the entry has a column for, and what else the table shows of a training."""
    translated = entry.ask is not None and entry.ask.translate_to
    answered = [code for code in table.languages if code in (record.values if translated else entry.answers)]
    metrics = all(metric in record.values.get(code, {}) for code in answered for metric in table.metrics)
    sizes = bool(record.parameters) or not (table.parameters or table.x == "parameters")
    reached = table.reaches is None or written(table.reaches) in record.reached
    validated = not table.validation or (record.dev is not None and reached)
    seconds = record.seconds is not None or not table.seconds
    return bool(answered) and metrics and sizes and validated and seconds


def check_asked(entries: Iterable[TableEntry], known: Results, data: Path | None) -> None:
    """Numbers of other test captions than those that are here now belong into no table with new ones."""
    looked_at = set()
    for entry in entries:
        asked = known[entry.key].asked if entry.key in known and entry.ask is None and not entry.pretrained else {}
        settings = entry.recipe.model_dump_json(include={"corpus", "evaluation"})
        if not asked or settings in looked_at:
            continue
        looked_at.add(settings)
        here = _asked_here(entry, data)
        changed = sorted(code for code, digest in asked.items() if here.get(code) != digest)
        if changed:
            raise UserError(
                f"corpus {entry.recipe.corpus.name}: its test captions in {', '.join(changed)} are not those that "
                f"{entry.key} was tested on; leave the file that tells of it out of --known"
            )


def _asked_here(entry: TableEntry, data: Path | None) -> dict[str, str]:
    from groundling import systems
    from groundling.evaluation.provenance import corpus_hashes
    from groundling.evaluation.retrieval import check_queries

    dataset, asked = entry_dataset(entry, data), entry.recipe.evaluation
    if systems.of(entry.recipe).task == "entailment":
        corpus = dataset.judged().split("test").corpus
        return shortened(corpus_hashes(corpus, None if corpus.statements is None else corpus.statements.labels))
    corpus = dataset.split("test").corpus
    return shortened(corpus_hashes(check_queries(corpus, "test", asked.captions, asked.folds)))
