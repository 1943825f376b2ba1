"""The corpus that a trained model is asked about, where it is not just its own."""

from collections.abc import Sequence

from groundling.settings import CorpusSettings, FeatureSettings


def asked_corpus(
    own: CorpusSettings,
    corpus: str | None = None,
    languages: Sequence[str] | None = None,
    every_language: bool = False,
) -> CorpusSettings:
    """The settings of the corpus that a run is asked about, where `own` are those that it was trained on.

    Args:
        corpus: another corpus than its own.
        languages: other languages than its own.
        every_language: all languages that the corpus has.
    """
    if every_language or languages is not None:
        own = own.model_copy(update={"languages": None if languages is None else list(dict.fromkeys(languages))})
    return own if corpus is None else own.model_copy(update={"name": corpus, "split_by": None})


def looked_at(features: FeatureSettings, *splits: str) -> tuple[str, ...] | None:
    """The splits whose pictures need be looked at for a question about these; None: all, whose features are cached.

    A run with a picture network of its own keeps features of its dev and test pictures alone, and looking at all others
    takes long.
    """
    return None if features.weights is None else splits
