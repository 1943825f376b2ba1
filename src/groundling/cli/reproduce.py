"""groundling reproduce"""

import math
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, print_table

if TYPE_CHECKING:
    from groundling.experiments.finished import Results
    from groundling.experiments.overlap import OverlapSettings, OverlapSummary
    from groundling.experiments.summary import TableSummary
    from groundling.experiments.table_entries import TableEntry
    from groundling.experiments.table_settings import TableSettings
    from groundling.experiments.training_queue import UnfinishedError


def reproduce(
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE…", help="Tables by name (`groundling recipes`), a folder of them, or YAML files."
        ),
    ],
    assign: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting of every row: --set training.patience=5.")
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option("--row", help='Only this row; "MULE*": all that begin so (repeatable).'),
    ] = None,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="Train with these seeds (repeatable).")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where runs and results go.")] = Path("runs/tables"),
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at the same time.")] = 1,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=100_000,
            help="Stop then: nothing is begun that would not be done, going by trainings of its kind in this run, and "
            "what is under way is stopped. The exit code is 124 where something is left for the next time.",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print what is there so far and train nothing.")] = False,
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare",
            help="Check everything, make features, word vectors and translations ready, count the trainings, and train "
            "nothing.",
        ),
    ] = False,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where rows that ask with translations have them from, instead of what the table says (see "
            "`evaluate --source`)."
        ),
    ] = None,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            help="results.json of a table, or a folder of such files: trainings of the same settings that they tell of "
            "are not done again (repeatable)."
        ),
    ] = None,
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Keep the weights of every training.")] = False,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Train and evaluate every row of a paper's table with several seeds; print it beside the published numbers.

    Several tables are one queue, in the order you name them, each seed by seed. What is done is not trained again,
    whichever table it was trained for: what was stopped goes on from its last checkpoint. Everything is checked before
    the first training starts; one that fails nevertheless is named in the end, and the others are trained.
    """
    started = time.monotonic()
    from groundling.errors import UserError
    from groundling.experiments.asked import check_together
    from groundling.experiments.finished import finished_entries, folder_of
    from groundling.experiments.how_it_was_made import how_it_was_made
    from groundling.experiments.known import beside, known_results, read_records
    from groundling.experiments.results import summarise
    from groundling.experiments.runner import run_entries
    from groundling.experiments.table_entries import in_training_order, table_entries
    from groundling.experiments.training_queue import UnfinishedError
    from groundling.recipes import tables as named
    from groundling.report.experiment import experiment_tables, write_experiment
    from groundling.report.overlap import overlap_tables

    names = list(dict.fromkeys(name for each in tables for name in named(each)))
    if show and prepare:
        raise UserError("--show and --prepare are two things; ask for one at a time")
    if minutes is not None and (show or prepare):
        raise UserError("--minutes is for training, which --show and --prepare do not")
    trained, counted = _settings(names, assign or [], source)
    if rows:
        trained, counted = _only(rows, trained), {}
        names = list(trained)
    folders = _folders(names, out)
    wanted = {name: list(table_entries(table, seeds)) for name, table in trained.items()}
    every = [entry for found in wanted.values() for entry in in_training_order(found)]
    told = read_records(known or [])
    done_here = finished_entries(every, out) if told else {}
    on_record = known_results(told, [(trained[name], wanted[name]) for name in trained], done_here, complete=not show)
    if known and trained:
        _tell_known(known, on_record, {entry.folder for entry in every})
    unfinished = None
    try:
        until = math.inf if minutes is None else started + 60 * minutes
        results = {} if show else run_entries(every, out, data, device, jobs, keep_weights, prepare, until, on_record)
    except UnfinishedError as error:
        unfinished = error
    if show or unfinished is not None:
        results = beside(on_record, finished_entries(every, out))
        check_together(every, results)
    if prepare:
        return _count(wanted, set(results), as_json)
    if show and trained and not results:
        raise UserError(f"{out}: no training of {' '.join(tables)} is finished yet")
    done = len({folder_of(key) for key in results})
    options = [part for row in rows or [] for part in ("--row", row)]
    options += [part for change in assign or [] for part in ("--set", change)]
    options += ["--source", source] if source is not None else []
    options += [part for seed in seeds or [] for part in ("--seed", str(seed))]
    summaries: dict[str, OverlapSummary | TableSummary] = {}
    for name in names:
        if name in counted:
            words = summaries[name] = _words(name, counted[name], folders[name], data, show)
            shown, page = overlap_tables(words), folders[name] / "results.md"
        else:
            own = {entry.key: results[entry.key] for entry in wanted[name] if entry.key in results}
            found = summaries[name] = summarise(trained[name], own, seeds)
            if not own and unfinished is not None:  # there is nothing to be seen yet
                continue
            command = shlex.join(["groundling", "reproduce", name, *options])
            made = how_it_was_made(command, own, wanted[name])
            page = write_experiment(folders[name], trained[name].about, found, made)
            shown = experiment_tables(found)
        if not as_json:
            for table in shown:
                print_table(table)
            print(f"Written to {page}")
    if as_json:
        plain = {name: summary.to_json() for name, summary in summaries.items()}
        print_json(plain if len(plain) > 1 else plain[names[0]])
    elif trained and not show and unfinished is None:
        print(f"{done} training{'s' if done != 1 else ''}, {time.monotonic() - started:.0f} seconds")
    if unfinished is not None:
        _tell_unfinished(unfinished, done)


def _tell_known(paths: Sequence[Path], known: "Results", wanted: set[str]) -> None:
    from groundling.experiments.finished import folder_of
    from groundling.progress import notice

    folders = {folder_of(key) for key in known}
    unnoted = len({folder_of(key) for key, found in known.items() if not found.asked and folder_of(key) == key})
    trainings = f"{len(wanted)} training{'s' if len(wanted) != 1 else ''}"
    told = (
        f"{len(folders)} of {trainings} {'is' if len(folders) == 1 else 'are'} known from {', '.join(map(str, paths))}"
    )
    if unnoted:
        told += f"; of {unnoted} nobody noted which captions were tested on, so that they cannot be compared"
    notice(told)


def _tell_unfinished(unfinished: "UnfinishedError", done: int) -> NoReturn:
    """How many trainings are missing, and what to do. The exit code tells a failure from an end of the time."""
    from groundling.cli import TIMED_OUT
    from groundling.progress import notice

    command = shlex.join(["groundling", *sys.argv[1:]])
    notice(f"{done} training{'s' if done != 1 else ''} done, {unfinished}; go on with: {command}")
    if not unfinished.failed:
        raise typer.Exit(TIMED_OUT)
    raise typer.Exit(2 if all(failure.expected for _, failure in unfinished.failed) else 1)


def _only(rows: list[str], tables: dict[str, "TableSettings"]) -> dict[str, "TableSettings"]:
    """The tables that have some of these rows, with these alone; a row that none has is a mistake."""
    from groundling.errors import UserError, did_you_mean
    from groundling.experiments.table_settings import with_rows

    for name in rows:
        if not any(with_rows(table, [name]).rows for table in tables.values()):
            known = {row.name for table in tables.values() for row in table.rows}
            raise UserError(f'--row: no row is called "{name}"{did_you_mean(name, known)}')
    chosen = {name: with_rows(table, rows) for name, table in tables.items()}
    return {name: table for name, table in chosen.items() if table.rows}


def _count(wanted: "dict[str, list[TableEntry]]", done: set[str], as_json: bool) -> None:
    """How many trainings each table needs, and how many of them are done; what tables share counts in each."""
    counts = {}
    for name, entries in wanted.items():
        left = {entry.folder for entry in entries if entry.key not in done}
        every = {entry.folder for entry in entries}
        counts[name] = {"trainings": len(every), "done": len(every - left)}
    together = {entry.folder for entries in wanted.values() for entry in entries}
    if as_json:
        return print_json({"tables": counts, "trainings": len(together)})
    for name, count in counts.items():
        print(f"{name}: {count['trainings']} trainings, {count['done']} done")
    print(f"Ready: {len(together)} different trainings")


def _settings(
    names: Sequence[str], assignments: list[str], source: str | None = None
) -> tuple[dict[str, "TableSettings"], dict[str, "OverlapSettings"]]:
    """Tables of trainings, and tables of words, which are counted in the corpus alone."""
    from groundling.errors import UserError
    from groundling.experiments.overlap import OverlapSettings
    from groundling.experiments.table_settings import TableSettings
    from groundling.recipes import read_table
    from groundling.settings import assignment, check

    changes = dict(assignment(text) for text in assignments)
    for key, instead in (("training.seed", "--seed"), ("corpus.languages", "rows of a table of your own")):
        if key in changes:
            raise UserError(f"--set {key}: a table says that itself; use {instead}")
    trained, counted = {}, {}
    for name in names:
        values = read_table(name)
        if "overlap" in values:
            counted[name] = check(OverlapSettings, values, name)
            continue
        if not isinstance(values.get("base"), dict):
            raise UserError(f"{name}: base: a table needs the settings that its rows share")
        table = check(TableSettings, values, name)
        told: dict[str, Any] = {"change": {**table.change, **changes}}
        if source is not None:
            rows = [row.model_copy(update={"ask": row.ask and row.ask.asked_from(source)}) for row in table.rows]
            told |= {"rows": rows}
        trained[name] = table.model_copy(update=told)
    return trained, counted


def _folders(names: Sequence[str], out: Path) -> dict[str, Path]:
    """Where each table is written; files of one name in two folders go by both names."""
    files = [name for name in names if name.endswith((".yaml", ".yml"))]
    stems = [Path(name).stem for name in files]
    folders = {}
    for name in names:
        own = name
        if name in files:
            path = Path(name)
            own = path.stem if stems.count(path.stem) == 1 else f"{path.resolve().parent.name}-{path.stem}"
        folders[name] = out / own
    return folders


def _words(name: str, table: "OverlapSettings", folder: Path, data: Path | None, show: bool) -> "OverlapSummary":
    """A table of words, measured and written; with `show`, the one that is there."""
    from groundling.errors import UserError
    from groundling.experiments.overlap import OverlapSummary, measure
    from groundling.files import read_json
    from groundling.report.overlap import write_overlap

    written = folder / "results.json"
    if show:
        if not written.exists():
            raise UserError(f"{folder}: {name} is not there yet")
        return OverlapSummary.from_json(read_json(written))
    result = measure(table, data)
    write_overlap(folder, table.about, result, shlex.join(["groundling", "reproduce", name]))
    return result
