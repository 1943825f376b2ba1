"""groundling calibrate"""

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, print_json


def calibrate(
    run: Annotated[Path, typer.Argument(help="The folder of a trained run that judges statements.")],
    corpus: Annotated[
        str | None,
        typer.Option(help="A corpus, or your own table with a column `label`; the run's own dev split when left out."),
    ] = None,
    split: Annotated[
        str, typer.Option(help="Which statements of --corpus: of none that the run was trained on.")
    ] = "dev",
    decisions: Annotated[
        Path | None,
        typer.Option(help="What editors have decided about captions, as the sheet of `groundling check` saves it."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="With --decisions: the folder of its pictures; its own when left out.")
    ] = None,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Make the probabilities of a run's labels as sure as they are right. What it predicts stays what it is.

    Training does this by itself. It is for runs that were trained before it did, and for statements of your own that
    are more like what the model will be asked. Changes the temperature in run.json and nothing else.
    """
    from groundling.errors import UserError
    from groundling.training.calibrating import calibrate as fit

    if decisions is not None and corpus is not None:
        raise UserError("--decisions and --corpus are two sources of the same; choose one")
    if pictures is not None and decisions is None:
        raise UserError("--pictures goes with --decisions")
    result = fit(run, corpus, split, data, device, decisions, pictures)
    if as_json:
        return print_json(result.to_json())
    print(
        f"{run}: temperature {result.temperature:.3f}, from {result.told_by}, where the mean loss is "
        f"{result.loss_calibrated:.3f} rather than {result.loss_uncalibrated:.3f}"
    )
    print(f"Next: groundling evaluate {run}")
