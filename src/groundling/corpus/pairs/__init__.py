"""Sentence pairs: what is said in a known language and again in a new one, from files of any size."""

from groundling.corpus.pairs.pairs import SentencePairs
from groundling.corpus.pairs.store import PairStore

__all__ = ["PairStore", "SentencePairs"]
