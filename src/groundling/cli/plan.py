"""groundling plan"""

from typing import Annotated, Any

import typer

from groundling.cli.output import AsJson, print_json, print_table


def plan(
    pictures: Annotated[
        float | None, typer.Option(help="How many, such as 1e7; left out: what to use from 10,000 to 100,000,000.")
    ] = None,
    captions: Annotated[float | None, typer.Option(help="How many; five for each picture when left out.")] = None,
    gpus: Annotated[int, typer.Option(help="How many there are.")] = 1,
    cores: Annotated[int, typer.Option(help="Of processors, on all machines together.")] = 16,
    dimensions: Annotated[int, typer.Option(help="Of the vectors of an index.")] = 512,
    features: Annotated[int, typer.Option(help="Numbers that the backbone makes of a picture.")] = 1280,
    megapixels: Annotated[
        float, typer.Option(help="Of a picture file; 0.3 as on the web, 12 as of a camera.")
    ] = 0.3072,
    epochs: Annotated[int, typer.Option(help="How often a training sees each caption.")] = 10,
    test_pictures: Annotated[int, typer.Option(help="How many pictures an evaluation ranks.")] = 5000,
    gpu_memory: Annotated[float, typer.Option(help="Of one GPU, in GB; 141 is that of an H200.")] = 141,
    gpu_hour: Annotated[
        float | None,
        typer.Option(help="Your price of an hour that one GPU computes; without prices no cost is computed."),
    ] = None,
    cpu_hour: Annotated[float | None, typer.Option(help="Your price of an hour that one core computes.")] = None,
    machine_hour: Annotated[
        float | None, typer.Option(help="Your price of an hour by the clock of all cores and GPUs together.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table as on a page.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute memory, disk, hours and cost of encoding, training, evaluating, indexing and serving so much.

    From measured numbers alone, which --json lists with the commands that measured them; what was not is left out.
    """
    from dataclasses import asdict

    from groundling.errors import UserError
    from groundling.plan import Work
    from groundling.plan import plan as planned
    from groundling.plan.plan_table import CAPTIONS_EACH, overview, parts_table, sizes

    if pictures is None and captions is not None:
        raise UserError("--captions goes with --pictures; without both there are five for each picture")
    count = 1 if pictures is None else _whole("--pictures", pictures)
    work = Work(
        count,
        CAPTIONS_EACH * count if captions is None else _whole("--captions", captions),
        gpus,
        cores,
        dimensions,
        features,
        megapixels,
        epochs,
        test_pictures,
        gpu_memory * 1e9,
        gpu_hour,
        cpu_hour,
        machine_hour,
    )
    if pictures is None:
        shown = overview(work)
        value: Any = [asdict(made) for made in sizes(work)]
    else:
        made = planned(work)
        shown, value = parts_table(made), asdict(made)
    if as_json:
        return print_json(value)
    if markdown:
        return print(shown.markdown())
    print_table(shown)


def _whole(option: str, value: float) -> int:
    """1e7 is a whole number, too."""
    from groundling.errors import UserError

    if not 1 <= value <= 1e15:
        raise UserError(f"{option}: from 1 to 1e15, not {value:g}")
    return round(value)
