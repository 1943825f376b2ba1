"""Captions as words and numbers."""

from groundling.text.segmentation import normalise, words
from groundling.text.tokens import Tokeniser, Tokens
from groundling.text.vocabulary import Vocabulary

__all__ = ["Tokeniser", "Tokens", "Vocabulary", "normalise", "words"]
