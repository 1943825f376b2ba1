"""What HEM, LA and SMALR share: words that have a vector of their own, and words that share latent tokens.

Burns et al. 2020, SMALR (seed 001, section 3.1). The most frequent words of each language have a small vector,
principal components of a pretrained one, and, as in MULE, a map for each language; every other word is one of the
latent tokens, chosen before training (`latent_words`) and never again, while the tokens' vectors go on learning.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from pydantic import Field

from groundling.corpus import Corpus
from groundling.settings import TextSettings
from groundling.systems.aligned import Aligned, AlignedSettings
from groundling.systems.latent_words import Assignment, LatentSettings, Pretraining, assign
from groundling.systems.starting_vectors import Matrix, check_reduction, reduced, starting_table
from groundling.text import Tokeniser
from groundling.text.by_language import LanguageTokeniser, count_words
from groundling.towers.hybrid import HybridWords

Latent = dict[str, dict[str, int]]  # language → word → token


class HybridSettings(AlignedSettings):
    latent: LatentSettings = Field(LatentSettings(), description="how words are assigned to latent tokens")


class Hybrid(Aligned):
    settings: HybridSettings

    @property
    @abstractmethod
    def own_words(self) -> int:
        """Words of each language, the most frequent, that keep a vector; 0 for none."""

    @property
    @abstractmethod
    def own_dimensions(self) -> int:
        """Of these vectors."""

    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        whole = self._whole(corpus, settings)
        own = self.settings
        if self.own_words and own.vectors != "random":  # before words are assigned to tokens, which takes long
            check_reduction("own_dimensions", self.own_dimensions, whole.dimensions)
        if all(len(listed) <= self.own_words for listed in whole.vocabularies.values()):
            found = Assignment(np.zeros(whole.size, dtype=np.int64), np.zeros((0, 0), dtype=np.float32))
        else:
            how = Pretraining(
                own.latent,
                own.universal_dimensions,
                own.sentences,
                own.margin,
                own.most_violated,
                self.seed,
            )
            found = assign(corpus, whole, how, self.device)
        latent: Latent = {}
        for code, listed in whole.vocabularies.items():
            latent[code] = {word: int(found.numbers[whole.rows[code][word]]) for word in listed[self.own_words :]}
        used = sorted({number for numbers in latent.values() for number in numbers.values()})
        place = {number: new for new, number in enumerate(used)}  # tokens that only frequent words have are dropped
        renumbered = {
            code: {word: place[number] for word, number in numbers.items()} for code, numbers in latent.items()
        }
        return self._hybrid(whole, renumbered, found.vectors[used])

    def resumed_tokeniser(self, corpus: Corpus, settings: TextSettings, saved: dict[str, Any]) -> Tokeniser:
        """Tokens stay what they were when training began; their vectors are in its checkpoint."""
        known = LanguageTokeniser.from_json(saved)
        return self._hybrid(self._whole(corpus, settings), {c: dict(n) for c, n in known.latent.items()}, None)

    def _whole(self, corpus: Corpus, settings: TextSettings) -> LanguageTokeniser:
        """Every word with its pretrained vector."""
        counts = count_words(corpus.texts, corpus.languages.tolist(), settings)
        plain, own = self.vocabulary(counts, settings), self.settings
        if own.vectors == "random":
            start = np.random.default_rng(0).standard_normal((plain.size, own.word_dimensions)).astype(np.float32)
        else:
            start = starting_table(
                corpus,
                plain.vocabularies,
                own.vectors,
                own.word_dimensions,
                settings.segmentation,
                own.vector_lines,
                data=self.data,
            )
        return LanguageTokeniser(plain.vocabularies, settings, start.shape[1], start=start)

    def _hybrid(self, whole: LanguageTokeniser, latent: Latent, vectors: Matrix | None) -> LanguageTokeniser:
        """Rows for the frequent words, and tokens for all others."""
        own = {code: tuple(listed[: self.own_words]) for code, listed in whole.vocabularies.items()}
        tokens = 1 + max((number for numbers in latent.values() for number in numbers.values()), default=-1)
        start = None
        if self.own_words and self.settings.vectors != "random":
            assert whole.start is not None  # noqa: S101 (for the type checker)
            small = reduced(whole.start, whole.vocabularies, self.own_dimensions)
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

    @property
    def mapped(self) -> bool:
        return self.own_words > 0

    def words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        start, latent = (
            None if table is None else torch.from_numpy(table) for table in (tokeniser.start, tokeniser.latent_start)
        )
        return HybridWords(
            tokeniser.bounds,
            tokeniser.dimensions,
            self.settings.universal_dimensions,
            tokeniser.tokens,
            [self.mapped] * len(tokeniser.codes),
            start,
            latent if tokeniser.tokens else None,
        )
