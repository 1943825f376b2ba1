"""Trainings that need not be done again: their numbers are on record in the JSON of a table."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from groundling.errors import UserError
from groundling.experiments.finished import Results, folder_of
from groundling.experiments.record import EITHER, KEY, SHARED, Record, records_from_json
from groundling.experiments.record_settings import are_the_same, settings_of
from groundling.experiments.table_entries import TableEntry
from groundling.experiments.table_settings import TableSettings
from groundling.experiments.validations import written
from groundling.files import read_json

Told = dict[str, list[tuple[Record, Path]]]  # key of an entry → what files tell of it


def read_records(paths: Iterable[Path]) -> Told:
    """The trainings that JSON files of tables tell of. Of a folder, files that are no tables count for nothing, and
    neither do those of single trainings, in its `cells`."""
    told: Told = {}
    for path in paths:
        if path.is_dir():
            found = [(file, _in_folder(file)) for file in sorted(path.rglob("*.json")) if "cells" not in file.parts]
        else:
            found = [(path, _records(read_json(path), path))]
        if not any(records for _, records in found):
            raise UserError(
                f"{path}: {'no JSON of a table here that tells' if path.is_dir() else 'does not tell'} of its "
                "trainings; it is no table, or was made by an older groundling"
            )
        for file, records in found:
            for record in records:
                told.setdefault(record.training, []).append((record, file))
    return told


def _in_folder(file: Path) -> list[Record]:
    try:
        data = json.loads(file.read_bytes()) if file.is_file() else None
    except (OSError, ValueError):  # what is half written, or no JSON, is no table
        return []
    return _records(data, file)


def _records(data: object, file: Path) -> list[Record]:
    if not isinstance(data, dict) or not isinstance(data.get(KEY), list):
        return []
    return records_from_json(data[KEY], data.get(SHARED, {}), str(file))


def known_results(
    told: Told,
    tables: Iterable[tuple[TableSettings, Sequence[TableEntry]]],
    done: Collection[str] = (),
    complete: bool = True,
) -> Results:
    """The entries of some tables that need not be trained, since all that their tables ask of them is on record.

    Without `complete`, those too that lack a part of it, whose cells then stay empty. What is `done` has numbers of
    its own, and so has whatever else is asked of the same training: those of another one do not stand beside them.
    Pretrained models are not trained, and evaluated anew: another one may lie in the same place now.
    """
    trained = {folder_of(key) for key in done}
    found: dict[str, Record] = {}
    lacking = set()
    for table, entries in tables:
        counted = _counted(table, entries)
        for entry in entries:
            if entry.key not in told or entry.pretrained or entry.folder in trained:
                continue
            if entry.key not in found:
                record = _together(told[entry.key])
                if not are_the_same(record.settings, settings_of(entry.recipe)):
                    continue
                found[entry.key] = record
            if complete and not _has_all(found[entry.key], table, entry, entry.key in counted):
                lacking.add(entry.key)
    return {key: record.found() for key, record in found.items() if key not in lacking}


def beside(known: Results, done: Results, again: Collection[str] = ()) -> Results:
    """What is known, and what is done: of a training that is done here, or again, nothing else counts."""
    own = {folder_of(key) for key in done} | set(again)
    return {**{key: found for key, found in known.items() if folder_of(key) not in own}, **done}


def _counted(table: TableSettings, entries: Iterable[TableEntry]) -> set[str]:
    """The keys of entries whose parameters a table shows: those of each model's last seed (see `results.summarise`)."""
    if not table.parameters and table.x != "parameters":
        return set()
    return set({(entry.row, entry.group, entry.answers): entry.key for entry in entries}.values())


def _has_all(record: Record, table: TableSettings, entry: TableEntry, counted: bool) -> bool:
    """Whether the entry's languages were asked, each has all metrics if it has any, and what else the table shows,
    its parameters where they are `counted`."""
    translated = entry.ask is not None and entry.ask.translate_to
    asked = set(table.languages) & set(table.languages if translated else entry.answers)
    metrics = all(set(table.metrics) <= record.values[code].keys() for code in asked & record.values.keys())
    sizes = {"all", "words", *(["trainable"] if table.parameters == "trainable" else [])} if counted else set()
    reached = table.reaches is None or written(table.reaches) in record.reached
    return (
        asked <= set(record.columns)
        and metrics
        and sizes <= record.parameters.keys()
        and (not table.validation or (record.dev is not None and reached))
        and (record.seconds is not None or not table.seconds)
    )


def _together(told: Sequence[tuple[Record, Path]]) -> Record:
    """What several tables tell of one training, put together. It must be the same training as far as they tell: nobody
    could say otherwise whose numbers a new table should have."""
    (whole, source), *others = told
    for record, file in others:
        for one, other in contradictions(whole, record):
            raise UserError(
                f"{file}: {one} of {record.training}, where {source} has {other}: two trainings of the same settings; "
                "give the file of one of them with --known, not the folder of both"
            )
        values = {code: {**whole.values.get(code, {}), **numbers} for code, numbers in record.values.items()}
        whole = replace(
            whole,
            values={**whole.values, **values},
            columns=list(dict.fromkeys([*whole.columns, *record.columns])),
            settings=whole.settings or record.settings,
            commit=_one_of(whole.commit, record.commit),
            device=_one_of(whole.device, record.device),
            precision=_one_of(whole.precision, record.precision),
            parameters={**record.parameters, **whole.parameters},
            steps=whole.steps or record.steps,
            seconds=record.seconds if whole.seconds is None else whole.seconds,
            best_step=whole.best_step or record.best_step,
            dev=record.dev if whole.dev is None else whole.dev,
            reached={**record.reached, **whole.reached},
            asked={**record.asked, **whole.asked},
            builds_on={**record.builds_on, **whole.builds_on},
        )
    return whole


def contradictions(first: Record, second: Record) -> Iterable[tuple[str, str]]:
    """What both tell of one training, and otherwise: what the second says, and what the first."""
    for code in first.values.keys() & second.values.keys():
        yield from _other(f"{{}} in {code}", first.values[code], second.values[code])
    yield from _other("test captions in {}", first.asked, second.asked)
    yield from _other("setting {}", first.settings, second.settings)
    yield from _other("parameters, {}", first.parameters, second.parameters)
    yield from _other("steps to {}", first.reached, second.reached)
    noted = [
        {name: value for name in ("dev", "steps", "best_step", "seconds") if (value := getattr(one, name)) is not None}
        for one in (first, second)
    ]
    yield from _other("{}", *noted)
    for name in ("commit", "device", "precision"):
        one, other = getattr(first, name), getattr(second, name)
        if one is not None and other is not None and not set(one.split(EITHER)) & set(other.split(EITHER)):
            yield f"{name} {other}", one


def _other(name: str, first: Mapping[str, object], second: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for key in sorted(first.keys() & second.keys()):
        if first[key] != second[key]:
            yield f"{name.format(key)}: {second[key]}", str(first[key])


def _one_of(first: str | None, second: str | None) -> str | None:
    """Of what each says it is, "a or b" where that is not known, what both say."""
    if first is None or second is None:
        return first or second
    return EITHER.join(one for one in first.split(EITHER) if one in second.split(EITHER))
