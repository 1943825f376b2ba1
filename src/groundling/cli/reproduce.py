"""groundling reproduce"""

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, print_table

if TYPE_CHECKING:
    from groundling.experiments.table import TableSettings


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
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Keep the weights of every training.")] = False,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Train and evaluate every cell of a paper's table with several seeds; print it beside the published numbers.

    Cells that are done are not trained again, whichever table they were trained for: what was stopped goes on where it
    was. Everything is checked before the first training starts.
    """
    from groundling.cookbook import read_table
    from groundling.cookbook import tables as named
    from groundling.errors import UserError
    from groundling.experiments.results import how_it_was_made, summarise
    from groundling.experiments.runner import finished_cells, run_cells
    from groundling.experiments.table import cells
    from groundling.report.experiment import experiment_tables, write_experiment

    settings = {name: _settings(name, read_table(name), assign or []) for each in tables for name in named(each)}
    trained: dict[str, TableSettings] = {name: table for name, table in settings.items() if table is not None}
    measured = {name: _overlap(name, out, data) for name in settings if name not in trained}
    wanted = {name: list(cells(table, seeds)) for name, table in trained.items()}
    every = [cell for found in wanted.values() for cell in found]
    started = time.monotonic()
    results = finished_cells(every, out) if show else run_cells(every, out, data, device, jobs, keep_weights)
    if show and trained and not results:
        raise UserError(f"{out}: no training of {' '.join(tables)} is finished yet")
    options = [part for change in assign or [] for part in ("--set", change)]
    options += [part for seed in seeds or [] for part in ("--seed", str(seed))]
    summaries: dict[str, Any] = {name: result for name, (result, _) in measured.items()}
    for name, table in trained.items():
        folders = {cell.folder for cell in wanted[name]}
        own = {folder: result for folder, result in results.items() if folder in folders}
        summaries[name] = summarise(table, own, seeds)
        command = shlex.join(["groundling", "reproduce", name, *options])
        page = write_experiment(
            _folder(out, name), table.about, summaries[name], how_it_was_made(command, own, len(folders))
        )
        if not as_json:
            for each_table in experiment_tables(summaries[name]):
                print_table(each_table)
            print(f"Written to {page}")
    for _, tables_to_print in measured.values() if not as_json else ():
        for each_table in tables_to_print:
            print_table(each_table)
    if as_json:
        print_json(next(iter(summaries.values())) if len(summaries) == 1 else summaries)
    elif trained and not show:
        print(f"{len(results)} trainings, {time.monotonic() - started:.0f} seconds")


def _settings(name: str, values: dict[str, Any], assignments: list[str]) -> "TableSettings | None":
    """The settings of a table of trainings; None for a table of words, which is measured from the corpus alone."""
    from groundling.errors import UserError
    from groundling.experiments.table import TableSettings
    from groundling.settings import check, override

    if "overlap" in values:
        return None
    if not isinstance(values.get("base"), dict):
        raise UserError(f"{name}: base: a table needs the settings that its rows share")
    return check(TableSettings, {**values, "base": override(values["base"], assignments)}, name)


def _overlap(name: str, out: Path, data: Path | None) -> tuple[dict[str, Any], list[Any]]:
    """Measure a table of words and write it; the result, and tables to print."""
    from groundling.cookbook import read_table
    from groundling.experiments.overlap import OverlapSettings, measure
    from groundling.report.overlap import overlap_tables, write_overlap
    from groundling.settings import check

    table = check(OverlapSettings, read_table(name), name)
    result = measure(table, data)
    write_overlap(_folder(out, name), table.about, result, shlex.join(["groundling", "reproduce", name]))
    return result, overlap_tables(result)


def _folder(out: Path, name: str) -> Path:
    return out / (Path(name).stem if name.endswith((".yaml", ".yml")) else name)
