"""Tokenisers of a given size, for encoders that are tried with entries drawn at random."""

from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.characters import SPECIAL as LETTERS
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.settings import TextSettings
from groundling.text.vocabulary import SPECIAL, Vocabulary

PLAIN = TextSettings(minimum_count=1)


def words(rows: int) -> WordTokeniser:
    made = WordTokeniser(Vocabulary(tuple(f"w{number}" for number in range(rows - len(SPECIAL)))), PLAIN)
    assert made.size == rows
    return made


def ngrams(rows: int) -> NgramTokeniser:
    return NgramTokeniser(Vocabulary(()), PLAIN, rows - len(SPECIAL))


def characters(rows: int, longest: int) -> CharacterTokeniser:
    return CharacterTokeniser(tuple(chr(97 + number) for number in range(rows - LETTERS)), PLAIN, longest)


def by_language(sizes: list[int], dimensions: int) -> LanguageTokeniser:
    """Languages with so many rows each, the one that stands for nothing included."""
    codes = ("aa", "bb", "cc")
    listed = {code: tuple(f"{code}{n}" for n in range(size - 1)) for code, size in zip(codes, sizes, strict=False)}
    return LanguageTokeniser(listed, PLAIN, dimensions)
