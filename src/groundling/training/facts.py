"""What is worth knowing about a training after it ended, for the report and for comparisons."""

import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch

import groundling
from groundling.devices import pick_precision
from groundling.evaluation.parameters import count, totals
from groundling.run_facts import RunFacts
from groundling.systems import Context, Plan
from groundling.training.checkpoint import Progress


def facts(plan: Plan, context: Context, at: Progress) -> RunFacts:
    recipe, corpus, device = context.recipe, context.train.corpus, context.device
    data, encoders, tokeniser = plan.sample or plan.data, plan.encoders, plan.tokeniser
    _, each = np.unique(data.languages, return_index=True)  # a caption in each language: they may have their own parts
    rows = torch.from_numpy(each).to(device)
    pictures = torch.zeros(1, encoders.picture.features, device=device)
    parts = count(encoders, *data.captions(rows, int(data.lengths[each].max())), pictures)
    sums = totals(parts)
    cut = getattr(tokeniser, "cut", None)
    return RunFacts(
        name=recipe.name,
        system=recipe.system.get("name", "lessons"),
        corpus=corpus.name,
        languages=plan.languages or getattr(tokeniser, "reads", None) or corpus.all_languages(),
        seed=recipe.training.seed,
        parameters=sums.test_time,
        trainable_parameters=sums.trainable,
        word_parameters=sums.for_words,
        parameters_by_part={part.name: part.test_time for part in parts},
        words_cut=None if cut is None else str(cut),
        steps=at.step,
        best_step=at.best_step,
        best_score=at.best_score,
        seconds=round(at.seconds, 1),
        device=device_name(device),
        precision=pick_precision(recipe.training.precision, device),
        torch=torch.__version__,
        groundling=groundling.__version__,
        commit=commit(),
        command=command(),
    )


def command() -> str | None:
    """The command line that made the run; None where groundling is used as a library."""
    program, *arguments = sys.argv
    here = Path(program).name in ("groundling", "__main__.py")
    return shlex.join(["groundling", *arguments]) if here else None


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{platform.machine()} CPU, {torch.get_num_threads()} threads"


def commit() -> str | None:
    """The commit of the checkout this package runs from, with + where files were changed; None elsewhere."""
    told = os.environ.get("GROUNDLING_COMMIT")  # for machines that get a copy of the files without their history
    if told:
        return told
    here = Path(groundling.__file__).parent
    if not any((folder / ".git").exists() for folder in here.parents[:3]):
        return None
    try:
        ask = ["git", "-C", str(here), "describe", "--always", "--dirty=+"]
        answer = subprocess.run(ask, capture_output=True, text=True, timeout=5)  # noqa: S603 (no outside words)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None
