"""Examples of what a model finds, drawn at random."""

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.evaluation.consistency.examples import asked_together, before_and_after
from groundling.evaluation.examples import Example, FoundPictures, examples_by_language
from groundling.evaluation.request import EvaluationRequest, requested_corpus
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
        together: captions alone and then with their translations, by turns, and `together_result` of all that ask so.
    """

    run: str
    system: str
    seed: int
    untrained: list[str]
    told: bool
    examples: list[Example]
    result: RetrievalResult
    together: list[FoundPictures] = field(default_factory=list)
    together_result: RetrievalResult | None = None

    def to_json(self) -> dict[str, object]:
        return {
            **{key: getattr(self, key) for key in ("run", "system", "seed", "untrained", "told")},
            "split": self.result.split,
            "skipped": list(self.result.skipped),
            "examples": [_plain(asdict(example)) for example in self.examples],
            **({"together": [_plain(asdict(example)) for example in self.together]} if self.together else {}),
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
    translations: str | None = None,
    device: str = "cpu",
) -> ShownRun:
    """Some pictures with the captions found for them, and captions with pictures, in the model's languages or others.

    `corpus` is another than a run's own. With `translations`, a source of them as `evaluate --source` has it, also some
    captions before and after these are asked with them.
    """
    if model.judges:
        raise UserError(
            f"{model.name} judges statements and finds neither pictures nor captions; `groundling evaluate` writes its "
            "report, and `groundling check` judges"
        )
    if model.run is not None:
        say_if_unfinished(model.run)
    dataset = model.dataset(
        requested_corpus(EvaluationRequest(corpus).corpus_for(model), languages=languages), data, (split,)
    )
    evaluated = evaluate_retrieval(model, dataset, split)
    for code in languages or []:
        if code not in evaluated.by_language:
            raise UserError(f'corpus {dataset.corpus.name} has no captions in "{code}" in split "{split}"')
    sheet = examples_by_language(evaluated, queries, pictures, seed, photos)
    untrained = [code for code in evaluated.by_language if model.languages and code not in model.languages]
    told = all(file is None for one in sheet for file in one.files())
    found = ShownRun(model.name, model.system_name, seed, untrained, told, sheet, evaluated.result)
    if translations is None:
        return found
    together, versions = asked_together(model, evaluated, translations, data, device)
    pairs = before_and_after(evaluated, together, versions, queries, seed, photos)
    return replace(found, together=pairs, together_result=together.result)


def _plain(value: Any) -> Any:
    """Paths as text, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value
