"""How the trainings of a row went on the dev split: by what settings are chosen, and how soon a recall was reached."""

from collections.abc import Iterable

from groundling.evaluation.significance import mean_interval
from groundling.experiments.summary import Statistics
from groundling.experiments.validations import Validated, written


def validated_columns(models: Iterable[tuple[int, Validated]], reaches: float | None) -> dict[str, Statistics]:
    """Name of a column → its numbers over seeds, each the mean over the models that a row has of that seed.

    A seed that lacks some of the row's models counts for nothing: languages differ more than settings do.

    Args:
        models: the seed of each model, and how its training went.
        reaches: the number on the dev split that trainings are timed by. A seed counts as having reached it where all
            its models have; the steps are the mean over those seeds alone, so how many they are stands beside it.
    """
    by_seed: dict[int, list[Validated]] = {}
    for seed, model in models:
        by_seed.setdefault(seed, []).append(model)
    dev, best_steps, steps, looked_at = [], [], [], 0
    whole = max(map(len, by_seed.values()), default=0)
    for each in (found for found in by_seed.values() if len(found) == whole):
        kept = [model.dev for model in each]
        if None not in kept:
            dev.append(sum(number for number in kept if number is not None) / len(kept))
            best_steps.append(sum(model.best_step for model in each) / len(each))
        if reaches is not None and all(written(reaches) in model.reached for model in each):
            looked_at += 1
            reached = [model.reached.get(written(reaches)) for model in each]
            if None not in reached:
                steps.append(sum(step for step in reached if step is not None) / len(reached))
    found = {"dev": dev, "best step": best_steps}
    if reaches is not None and looked_at:
        found |= {f"steps to {written(reaches)}": steps, f"seeds that reach {written(reaches)}": [float(len(steps))]}
    return {name: Statistics(values, *mean_interval(values)) for name, values in found.items() if values}
