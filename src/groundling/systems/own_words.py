"""The vocabulary of EmbN, PAR. EmbN and MULE: every frequent word of every language has a vector of its own.

A smaller one (Burns et al. 2020, arXiv:2004.04312, section 4): principal components of the vectors (`pca`), or rare
words of other languages read as words of the base language (`dictionary`).
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import torch

from groundling.errors import UserError, did_you_mean
from groundling.settings import TextSettings
from groundling.systems.embedding_network import EmbeddingNetworkSettings
from groundling.systems.plan import Context
from groundling.text.by_language import LanguageTokeniser, count_words, frequent
from groundling.towers.hybrid import HybridWords
from groundling.towers.universal import UniversalWords
from groundling.words.dictionary_mapping import Mapped, mapped_words
from groundling.words.sources import find_file
from groundling.words.starting_vectors import caption_vectors, check_files, check_reduction, starting_table


@dataclass(frozen=True)
class DictionaryMapping:
    """Which words of other languages are read as words of a base language.

    Attributes:
        below: words that occur less often.
        files: the dictionaries' files; {base} and {language} stand for codes.
    """

    below: int
    base: str
    files: str

    def file(self, language: str, data: Path | None) -> Path:
        return find_file(self.files.replace("{base}", self.base).replace("{language}", language), data)

    def check(self, languages: Collection[str]) -> None:
        if self.base not in languages:
            raise UserError(f'system.base: no training captions in "{self.base}"{did_you_mean(self.base, languages)}')


@dataclass(frozen=True)
class OwnWords:
    own: EmbeddingNetworkSettings
    pca: int | None = None
    dictionary: DictionaryMapping | None = None

    @property
    def mapped(self) -> bool:
        return True

    def check(self, context: Context) -> None:
        own, languages = self.own, context.train.corpus.all_languages()
        check_files(own.vectors, languages, context.data)
        if own.vectors == "captions":
            check_reduction("pca", self.pca, own.word_dimensions)
        if self.dictionary is not None:
            self.dictionary.check(languages)
            for code in languages:
                if code != self.dictionary.base:
                    self.dictionary.file(code, context.data)

    def prepare(self, context: Context) -> None:
        prepare_vectors(self.own, context)

    def tokeniser(self, context: Context) -> LanguageTokeniser:
        own, corpus, text = self.own, context.train.corpus, context.recipe.text
        counts = count_words(corpus.texts, corpus.languages.tolist(), text)
        words, lent = frequent_words(counts, text), dict[str, Mapped]()
        if self.dictionary is not None:
            words, lent = self._mapped(words, counts, text, context.data)
        if own.vectors == "random":
            return LanguageTokeniser(words, text, self.pca or own.word_dimensions, lent)
        lines, size = own.vector_lines, own.word_dimensions
        start = starting_table(corpus, words, own.vectors, size, text.segmentation, lines, self.pca, context.data)
        return LanguageTokeniser(words, text, start.shape[1], lent, start)

    def words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        start = None if tokeniser.start is None else torch.from_numpy(tokeniser.start)
        return UniversalWords(tokeniser.bounds, tokeniser.dimensions, self.own.universal_dimensions, start)

    def _mapped(
        self, words: dict[str, tuple[str, ...]], counts: dict[str, Counter[str]], text: TextSettings, data: Path | None
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, Mapped]]:
        """The words that other languages keep, and those of the base language that their rare words are read as."""
        how = self.dictionary
        assert how is not None  # noqa: S101 (for the type checker)
        how.check(counts)
        base = Counter({word: counts[how.base][word] for word in words[how.base]})
        kept, lent = dict(words), {}
        for code, counter in counts.items():
            if code != how.base:
                kept[code] = frequent(counter, max(how.below, text.minimum_count))
                path = how.file(code, data)
                lent[code] = mapped_words(path, code, how.base, kept[code], base, counter, text.segmentation)
        return kept, lent


def frequent_words(counts: dict[str, Counter[str]], text: TextSettings) -> dict[str, tuple[str, ...]]:
    """Every word that is frequent enough in its language."""
    words = {code: frequent(counter, text.minimum_count) for code, counter in counts.items()}
    if not any(words.values()):
        raise UserError(f"text.minimum_count: no word of the training captions occurs {text.minimum_count} times")
    return words


def prepare_vectors(own: EmbeddingNetworkSettings, context: Context) -> None:
    """Vectors that are trained on captions are kept between runs."""
    if own.vectors == "captions":
        corpus = context.train.corpus
        for code in corpus.all_languages():
            caption_vectors(corpus, code, own.word_dimensions, context.recipe.text.segmentation)
