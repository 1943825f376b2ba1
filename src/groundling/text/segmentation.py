"""A caption as a list of words, by the Unicode script it is written in, not by its language.

Scripts that put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) give one word per character
(a letter with its combining marks), as published for Chinese; a dictionary segmenter is an option.
"""

import functools
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import regex

from groundling.errors import UserError

# One word: a letter of an unspaced script with its marks; or a run of letters, marks and digits of the others, with
# apostrophes and hyphens only inside it.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
WORD = (
    rf"{_UNSPACED}[\p{{M}}ー]*"
    rf"|(?:(?!{_UNSPACED})[\p{{L}}\p{{M}}\p{{N}}])+(?:['’](?:(?!{_UNSPACED})[\p{{L}}\p{{M}}])+)*"
)
_WORD = regex.compile(WORD)
_ASCII_WORD = re.compile(r"[a-zA-Z0-9]+(?:'[a-zA-Z]+)*")  # the same for texts of ASCII alone, several times faster
# Vowel signs and the stretching stroke of Arabic are written or left out at will.
ARABIC_OPTIONAL = "[\u064b-\u0652\u0670\u0640]"
_ARABIC_OPTIONAL = regex.compile(ARABIC_OPTIONAL)
TURKIC = ("tr", "az")
# Where an apostrophe joins two words (l'eau, dell'acqua) rather than the parts of one (don't).
ELISION = ("fr", "it", "ca")


def normalise(text: str, language: str = "") -> str:
    """One spelling for what is written in several: compatibility forms, case, optional Arabic marks, white space.

    >>> normalise("ＤＩＹ  Straße"), normalise("IŞIK", "tr")
    ('diy straße', 'ışık')
    """
    turkic = language.split("-")[0] in TURKIC
    if text.isascii() and not turkic:  # what follows changes nothing else of it
        return " ".join(text.lower().split())
    text = unicodedata.normalize("NFKC", text)
    if turkic:
        text = text.replace("İ", "i").replace("I", "ı")
    # "İ".lower() leaves a loose dot above; composing again afterwards keeps the result normal.
    text = unicodedata.normalize("NFKC", text.lower())
    return " ".join(_ARABIC_OPTIONAL.sub("", text).split())


def by_script(text: str, language: str = "") -> list[str]:
    """Words of normalised text; punctuation is dropped.

    >>> by_script("a dog, don't run"), by_script("l'eau", "fr"), by_script("两只狗 run")
    (['a', 'dog', "don't", 'run'], ['l', 'eau'], ['两', '只', '狗', 'run'])
    """
    if language.split("-")[0] in ELISION:
        text = text.replace("'", " ").replace("’", " ")
    return _ASCII_WORD.findall(text) if text.isascii() else _WORD.findall(text)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text begin and end, as it was written.

    >>> word_spans("A dog, two cats")
    [(0, 1), (2, 5), (7, 10), (11, 15)]
    """
    return [found.span() for found in _WORD.finditer(text)]


def by_whitespace(text: str, language: str = "") -> list[str]:
    """Words of text that somebody has tokenised before."""
    return text.split()


@functools.cache
def _jieba() -> Any:
    try:
        import jieba
    except ImportError:
        raise UserError("segmentation by dictionary needs jieba: pip install 'groundling[cjk]'") from None
    jieba.setLogLevel(60)
    return jieba


@functools.cache
def _janome() -> Any:
    try:
        from janome.tokenizer import Tokenizer
    except ImportError:
        raise UserError("segmentation by dictionary needs janome: pip install 'groundling[cjk]'") from None
    return Tokenizer(wakati=True)


def by_dictionary(text: str, language: str = "") -> list[str]:
    """Words from a dictionary segmenter for Chinese (jieba) and Japanese (janome); by script for the others."""
    code = language.split("-")[0]
    if code == "zh":
        pieces = _jieba().cut(text)
    elif code == "ja":
        pieces = _janome().tokenize(text)
    else:
        return by_script(text, language)
    return [piece for piece in pieces if _WORD.search(piece)]


SEGMENTERS: dict[str, Callable[[str, str], list[str]]] = {
    "script": by_script,
    "whitespace": by_whitespace,
    "dictionary": by_dictionary,
}


def words(text: str, language: str = "", segmentation: str = "script") -> list[str]:
    """Normalised words of a caption."""
    return list(_words(text, language, segmentation))


# Trainings go through their captions twice and more, a table of trainings hundreds of times. Equal words are kept once.
@functools.lru_cache(maxsize=2**19)
def _words(text: str, language: str, segmentation: str) -> tuple[str, ...]:
    return tuple(map(sys.intern, SEGMENTERS[segmentation](normalise(text, language), language)))
