"""Pictures and captions, whatever files they came from."""

from groundling.corpus.catalogue import CORPORA, Entry, load, names
from groundling.corpus.corpus import ORIGINS, SPLITS, Corpus
from groundling.corpus.storage import save

__all__ = ["CORPORA", "ORIGINS", "SPLITS", "Corpus", "Entry", "load", "names", "save"]
