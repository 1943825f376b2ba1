"""Pictures and captions, whatever files they came from."""

from groundling.corpus.catalogue import load, names
from groundling.corpus.corpus import ORIGINS, SPLITS, Corpus
from groundling.corpus.storage import save

__all__ = ["ORIGINS", "SPLITS", "Corpus", "load", "names", "save"]
