"""The folder a training leaves, and what is where in it."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundling import checksums
from groundling.errors import UserError
from groundling.files import only_writer, read_json, write_json
from groundling.run_facts import RunFacts
from groundling.settings import Recipe, as_saved, check


@dataclass(frozen=True)
class Run:
    """Paths of a run. Everything in it is JSON, safetensors, HTML or Markdown; nothing is a pickle."""

    folder: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))  # a text will do

    def __repr__(self) -> str:
        state = "finished" if self.finished else "not finished" if self.recipe_file.exists() else "nothing there yet"
        return f"Run {self.folder}: {state}"

    def __fspath__(self) -> str:
        """A run can be given wherever the folder of one is asked for."""
        return str(self.folder)

    @property
    def recipe_file(self) -> Path:
        return self.folder / "recipe.json"

    @property
    def tokeniser_file(self) -> Path:
        return self.folder / "tokeniser.json"

    @property
    def weights_file(self) -> Path:
        """The encoders at their best validation."""
        return self.folder / "best.safetensors"

    @property
    def checkpoint_file(self) -> Path:
        """Everything a killed training needs to go on; removed when it ends."""
        return self.folder / "checkpoint.safetensors"

    def stage_checkpoint(self, stage: str) -> Path:
        """The same for something that is learned before the model."""
        return self.folder / f"checkpoint-{stage.replace(' ', '-')}.safetensors"

    @property
    def metrics_file(self) -> Path:
        return self.folder / "metrics.jsonl"

    @property
    def unknown_backbone_file(self) -> Path:
        """There where the features came with the corpus and nobody said what made them: it cannot look at files."""
        return self.folder / "unknown-backbone.json"

    @property
    def pictures_file(self) -> Path:
        """There where pictures are looked at by the picture side of a pretrained model, of which the run has a copy."""
        return self.folder / "pictures.json"

    @property
    def facts_file(self) -> Path:
        """Written when training has ended: steps, seconds, device, parameters."""
        return self.folder / "run.json"

    @property
    def evaluation_file(self) -> Path:
        return self.folder / "evaluation.json"

    @property
    def ranks_file(self) -> Path:
        """The rank of every test query, for paired comparisons."""
        return self.folder / "ranks.safetensors"

    @property
    def predictions_file(self) -> Path:
        """The prediction for every test statement, for paired comparisons; runs from before have it by another name."""
        new, former = self.folder / "predictions.safetensors", self.folder / "verdicts.safetensors"
        return former if former.exists() and not new.exists() else new

    @property
    def results(self) -> tuple[Path, ...]:
        """What an evaluation leaves, by all names that it may have."""
        names = ("evaluation.json", "ranks.safetensors", "predictions.safetensors", "verdicts.safetensors")
        return tuple(self.folder / name for name in names)

    @property
    def finished(self) -> bool:
        return self.facts_file.exists()

    def writing(self) -> AbstractContextManager[None]:
        """Holds the folder while something is written into it; another process that wants to is refused."""
        return only_writer(self.folder)

    @contextmanager
    def rewriting(self, *files: Path) -> Iterator[None]:
        """Holds the folder while these files are written anew; who is killed meanwhile leaves them as good as before,
        but unchecked."""
        with self.writing():
            checksums.forget(self.folder, files)
            yield
            checksums.seal(self.folder, files)

    def seal(self) -> None:
        """Note what the files of the model are, when all of them are there."""
        kept = [path for path in self.folder.iterdir() if path.suffix in (".json", ".safetensors")]
        left = {checksums.FILE, self.checkpoint_file.name, *(path.name for path in self.results)}
        checksums.seal(self.folder, [path for path in kept if path.name not in left])

    def verified(self, file: Path) -> Path:
        """A file that is what it was when it was written; damage is an error that names it."""
        return checksums.verify(self.folder, file)

    def facts(self) -> RunFacts:
        """What it noted when training ended; nothing before."""
        return RunFacts.from_json(self._noted())

    def _noted(self) -> dict[str, Any]:
        facts = read_json(self.verified(self.facts_file)) if self.finished else {}
        if not isinstance(facts, dict):
            raise UserError(f"{self.facts_file}: damaged (not what a training writes)")
        return facts

    def temperature(self) -> float:
        """What the logits of its labels are divided by (see `calibration`); 1 where nobody has fitted it."""
        value = self._noted().get("temperature", 1.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise UserError(f"{self.facts_file}: temperature: a number above 0 is needed, not {value!r}")
        return float(value)

    def languages(self) -> list[str]:
        """What it was trained on, as it noted when training ended; none before."""
        return list(self.facts().languages or [])

    def accuracy(self) -> dict[str, float]:
        """Language → right answers in 100 test statements; nothing where it was not tested on any."""
        return self._evaluated("languages", "accuracy")

    def words_alone(self) -> dict[str, float]:
        """Language → the same of a classifier that sees the words of statements and no picture."""
        return self._evaluated("text_only", "words")

    def _evaluated(self, part: str, number: str) -> dict[str, float]:
        try:
            result = read_json(self.verified(self.evaluation_file)) if self.evaluation_file.exists() else {}
        except UserError:
            return {}
        parts = result.get(part) if isinstance(result, dict) else None
        found = {code: facts.get(number) for code, facts in (parts or {}).items() if isinstance(facts, dict)}
        return {code: float(share) for code, share in found.items() if isinstance(share, int | float)}

    def recipe(self) -> Recipe:
        with as_saved():
            return check(Recipe, read_json(self.verified(self.recipe_file)), str(self.recipe_file))

    def save_recipe(self, recipe: Recipe) -> None:
        write_json(self.recipe_file, recipe.model_dump())

    @staticmethod
    def open(folder: Path) -> "Run":
        """An existing run with a trained model in it."""
        run = Run(folder)
        if not run.recipe_file.exists():
            raise UserError(f"{folder}: no run here (there is no recipe.json); train one with `groundling train`")
        if not run.weights_file.exists() and run.finished:
            raise UserError(f"{folder}: the weights of this run were removed after it was evaluated; train it anew")
        if not run.weights_file.exists():
            raise UserError(
                f"{folder}: this run has no weights yet; finish it with `groundling train --resume {folder}`"
            )
        return run
