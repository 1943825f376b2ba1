"""groundling train"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, warn_of_skipped

RSUM_MOST = 600  # six recalls of a language, in percent


def train(
    recipe: Annotated[
        str | None, typer.Argument(help="A recipe: a YAML file, or one by name (`groundling recipes`).")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The run folder; runs/NAME when left out.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Train on this corpus (a name, folder or captions table).")] = None,
    system: Annotated[str | None, typer.Option(help="Train this system (`groundling recipes`).")] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", help="Change a setting: --set training.seed=1 (repeatable).")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with this run, killed or interrupted, from its checkpoint.")
    ] = None,
    data: Data = None,
    device: Device = "auto",
    processes: Annotated[
        int, typer.Option(min=1, max=64, help="Train in so many processes of this machine (several GPUs; or cores).")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Train a model; evaluate it with `groundling evaluate RUN` afterwards.

    Where neither a recipe nor a system is named, our own system is trained, with settings for the corpus and the
    machine; what they are, and why, is said.

    Examples: `groundling train --corpus my-corpus --out runs/mine`, `groundling train emoji/demo`,
    `groundling train --corpus my-corpus --system lessons`, `groundling train --resume runs/mine`.

    On several machines: `torchrun --nnodes 2 … -m groundling train …`; see `docs/guides/several-gpus.md`.
    """
    if processes > 1:
        from groundling.training.launch import launch

        raise typer.Exit(launch(processes, without_option(sys.argv[1:], "--processes")))
    from groundling import progress
    from groundling.api import tell, train_recipe
    from groundling.cli.recipes import resolve_or_choose
    from groundling.errors import UserError
    from groundling.run import Run
    from groundling.training.processes import first

    if not first():
        progress.show(False)
    if resume is not None:
        if recipe or corpus or system or assign or out:
            raise UserError("--resume takes the run's own recipe; leave the other settings out")
        if not Run(resume).recipe_file.exists():
            raise UserError(f"{resume}: no run to resume here (there is no recipe.json)")
        chosen, folder = Run(resume).recipe(), resume
    else:
        chosen, reasons = resolve_or_choose(recipe, corpus, system, assign or [], data, device)
        if first():
            tell(reasons)
        folder = out or Path("runs") / chosen.name
    run = train_recipe(chosen, folder, data, device, resume=resume is not None, warn=warn_of_skipped)
    if not first():
        return
    facts = run.facts()
    if as_json:
        return print_json({"run": str(run.folder), **facts.to_json()})
    languages = len(facts.languages) if chosen.training.validation_language == "all" else 1
    print(
        f"{run.folder}: {facts.steps} steps in {facts.seconds:.0f} s, best at step {facts.best_step}: "
        f"{best_score(facts.score, facts.best_score, languages)}; {facts.parameters:,} parameters"
    )
    if facts.splits is None or facts.splits.get("test"):
        print(f"Next: groundling evaluate {run.folder}")
    else:
        print(f"Next: groundling index FOLDER_OF_PICTURES --model {run.folder} (there is no test split to evaluate on)")


def best_score(name: str, value: float, languages: int) -> str:
    """A validation score with what it is, for those who do not know its name.

    >>> best_score("rsum", 1090.2, 2)
    'validation rsum 1,090 of at most 1,200 (R@1, R@5 and R@10 in percent, both directions, 2 languages, summed)'
    """
    if name != "rsum":
        return f"validation {name} {value:.4g}"
    many = f"{languages} languages" if languages > 1 else "1 language"
    sums = f"R@1, R@5 and R@10 in percent, both directions, {many}, summed"
    return f"validation rsum {value:,.0f} of at most {RSUM_MOST * languages:,} ({sums})"


def without_option(arguments: Sequence[str], option: str) -> list[str]:
    """A command line without an option and its value, however they are written."""
    left, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == option:
            skip = True
        elif not argument.startswith(f"{option}="):
            left.append(argument)
    return left
