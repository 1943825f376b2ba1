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
    gpu_hour: Annotated[
        float | None, typer.Option(help="What an hour of one GPU costs; no cost is computed without.")
    ] = None,
    cpu_hour: Annotated[float | None, typer.Option(help="What an hour of one core costs.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table as on a page.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute memory, disk, hours and cost of encoding, training, evaluating, indexing and serving so much.

    From measured numbers alone, which --json lists with the commands that measured them; what was not is left out.
    """
    from dataclasses import asdict

    from groundling.plan import SIZES, Work
    from groundling.plan import plan as planned
    from groundling.plan.plan_table import overview, parts_table

    if pictures is None:
        plans = [planned(Work(size, 5 * size, gpus, cores)) for size in SIZES]
        shown = overview(gpus, cores)
        value: Any = [asdict(one) for one in plans]
    else:
        count = _whole("--pictures", pictures)
        texts = 5 * count if captions is None else _whole("--captions", captions)
        sizes = {"dimensions": dimensions, "features": features, "epochs": epochs, "test_pictures": test_pictures}
        made = planned(
            Work(count, texts, gpus, cores, megapixels=megapixels, gpu_price=gpu_hour, core_price=cpu_hour, **sizes)
        )
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
