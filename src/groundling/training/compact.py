"""A trained run made smaller: the same scores from only what retrieval needs."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch

from groundling import systems
from groundling.errors import UserError
from groundling.evaluation.parameters import count_model, totals
from groundling.files import read_json, write_json
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.training.checkpoint import save_weights
from groundling.training.facts import command


@dataclass(frozen=True)
class Compacted:
    """What a run had, and what its smaller copy has left.

    Attributes:
        run, source: the folders of the new and of the old run.
        trained: parameters that were trained.
        test_time: those that the old run needs at test time.
        compact, for_words: those of the new run, and how many of them are for words.
        bytes_before, bytes_after: of the files of weights.
    """

    run: str
    source: str
    trained: int
    test_time: int
    compact: int
    for_words: int
    bytes_before: int
    bytes_after: int

    def to_json(self) -> dict[str, object]:
        return {
            "run": self.run,
            "from": self.source,
            "parameters": {
                "trained": self.trained,
                "at test time": self.test_time,
                "compact": self.compact,
                "compact, for words": self.for_words,
            },
            "bytes": {"before": self.bytes_before, "after": self.bytes_after},
        }


def compact(folder: Path, out: Path) -> Compacted:
    """Write the run in `folder` to `out`, folded; what it had and has left, in parameters and bytes.

    The new run loads, answers and is evaluated like the old one; it cannot be trained.
    """
    if out.exists() and (not out.is_dir() or any(not path.name.startswith(".") for path in out.iterdir())):
        raise UserError(f"{out}: is there already; choose another folder")
    old = TrainedModel.load(folder, "cpu")
    encoders = old.system.folded(old.tokeniser, old.encoders, old.features)
    if encoders is None:
        families = [name for name, kind in systems.SYSTEMS.items() if kind.folds]
        raise UserError(
            f"{folder}: a model of system {old.system.name} has nothing to fold; {', '.join(families)} have"
        )
    if old.recipe.system.get("compact"):
        raise UserError(f"{folder}: is compact already")
    recipe = old.recipe.model_copy(update={"system": {**old.recipe.system, "compact": True}})
    new = TrainedModel(recipe, systems.make(recipe.system), old.tokeniser, encoders, torch.device("cpu"))

    source, run = Run(folder), Run(out)
    before, after = totals(count_model(old)), totals(parts := count_model(new))
    with run.writing():
        write_json(run.tokeniser_file, old.tokeniser.to_json())
        save_weights(run.weights_file, new.encoders)
        run.save_recipe(recipe)
        if source.unknown_backbone_file.exists():
            write_json(run.unknown_backbone_file, read_json(source.unknown_backbone_file))
        if source.facts_file.exists():
            told = replace(
                source.facts(),
                parameters=after.test_time,
                trainable_parameters=0,
                word_parameters=after.for_words,
                parameters_by_part={part.name: part.test_time for part in parts},
                command=command(),
            )
            write_json(run.facts_file, told.to_json())
        run.seal()
    sizes = (one.weights_file.stat().st_size for one in (source, run))
    return Compacted(
        str(out), str(folder), before.trainable, before.test_time, after.test_time, after.for_words, *sizes
    )
