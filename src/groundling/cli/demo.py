"""groundling demo"""

import time
from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Device, print_json


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The run folder; made anew each time.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another model.")] = 0,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Train one model on emoji named in fifteen languages, test it on 250 emoji it has never seen, and write a report.

    Draws the pictures, computes their features, trains and evaluates: about two minutes on two cores, no download.
    """
    import shutil

    from groundling.cli.evaluate import show_result
    from groundling.dataset import Dataset
    from groundling.devices import pick_device
    from groundling.encoders.tokenisers import use
    from groundling.errors import UserError
    from groundling.evaluation.saved import evaluate_run
    from groundling.evaluation.seen import evaluate_seen
    from groundling.recipes import resolve
    from groundling.report.run_report import write_report
    from groundling.run import Run
    from groundling.training import train

    started = time.monotonic()
    recipe = resolve("emoji/demo", {}, [f"training.seed={seed}"])
    ours = Run(out).recipe_file.exists() and Run(out).recipe().name == recipe.name
    if out.is_dir() and any(out.iterdir()) and not ours:
        raise UserError(f"{out}: holds something else than a demo; choose another folder with --out")
    pick_device(device)
    use.version()  # told before a minute of pictures, not after, if it is not installed
    dataset = Dataset.load(recipe.corpus, recipe.features, training=True)
    if out.is_dir():
        shutil.rmtree(out)  # only now: a demo that cannot start leaves the last one
    run = train(recipe, dataset, out, device=device)
    evaluation = evaluate_run(run.folder, device=device, dataset=dataset)
    result = evaluation.result
    seen = evaluate_seen(evaluation.model, dataset, result.pictures)
    page, facts = write_report(evaluation, seen), result.to_json()
    seconds = time.monotonic() - started
    if as_json:
        known = None if seen is None else seen.result.to_json()["mean"]
        more = {"seen": known, "run": str(run.folder), "report": str(page), "seconds": round(seconds, 1)}
        return print_json({**facts, **more})
    show_result(result)
    mean, chance = facts["mean"]["text_to_image"]["R@10"], facts["chance"]["R@10"]
    print(f"Text→image R@10, mean of {len(result.languages)} languages (chance {chance:.1f}):")
    print(f"{mean:5.1f}  {result.pictures} pictures that training has never seen")
    if seen is not None:
        print(f"{seen.result.mean.text_to_image['R@10']:5.1f}  {seen.result.pictures} pictures that it was trained on")
    print(f"Report: {page} ({seconds:.0f} s in all)")
