"""groundling reproduce"""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, print_table


def reproduce(
    table: Annotated[str, typer.Argument(help="A table by name (`groundling recipes`) or a YAML file.")],
    assign: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting of every row: --set training.patience=5.")
    ] = None,
    seeds: Annotated[list[int] | None, typer.Option("--seed", help="Train with these seeds (repeatable).")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where runs and results go; runs/TABLE when left out.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at the same time.")] = 1,
    show: Annotated[bool, typer.Option("--show", help="Print what is there so far and train nothing.")] = False,
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Keep the weights of every training.")] = False,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Train and evaluate every cell of a table with several seeds; print it as mean ± deviation.

    Cells that are done are not trained again: a table that was stopped goes on where it was.
    """
    from groundling.cli.recipes import find
    from groundling.errors import UserError
    from groundling.experiments.results import how_it_was_made, summarise
    from groundling.experiments.runner import finished_cells, run_cells
    from groundling.experiments.table import TableSettings, cells
    from groundling.report.experiment import experiment_table, write_experiment
    from groundling.settings import check, override, read_yaml

    values = read_yaml(find(table))
    if "cells" not in values:
        raise UserError(f"{table} is one recipe; train it with `groundling train {table}`")
    if not isinstance(values.get("base"), dict):
        raise UserError(f"{table}: base: a table needs the settings that its rows share")
    values["base"] = override(values["base"], assign or [])
    settings = check(TableSettings, values, table)
    folder = out or Path("runs") / (Path(table).stem if table.endswith((".yaml", ".yml")) else table)
    wanted = list(cells(settings, seeds))
    if show:
        results = finished_cells(wanted, folder)
        if not results:
            raise UserError(f"{folder}: no training of this table is finished yet")
    else:
        results = run_cells(wanted, folder, data, device, jobs, keep_weights)
    summary = summarise(settings, results, seeds)
    options = [part for change in assign or [] for part in ("--set", change)]
    options += [part for seed in seeds or [] for part in ("--seed", str(seed))]
    made = how_it_was_made(shlex.join(["groundling", "reproduce", table, *options]), results, len(wanted))
    page = write_experiment(folder, settings.about, settings.languages, summary, made)
    if as_json:
        return print_json(summary)
    print_table(experiment_table(summary, settings.languages))
    print(f"Written to {page}")
