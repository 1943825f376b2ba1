"""People's sentences, their translations and a machine's, each asked by itself (Burns et al. 2020, Table 17)."""

from functools import partial

from groundling.corpus import ORIGINS, Corpus
from groundling.errors import UserError
from groundling.evaluation.loading import LoadedModel
from groundling.evaluation.results import OriginsResult
from groundling.model.vectors import Vectors


def ask_by_origin(loaded: LoadedModel) -> OriginsResult:
    """One result for each origin that captions of the split have.

    Captions of other origins neither ask nor compete: the sentences of each are a test set of their own, with all
    pictures of the split.
    """
    part = loaded.part()
    if not len(part.corpus):
        raise UserError(f'corpus {part.corpus.name} has no captions in split "{loaded.split}"')
    pictures = loaded.model.encode_features(part.features)
    origins = {}
    for origin in ORIGINS:
        chosen = part.corpus.keep_captions(part.corpus.origins == origin)
        if len(chosen):
            asked = loaded.queries(chosen)
            vectors = loaded.model.encode_text(asked.texts, asked.languages.tolist())
            origins[origin] = loaded.measure(asked, pictures, partial(_of_language, asked, vectors))
    return OriginsResult(part.corpus.name, loaded.split, len(part.corpus.pictures), origins, loaded.dataset.skipped)


def _of_language(asked: Corpus, vectors: Vectors, code: str) -> Vectors:
    return vectors[asked.languages == code]
