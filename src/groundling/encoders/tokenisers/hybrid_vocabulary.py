"""A vocabulary in which frequent words have a vector of their own and all others share latent tokens (LA, HEM, SMALR).

Burns et al. 2020, SMALR (https://arxiv.org/abs/2004.04312, section 3.1). The most frequent words of each language have
a small vector, principal components of a pretrained one, and, as in MULE, a map for each language; every other word is
one of the latent tokens, chosen before training (`objectives.latent_words`) and never again, while the tokens' vectors
go on learning.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.corpus import Corpus
from groundling.encoders.tokenisers.by_language import LanguageTokeniser, count_words
from groundling.encoders.tokenisers.own_vocabulary import frequent_words
from groundling.settings import TextSettings
from groundling.words.starting_vectors import Matrix, StartingVectors, check_reduction

Latent = dict[str, dict[str, int]]  # language → word → token


@dataclass(frozen=True)
class Assignment:
    """Which latent token each word is.

    Attributes:
        numbers: [rows of the tokeniser] the token of each word.
        vectors: [tokens, dimensions] of the tokens that some word has.
    """

    numbers: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float32]


#: The latent tokens of all words of a tokeniser, which has their pretrained vectors.
Assign = Callable[[LanguageTokeniser], Assignment]


@dataclass(frozen=True)
class HybridVocabulary:
    """
    Attributes:
        own_words: words of each language, the most frequent, that keep a vector; 0 for none.
        own_dimensions: of these vectors.
    """

    vectors: StartingVectors
    own_words: int
    own_dimensions: int

    @property
    def mapped(self) -> bool:
        return self.own_words > 0

    def check(self, corpus: Corpus, data: Path | None) -> None:
        self.vectors.check(corpus.all_languages(), data)

    def tokeniser(
        self,
        corpus: Corpus,
        text: TextSettings,
        data: Path | None,
        saved: Mapping[str, Any] | None,
        assign: Assign,
    ) -> LanguageTokeniser:
        """Assigns words to tokens, or leaves them those of a training that was saved and now goes on."""
        whole = self._whole(corpus, text, data)
        if saved is not None:  # the tokens' vectors are in the checkpoint
            known = LanguageTokeniser.from_json(dict(saved))
            return self._hybrid(whole, {code: dict(numbers) for code, numbers in known.latent.items()}, None)
        if self.own_words and not self.vectors.random:  # before words are assigned to tokens, which takes long
            check_reduction("own_dimensions", self.own_dimensions, whole.dimensions)
        if all(len(listed) <= self.own_words for listed in whole.vocabularies.values()):
            found = Assignment(np.zeros(whole.size, dtype=np.int64), np.zeros((0, 0), dtype=np.float32))
        else:
            found = assign(whole)
        latent: Latent = {}
        for code, listed in whole.vocabularies.items():
            latent[code] = {word: int(found.numbers[whole.rows[code][word]]) for word in listed[self.own_words :]}
        used = sorted({number for numbers in latent.values() for number in numbers.values()})
        place = {number: new for new, number in enumerate(used)}  # tokens that only frequent words have are dropped
        renumbered = {
            code: {word: place[number] for word, number in numbers.items()} for code, numbers in latent.items()
        }
        return self._hybrid(whole, renumbered, found.vectors[used])

    def _whole(self, corpus: Corpus, text: TextSettings, data: Path | None) -> LanguageTokeniser:
        """Every word with its pretrained vector."""
        words = frequent_words(count_words(corpus.texts, corpus.languages.tolist(), text), text)
        if self.vectors.random:
            shape = LanguageTokeniser(words, text, self.vectors.dimensions).size, self.vectors.dimensions
            start = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        else:
            start = self.vectors.table(corpus, words, text.segmentation, data)
        return LanguageTokeniser(words, text, start.shape[1], start=start)

    def _hybrid(self, whole: LanguageTokeniser, latent: Latent, vectors: Matrix | None) -> LanguageTokeniser:
        """Rows for the frequent words, and tokens for all others."""
        own = {code: tuple(listed[: self.own_words]) for code, listed in whole.vocabularies.items()}
        tokens = 1 + max((number for numbers in latent.values() for number in numbers.values()), default=-1)
        start = None
        if self.own_words and not self.vectors.random:
            assert whole.start is not None  # noqa: S101 (for the type checker)
            small = self.vectors.begun(whole.start, whole.vocabularies, self.own_dimensions)
            kept = [small[: whole.bounds[0]]]
            kept += [small[begin : begin + 1 + len(own[code])] for begin, code in zip(whole.bounds, own, strict=False)]
            start = np.concatenate(kept)
        return LanguageTokeniser(
            own,
            whole.settings,
            self.own_dimensions,
            start=start,
            latent=latent,
            tokens=tokens,
            latent_start=vectors,
        )
