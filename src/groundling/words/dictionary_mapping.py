"""Rare words of other languages read as words of a base language: the dictionary mapping of Burns et al. 2020 (SMALR,
arXiv:2004.04312, section 4)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from groundling.text import words
from groundling.words.dictionary import Pair, read_pairs

Mapped = dict[str, tuple[str, str]]  # word → (language, word) that it is read as


def mapped_words(
    path: Path,
    language: str,
    base: str,
    kept: Sequence[str],
    base_counts: Counter[str],
    seen: Counter[str],
    segmentation: str = "script",
) -> Mapped:
    """Word of `language` → (base, word of the base language) for every word that the language does not keep.

    Of several translations the one that is most frequent in the base language's training captions is taken, ties by
    name; words that are never seen in training are read, too. A dictionary may list either language first.

    Args:
        kept: words of the language that keep a row of their own.
        base_counts: the words of the base language that have a row, and how often they occur.
        seen: the words of the language's training captions; they tell which way round the dictionary is.
    """
    pairs = read_pairs(path)[0]
    as_written = [_single(other, language, one, base, segmentation) for one, other in pairs]
    turned = [_single(one, language, other, base, segmentation) for one, other in pairs]

    def fits(these: list[Pair | None]) -> int:
        return sum(pair is not None and pair[0] in seen and pair[1] in base_counts for pair in these)

    own = set(kept)
    mapped: Mapped = {}
    for pair in as_written if fits(as_written) >= fits(turned) else turned:
        if pair is None or pair[0] in own or pair[1] not in base_counts:
            continue
        word, translation = pair
        best = mapped.get(word)
        if best is None or (-base_counts[translation], translation) < (-base_counts[best[1]], best[1]):
            mapped[word] = (base, translation)
    return mapped


def _single(word: str, language: str, translation: str, base: str, segmentation: str) -> Pair | None:
    """Both as captions are read; None where either is more than one word."""
    one, other = words(word, language, segmentation), words(translation, base, segmentation)
    return (one[0], other[0]) if len(one) == len(other) == 1 else None
