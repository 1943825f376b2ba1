"""The vocabulary of LA, HEM and SMALR: words that have a vector of their own, and words that share latent tokens.

Burns et al. 2020, SMALR (arXiv:2004.04312, section 3.1). The most frequent words of each language have a small vector,
principal components of a pretrained one, and, as in MULE, a map for each language; every other word is one of the
latent tokens, chosen before training (`objectives.latent_words`) and never again, while the tokens' vectors go on
learning.
"""

from dataclasses import dataclass

import numpy as np
import torch
from pydantic import Field

from groundling.objectives.language_alignment import AlignmentSettings
from groundling.objectives.latent_words import Assignment, LatentSettings, Pretraining, assign
from groundling.systems.embedding_network import EmbeddingNetworkSettings
from groundling.systems.own_words import frequent_words, prepare_vectors
from groundling.systems.plan import Context
from groundling.text.by_language import LanguageTokeniser, count_words
from groundling.towers.hybrid import HybridWords
from groundling.words.starting_vectors import Matrix, check_files, check_reduction, reduced, starting_table

Latent = dict[str, dict[str, int]]  # language → word → token


class HybridSettings(EmbeddingNetworkSettings, AlignmentSettings):
    latent: LatentSettings = Field(LatentSettings(), description="how words are assigned to latent tokens")


@dataclass(frozen=True)
class HybridVocabulary:
    """
    Attributes:
        own_words: words of each language, the most frequent, that keep a vector; 0 for none.
        own_dimensions: of these vectors.
    """

    own: HybridSettings
    own_words: int
    own_dimensions: int

    @property
    def mapped(self) -> bool:
        return self.own_words > 0

    def check(self, context: Context) -> None:
        check_files(self.own.vectors, context.train.corpus.all_languages(), context.data)

    def prepare(self, context: Context) -> None:
        prepare_vectors(self.own, context)

    def tokeniser(self, context: Context) -> LanguageTokeniser:
        whole = self._whole(context)
        if context.saved is not None:  # tokens stay what they were; their vectors are in the checkpoint
            known = LanguageTokeniser.from_json(dict(context.saved))
            return self._hybrid(whole, {code: dict(numbers) for code, numbers in known.latent.items()}, None)
        if self.own_words and self.own.vectors != "random":  # before words are assigned to tokens, which takes long
            check_reduction("own_dimensions", self.own_dimensions, whole.dimensions)
        found = self._assigned(whole, context)
        latent: Latent = {}
        for code, listed in whole.vocabularies.items():
            latent[code] = {word: int(found.numbers[whole.rows[code][word]]) for word in listed[self.own_words :]}
        used = sorted({number for numbers in latent.values() for number in numbers.values()})
        place = {number: new for new, number in enumerate(used)}  # tokens that only frequent words have are dropped
        renumbered = {
            code: {word: place[number] for word, number in numbers.items()} for code, numbers in latent.items()
        }
        return self._hybrid(whole, renumbered, found.vectors[used])

    def words(self, tokeniser: LanguageTokeniser) -> HybridWords:
        start, latent = (
            None if table is None else torch.from_numpy(table) for table in (tokeniser.start, tokeniser.latent_start)
        )
        return HybridWords(
            tokeniser.bounds,
            tokeniser.dimensions,
            self.own.universal_dimensions,
            tokeniser.tokens,
            [self.mapped] * len(tokeniser.codes),
            start,
            latent if tokeniser.tokens else None,
        )

    def _whole(self, context: Context) -> LanguageTokeniser:
        """Every word with its pretrained vector."""
        own, corpus, text = self.own, context.train.corpus, context.recipe.text
        words = frequent_words(count_words(corpus.texts, corpus.languages.tolist(), text), text)
        if own.vectors == "random":
            rows = LanguageTokeniser(words, text, own.word_dimensions).size
            start = np.random.default_rng(0).standard_normal((rows, own.word_dimensions)).astype(np.float32)
        else:
            size, lines = own.word_dimensions, own.vector_lines
            start = starting_table(corpus, words, own.vectors, size, text.segmentation, lines, data=context.data)
        return LanguageTokeniser(words, text, start.shape[1], start=start)

    def _assigned(self, whole: LanguageTokeniser, context: Context) -> Assignment:
        """The latent token of every word."""
        own = self.own
        if all(len(listed) <= self.own_words for listed in whole.vocabularies.values()):
            return Assignment(np.zeros(whole.size, dtype=np.int64), np.zeros((0, 0), dtype=np.float32))
        how = Pretraining(
            own.latent, own.universal_dimensions, own.sentences, own.margin, own.most_violated, context.seed
        )
        return assign(context.train.corpus, whole, how, context.device, context.learn)

    def _hybrid(self, whole: LanguageTokeniser, latent: Latent, vectors: Matrix | None) -> LanguageTokeniser:
        """Rows for the frequent words, and tokens for all others."""
        own = {code: tuple(listed[: self.own_words]) for code, listed in whole.vocabularies.items()}
        tokens = 1 + max((number for numbers in latent.values() for number in numbers.values()), default=-1)
        start = None
        if self.own_words and self.own.vectors != "random":
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
