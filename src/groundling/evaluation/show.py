"""Examples of what a model finds, drawn at random."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.evaluation.asked import Asked, asked_corpus
from groundling.evaluation.examples import Example, FoundPictures, examples_by_language
from groundling.evaluation.results import RetrievalResult
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.evaluation.saved import say_if_unfinished
from groundling.model import Model


@dataclass(frozen=True)
class ShownRun:
    """What there is to show of a model.

    Attributes:
        seed: what the examples were drawn by.
        untrained: languages among them that the model was not trained on.
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
    model: Model,
    corpus: str | None = None,
    languages: list[str] | None = None,
    pictures: int = 8,
    queries: int = 8,
    seed: int = 0,
    photos: Path | None = None,
    split: str = "test",
    data: Path | None = None,
) -> ShownRun:
    """Some pictures with the captions found for them, and captions with pictures, in the model's languages or others.

    `corpus` is another than a run's own.
    """
    if model.judges:
        raise UserError(
            f"{model.name} judges statements and finds neither pictures nor captions; `groundling evaluate` writes its "
            "report, and `groundling check` judges"
        )
    if model.run is not None:
        say_if_unfinished(model.run)
    dataset = model.dataset(asked_corpus(Asked(corpus).corpus_for(model), languages=languages), data, (split,))
    evaluated = evaluate_retrieval(model, dataset, split)
    for code in languages or []:
        if code not in evaluated.by_language:
            raise UserError(f'corpus {dataset.corpus.name} has no captions in "{code}" in split "{split}"')
    sheet = examples_by_language(evaluated, queries, pictures, seed, photos)
    shown = [found for one in sheet for found in (one.hits if isinstance(one, FoundPictures) else [one])]
    untrained = [code for code in evaluated.by_language if model.languages and code not in model.languages]
    told = all(one.picture is None for one in shown)
    return ShownRun(model.name, model.system_name, seed, untrained, told, sheet, evaluated.result)


def _plain(value: Any) -> Any:
    """Paths as text, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value
