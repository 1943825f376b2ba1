"""Draw examples of what a run finds and write them as a page."""

from pathlib import Path
from typing import Any

from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.examples import examples_by_language
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.evaluation.unseen import trained_languages
from groundling.files import write_text
from groundling.model.trained import TrainedModel
from groundling.report.qualitative import qualitative_page
from groundling.run import Run


def show_run(
    folder: Path,
    page: Path,
    languages: list[str] | None,
    pictures: int,
    queries: int,
    seed: int,
    photos: Path | None,
    split: str,
    data: Path | None,
    device: str,
) -> dict[str, Any]:
    """What the page shows, as data. `languages` are those of the run where left out."""
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if model.system.task == "entailment":
        raise UserError(
            f"{folder} judges statements and finds neither pictures nor captions; `groundling evaluate` writes its "
            "report, and `groundling check` gives its verdicts"
        )
    source = model.recipe.corpus
    if languages is not None:
        source = source.model_copy(update={"languages": list(dict.fromkeys(languages))})
    dataset = Dataset.load(source, model.recipe.features, data)
    evaluated = evaluate_retrieval(model, dataset, split)
    for code in languages or []:
        if code not in evaluated.by_language:
            raise UserError(f'corpus {dataset.corpus.name} has no captions in "{code}" in split "{split}"')
    sheet = examples_by_language(evaluated, queries, pictures, seed, photos)
    shown = [picture for entry in sheet for picture in entry.get("hits", [entry])]
    trained = trained_languages(run, model)
    about = {
        "run": str(folder),
        "system": model.system.name,
        "seed": seed,
        "untrained": [code for code in evaluated.by_language if trained and code not in trained],
        "told": all(picture["picture"] is None for picture in shown),
    }
    write_text(page, qualitative_page(sheet, evaluated.result, about))
    return {
        **about,
        "page": str(page),
        "split": split,
        "skipped": list(dataset.skipped),
        "examples": [_plain(entry) for entry in sheet],
    }


def _plain(value: Any) -> Any:
    """Paths as text, for JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value
