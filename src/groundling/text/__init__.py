"""Captions as words and numbers."""

from groundling.text.characters import CharacterTokeniser
from groundling.text.segmentation import normalise, words
from groundling.text.tokens import Tokeniser, Tokens, WordTokeniser
from groundling.text.vocabulary import Vocabulary

__all__ = ["CharacterTokeniser", "Tokeniser", "Tokens", "Vocabulary", "WordTokeniser", "normalise", "words"]
