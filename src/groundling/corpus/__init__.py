"""Pictures and captions, whatever files they came from."""

from groundling.corpus.corpus import ORIGINS, SPLITS, Corpus

__all__ = ["ORIGINS", "SPLITS", "Corpus"]
