"""Pictures and captions, whatever files they came from. Readers of formats are imported when they are asked for."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from groundling.corpus.catalogue import CORPORA, Entry, load, names
    from groundling.corpus.corpus import ORIGINS, SPLITS, Corpus
    from groundling.corpus.storage import save

__all__ = ["CORPORA", "ORIGINS", "SPLITS", "Corpus", "Entry", "load", "names", "save"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    homes = {"catalogue": ("CORPORA", "Entry", "load", "names"), "corpus": ("ORIGINS", "SPLITS", "Corpus")}
    for home, names in {**homes, "storage": ("save",)}.items():
        if name in names:
            return getattr(import_module(f"groundling.corpus.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
