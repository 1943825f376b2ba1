"""What captions say, as numbers, so that millions of them are compared in arrays and never pair by pair.

Two captions say the same when their normalised texts are the same. A 64-bit hash stands for the normalised text: among
ten million different ones, two are taken for the same with a probability of 3 in a million.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import regex

from groundling.corpus.columns import Integers
from groundling.corpus.corpus import Corpus
from groundling.progress import bar

BLOCK = 2**14  # captions that are looked at together
_NOT_WORDS = regex.compile(r"[\p{P}\s]+")
_ACCENTS_ALONE = regex.compile(r"[`^´¨¯¸ˆ˜]")  # typed for quotes, as in ``so'' and it´s; NFKC would take them apart
_UNSEEN = regex.compile(r"[\p{Cf}\u0640\u064b-\u0652\u0670]")  # direction marks, joiners, Arabic vowel signs, tatweel

Hashes = npt.NDArray[np.int64]


def normalised(text: str) -> str:
    """The caption without what does not make it another caption: case, width, punctuation, spacing, unseen signs."""
    if text.isascii():
        return " ".join([word for word in text.translate(_PLAIN).split(" ") if word]).strip()
    return _normalised(text)


def _normalised(text: str) -> str:
    folded = _compatible(_compatible(_ACCENTS_ALONE.sub(" ", text)).casefold())
    seen = _UNSEEN.sub("", _ACCENTS_ALONE.sub(" ", folded))
    return _NOT_WORDS.sub(" ", _compatible(seen)).strip()


def _compatible(text: str) -> str:
    """One way to write each letter: composed, and of ordinary width and style."""
    return unicodedata.normalize("NFKC", text)


#: What becomes of each ASCII character, whatever stands beside it: most captions need no more than this.
_PLAIN = {code: _normalised(f"a{chr(code)}a")[1:-1] for code in range(128)}


@dataclass(frozen=True)
class CaptionKeys:
    """Attributes:
    hashes: [captions] of what each says; 0 where it says nothing, being punctuation alone.
    characters: [captions] of the texts as written.
    """

    hashes: Hashes
    characters: npt.NDArray[np.int32]

    @staticmethod
    def of(corpus: Corpus) -> "CaptionKeys":
        hashes, characters = np.zeros(len(corpus), dtype=np.int64), np.zeros(len(corpus), dtype=np.int32)
        with bar("Comparing captions", len(corpus)) as progress:
            for start, texts in blocks(corpus.texts):
                part = slice(start, start + len(texts))
                hashes[part] = [hash(said) if (said := normalised(text)) else 0 for text in texts]
                characters[part] = [len(text) for text in texts]
                progress.advance(len(texts))
        return CaptionKeys(hashes, characters)


def blocks(texts: Sequence[str], size: int = BLOCK) -> Iterator[tuple[int, Sequence[str]]]:
    """(row of the first, texts) for a block after the other: only one of them need be in memory."""
    for start in range(0, len(texts), size):
        yield start, texts[start : start + size]


def owners_by_key(hashes: Hashes, owners: Integers) -> tuple[Hashes, Integers, int]:
    """The different hashes in order, for each the number of different pictures that it is said of, and how many rows
    repeat a hash and a picture that were there before."""
    order = np.lexsort((owners, hashes))
    hashes, owners = hashes[order], owners[order]
    new_key = np.ones(len(hashes), dtype=bool)
    new_key[1:] = hashes[1:] != hashes[:-1]
    new_pair = new_key.copy()
    new_pair[1:] |= owners[1:] != owners[:-1]
    starts = np.flatnonzero(new_key)
    counts = np.add.reduceat(new_pair, starts, dtype=np.int64) if len(starts) else np.empty(0, dtype=np.int64)
    return hashes[starts], counts, len(hashes) - int(new_pair.sum())
