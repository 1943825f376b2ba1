"""groundling reproduce"""

import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, print_table

if TYPE_CHECKING:
    from groundling.experiments.overlap import OverlapSettings
    from groundling.experiments.table import Cell, TableSettings


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
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="Train with these seeds (repeatable).")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where runs and results go.")] = Path("runs/tables"),
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at the same time.")] = 1,
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
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Keep the weights of every training.")] = False,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Train and evaluate every cell of a paper's table with several seeds; print it beside the published numbers.

    Cells that are done are not trained again, whichever table they were trained for: what was stopped goes on where it
    was. Everything is checked before the first training starts.
    """
    from groundling.cookbook import tables as named
    from groundling.errors import UserError
    from groundling.experiments.results import how_it_was_made, summarise
    from groundling.experiments.runner import finished_cells, folder_of, run_cells
    from groundling.experiments.table import cells
    from groundling.report.experiment import experiment_tables, write_experiment
    from groundling.report.overlap import overlap_tables

    names = list(dict.fromkeys(name for each in tables for name in named(each)))
    if show and prepare:
        raise UserError("--show and --prepare are two things; ask for one at a time")
    trained, counted = _settings(names, assign or [], source)
    folders = _folders(names, out)
    wanted = {name: list(cells(table, seeds)) for name, table in trained.items()}
    every = [cell for found in wanted.values() for cell in found]
    started = time.monotonic()
    results = finished_cells(every, out) if show else run_cells(every, out, data, device, jobs, keep_weights, prepare)
    if prepare:
        return _count(wanted, set(results), as_json)
    if show and trained and not results:
        raise UserError(f"{out}: no training of {' '.join(tables)} is finished yet")
    options = [part for change in assign or [] for part in ("--set", change)]
    options += ["--source", source] if source is not None else []
    options += [part for seed in seeds or [] for part in ("--seed", str(seed))]
    summaries: dict[str, Any] = {}
    for name in names:
        if name in counted:
            summaries[name] = _words(name, counted[name], folders[name], data, show)
            shown, page = overlap_tables(summaries[name]), folders[name] / "results.md"
        else:
            own = {cell.key: results[cell.key] for cell in wanted[name] if cell.key in results}
            summaries[name] = summarise(trained[name], own, seeds)
            made = how_it_was_made(
                shlex.join(["groundling", "reproduce", name, *options]), own, len({c.folder for c in wanted[name]})
            )
            page = write_experiment(folders[name], trained[name].about, summaries[name], made)
            shown = experiment_tables(summaries[name])
        if not as_json:
            for table in shown:
                print_table(table)
            print(f"Written to {page}")
    if as_json:
        print_json(next(iter(summaries.values())) if len(summaries) == 1 else summaries)
    elif trained and not show:
        done = len({folder_of(key) for key in results})
        print(f"{done} training{'s' if done != 1 else ''}, {time.monotonic() - started:.0f} seconds")


def _count(wanted: "dict[str, list[Cell]]", done: set[str], as_json: bool) -> None:
    """How many trainings each table needs, and how many of them are done; what tables share counts in each."""
    counts = {}
    for name, cells in wanted.items():
        left = {cell.folder for cell in cells if cell.key not in done}
        every = {cell.folder for cell in cells}
        counts[name] = {"trainings": len(every), "done": len(every - left)}
    together = {cell.folder for cells in wanted.values() for cell in cells}
    if as_json:
        return print_json({"tables": counts, "trainings": len(together)})
    for name, count in counts.items():
        print(f"{name}: {count['trainings']} trainings, {count['done']} done")
    print(f"Ready: {len(together)} different trainings")


def _settings(
    names: Sequence[str], assignments: list[str], source: str | None = None
) -> tuple[dict[str, "TableSettings"], dict[str, "OverlapSettings"]]:
    """Tables of trainings, and tables of words, which are counted in the corpus alone."""
    from groundling.cookbook import read_table
    from groundling.errors import UserError
    from groundling.experiments.overlap import OverlapSettings
    from groundling.experiments.table import TableSettings
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


def _words(name: str, table: "OverlapSettings", folder: Path, data: Path | None, show: bool) -> dict[str, Any]:
    """A table of words, measured and written; with `show`, the one that is there."""
    from groundling.errors import UserError
    from groundling.experiments.overlap import measure
    from groundling.files import read_json
    from groundling.report.overlap import write_overlap

    written = folder / "results.json"
    if show:
        if not written.exists():
            raise UserError(f"{folder}: {name} is not there yet")
        return {key: value for key, value in read_json(written).items() if key != "made"}
    result = measure(table, data)
    write_overlap(folder, table.about, result, shlex.join(["groundling", "reproduce", name]))
    return result
