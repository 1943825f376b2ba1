"""Examples of what a run finds, drawn at random."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.asked_corpus import asked_corpus, looked_at
from groundling.evaluation.examples import Example, FoundPictures, examples_by_language
from groundling.evaluation.results import RetrievalResult
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.evaluation.saved import say_if_unfinished
from groundling.evaluation.unseen import trained_languages
from groundling.model.trained import TrainedModel
from groundling.run import Run


@dataclass(frozen=True)
class ShownRun:
    """What there is to show of a run.

    Attributes:
        seed: what the examples were drawn by.
        untrained: languages among them that the run was not trained on.
        told: whether pictures are told by their captions, as there are no files of them.
    """

    run: str
    system: str
    seed: int
    untrained: list[str]
    told: bool
    examples: list[Example]
    result: RetrievalResult

    def to_json(self) -> dict[str, Any]:
        return {
            **{key: getattr(self, key) for key in ("run", "system", "seed", "untrained", "told")},
            "split": self.result.split,
            "skipped": list(self.result.skipped),
            "examples": [_plain(asdict(example)) for example in self.examples],
        }


def draw_examples(
    folder: Path,
    languages: list[str] | None = None,
    pictures: int = 8,
    queries: int = 8,
    seed: int = 0,
    photos: Path | None = None,
    split: str = "test",
    data: Path | None = None,
    device: str = "auto",
) -> ShownRun:
    """Some pictures with the captions found for them, and captions with pictures, in the run's languages or others."""
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if model.judges:
        raise UserError(
            f"{folder} judges statements and finds neither pictures nor captions; `groundling evaluate` writes its "
            "report, and `groundling check` judges"
        )
    say_if_unfinished(run)
    settings, features = asked_corpus(model.recipe.corpus, languages=languages), model.recipe.features
    dataset = Dataset.load(settings, features, data, looked_at(features, split))
    evaluated = evaluate_retrieval(model, dataset, split)
    for code in languages or []:
        if code not in evaluated.by_language:
            raise UserError(f'corpus {dataset.corpus.name} has no captions in "{code}" in split "{split}"')
    sheet = examples_by_language(evaluated, queries, pictures, seed, photos)
    shown = [found for one in sheet for found in (one.hits if isinstance(one, FoundPictures) else [one])]
    trained = trained_languages(run, model)
    untrained = [code for code in evaluated.by_language if trained and code not in trained]
    told = all(one.picture is None for one in shown)
    return ShownRun(str(folder), model.system.name, seed, untrained, told, sheet, evaluated.result)


def _plain(value: Any) -> Any:
    """Paths as text, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value
