"""Rare words of other languages read as words of a base language: the dictionary mapping of Burns et al. 2020 (SMALR,
https://arxiv.org/abs/2004.04312, section 4)."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundling.errors import UserError, did_you_mean
from groundling.text import words
from groundling.words.dictionary import Pair, read_pairs
from groundling.words.sources import find_file

Mapped = dict[str, tuple[str, str]]  # word → (language, word) that it is read as


@dataclass(frozen=True)
class DictionaryMapping:
    """Which words of other languages are read as words of a base language.

    Attributes:
        below: words that occur less often.
        files: the dictionaries' files, also below the data folder; {base} and {language} stand for codes.
    """

    below: int
    base: str
    files: str

    def check(self, languages: Collection[str], data: Path | None) -> None:
        if self.base not in languages:
            raise UserError(f'system.base: no training captions in "{self.base}"{did_you_mean(self.base, languages)}')
        for code in languages:
            if code != self.base:
                self._file(code, data)

    def words(
        self,
        base: Mapping[str, Sequence[str]],
        kept: Mapping[str, Sequence[str]],
        counts: Mapping[str, Counter[str]],
        segmentation: str,
        data: Path | None,
    ) -> dict[str, Mapped]:
        """For each other language, its words that are read as words of the base language.

        Args:
            base: of which the base language's words are those that have a row.
            kept: of which another language's words keep a row of their own.
            counts: how often each language uses each of its words.
        """
        known = Counter({word: counts[self.base][word] for word in base[self.base]})
        return {
            code: mapped_words(self._file(code, data), code, self.base, kept[code], known, counter, segmentation)
            for code, counter in counts.items()
            if code != self.base
        }

    def _file(self, language: str, data: Path | None) -> Path:
        return find_file(self.files.replace("{base}", self.base).replace("{language}", language), data)


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
