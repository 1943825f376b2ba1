"""A vocabulary in which every frequent word of every language has a vector of its own (EmbN, PAR. EmbN and MULE).

A smaller one (Burns et al. 2020, SMALR, https://arxiv.org/abs/2004.04312, section 4): principal components of the
vectors (`pca`), or rare words of other languages read as words of a base language (`mapping`).
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundling.corpus import Corpus
from groundling.encoders.tokenisers.by_language import LanguageTokeniser, count_words, frequent
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.words.dictionary_mapping import DictionaryMapping, Mapped
from groundling.words.starting_vectors import StartingVectors, check_reduction

Words = dict[str, tuple[str, ...]]  # language → its words, the most frequent first


@dataclass(frozen=True)
class OwnVocabulary:
    vectors: StartingVectors
    pca: int | None = None
    mapping: DictionaryMapping | None = None

    @property
    def mapped(self) -> bool:
        """Whether words have vectors that a map takes to the universal embedding."""
        return True

    def check(self, corpus: Corpus, data: Path | None) -> None:
        """Files that are not there, and sizes that cannot be, are errors."""
        languages = corpus.all_languages()
        self.vectors.check(languages, data)
        if self.vectors.source == "captions":
            check_reduction("pca", self.pca, self.vectors.dimensions)
        if self.mapping is not None:
            self.mapping.check(languages, data)

    def tokeniser(self, corpus: Corpus, text: TextSettings, data: Path | None, *unused: Any) -> LanguageTokeniser:
        counts = count_words(corpus.texts, corpus.languages.tolist(), text)
        words, mapped = frequent_words(counts, text), dict[str, Mapped]()
        if self.mapping is not None:
            kept = {
                code: frequent(found, max(self.mapping.below, text.minimum_count)) for code, found in counts.items()
            }
            mapped = self.mapping.words(words, kept, counts, text.segmentation, data)
            words = {code: words[code] if code == self.mapping.base else kept[code] for code in counts}
        if self.vectors.random:
            return LanguageTokeniser(words, text, self.pca or self.vectors.dimensions, mapped)
        start = self.vectors.table(corpus, words, text.segmentation, data)
        check_reduction("pca", self.pca, start.shape[1])
        start = self.vectors.begun(start, words, self.pca)
        return LanguageTokeniser(words, text, start.shape[1], mapped, start)


def frequent_words(counts: dict[str, Counter[str]], text: TextSettings) -> Words:
    """Every word that is frequent enough in its language."""
    words = {code: frequent(counter, text.minimum_count) for code, counter in counts.items()}
    if not any(words.values()):
        raise UserError(f"text.minimum_count: no word of the training captions occurs {text.minimum_count} times")
    return words
