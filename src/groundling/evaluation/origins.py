"""People's sentences, their translations and a machine's, each asked by itself (Burns et al. 2020, Table 17)."""

from pathlib import Path

from groundling.corpus import ORIGINS
from groundling.errors import UserError
from groundling.evaluation.loading import LoadedRun, load_run
from groundling.evaluation.results import OriginsResult


def evaluate_by_origin(
    folder: Path,
    split: str = "test",
    captions: str | None = None,
    corpus: str | None = None,
    data: Path | None = None,
    device: str = "auto",
    folds: int | None = None,
) -> OriginsResult:
    """One result for each origin that captions of the split have.

    Captions of other origins neither ask nor compete: the sentences of each are a test set of their own, with all
    pictures of the split. The run's folder is left as it is.
    """
    return ask_by_origin(load_run(folder, corpus, data, device), split, captions, folds)


def ask_by_origin(
    loaded: LoadedRun, split: str = "test", captions: str | None = None, folds: int | None = None
) -> OriginsResult:
    """The same of a run that is loaded."""
    part = loaded.dataset.split(split)
    if not len(part.corpus):
        raise UserError(f'corpus {part.corpus.name} has no captions in split "{split}"')
    pictures = loaded.model.encode_features(part.features)
    origins = {}
    for origin in ORIGINS:
        chosen = part.corpus.keep_captions(part.corpus.origins == origin)
        if len(chosen):
            asked, parts = loaded.queries(chosen, split, captions, folds)
            vectors = loaded.model.encode_text(asked.texts, asked.languages.tolist())
            origins[origin] = loaded.measure(asked, pictures, vectors, split, parts)
    pictures_there = len(part.corpus.pictures)
    return OriginsResult(part.corpus.name, split, pictures_there, origins, loaded.dataset.skipped)
