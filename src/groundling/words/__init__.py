"""Word vectors: read, train, reduce, and bring two languages into one space."""

from groundling.words.subwords import Subwords
from groundling.words.vectors import WordVectors

__all__ = ["Subwords", "WordVectors"]
