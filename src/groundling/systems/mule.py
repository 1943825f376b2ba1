"""MULE: one universal embedding for the words of all languages, and one sentence branch over it.

Kim, Saito, Saenko, Sclaroff and Plummer 2020, "MULE: Multimodal universal language embedding"; the base of SMALR (Burns
et al. 2020; seed 001). To the losses of `embedding_network` it adds those that align languages, both on the mean of a
caption's universal word embeddings: neighbourhood constraints, and a classifier of languages behind a gradient
reversal. Alone, with the word table frozen, these are learned first.

A smaller vocabulary (seed 001, section 4): `pca`, `dictionary`, or `text.minimum_count`.
"""

from collections import Counter
from typing import ClassVar, Literal

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn

from groundling.batches import DeviceBatch, EveryLanguageSampler, Sampler, TrainingData
from groundling.corpus import Corpus
from groundling.errors import UserError, did_you_mean
from groundling.objectives import language_guess, reversed_gradient, strength
from groundling.settings import TextSettings, TrainingSettings
from groundling.systems.base import Towers
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings, text_of
from groundling.systems.loans import loan_words
from groundling.text import Tokeniser
from groundling.text.by_language import LanguageTokeniser, count_words, frequent
from groundling.towers.universal import average
from groundling.words.sources import find_file


class MULESettings(EmbeddingNetworkSettings):
    name: Literal["mule"] = "mule"
    align_epochs: float = Field(
        5, ge=0, description="passes through the pictures that learn alignment only, with the word table frozen"
    )
    adversary: float = Field(
        1e-6, ge=0, description="the most that the language classifier's gradient weighs, reversed"
    )
    adversary_steps: PositiveInt | None = Field(
        None, description="steps in which it grows to that; training.maximum_steps when left out"
    )
    pca: PositiveInt | None = Field(None, description="reduce word vectors to so many dimensions")
    dictionary: PositiveInt | None = Field(
        None, description="words of other languages that occur less often are read as words of the base language"
    )
    dictionaries: str = Field(
        "dictionaries/{base}-{language}.dict.gz",
        description="the dictionaries' files, also below the data folder; {base} and {language} stand for codes",
    )
    base: str = Field("en", description="the language that rare words are mapped to")


class MULETowers(Towers):
    """With the classifier of languages, which only training needs."""

    def __init__(self, towers: Towers, universal: int, languages: int) -> None:
        super().__init__(towers.text, towers.picture)
        self.adversary = nn.Linear(universal, languages)


class MULE(EmbeddingNetwork):
    name = "mule"
    paper = "Kim et al. 2020 (MULE)"
    Settings: ClassVar = MULESettings
    settings: MULESettings
    steps: int = 1  # in which the adversary grows; known when training begins

    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        counts = count_words(corpus.texts, corpus.languages.tolist(), settings)
        return self.with_vectors(self.vocabulary(counts, settings), corpus, self.settings.pca)

    def vocabulary(self, counts: dict[str, Counter[str]], settings: TextSettings) -> LanguageTokeniser:
        own, plain = self.settings, super().vocabulary(counts, settings)
        if own.dictionary is None:
            return plain
        if own.base not in counts:
            raise UserError(f'system.base: no training captions in "{own.base}"{did_you_mean(own.base, counts)}')
        base = Counter({word: counts[own.base][word] for word in plain.vocabularies[own.base]})
        words = dict(plain.vocabularies)
        loans: dict[str, dict[str, tuple[str, str]]] = {}
        for code, counter in counts.items():
            if code != own.base:
                words[code] = frequent(counter, max(own.dictionary, settings.minimum_count))
                path = find_file(own.dictionaries.replace("{base}", own.base).replace("{language}", code), None)
                loans[code] = loan_words(path, code, own.base, words[code], base, counter, settings.segmentation)
        return LanguageTokeniser(words, settings, plain.dimensions, loans)

    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        assert isinstance(tokeniser, LanguageTokeniser)  # noqa: S101 (for the type checker)
        towers = super().towers(tokeniser, features)
        return MULETowers(towers, self.settings.universal_dimensions, len(tokeniser.codes))

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        own = self.settings
        self.steps = own.adversary_steps or training.maximum_steps
        return EveryLanguageSampler(
            data, training.batch_size, training.seed, own.sentences, own.align_epochs, training.length_pool
        )

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "align", the alignment of universal embeddings alone, and "every", all losses."""
        ids, lengths, real = self.captions(data, batch)
        n = batch.rows.shape[1]
        if batch.kind == "align":
            averages = average(text_of(towers).words(ids, frozen=True), lengths)
            return self.alignment(towers, averages, real, n, batch.step)
        averages, vectors = text_of(towers).read(ids, lengths)
        grounding = self.grounding(towers, data, batch.rows[0], vectors, real)
        return grounding + self.alignment(towers, averages, real, n, batch.step)

    def alignment(self, towers: Towers, averages: Tensor, real: Tensor, pictures: int, step: Tensor) -> Tensor:
        """Of captions' mean universal embeddings [languages, captions, d]."""
        assert isinstance(towers, MULETowers)  # noqa: S101 (for the type checker)
        with torch.autocast(averages.device.type, enabled=False):
            guessed = reversed_gradient(averages, strength(step, self.steps, self.settings.adversary))
            languages = torch.arange(len(real), device=real.device)[:, None].expand_as(real)
            logits = towers.adversary(guessed.flatten(end_dim=1))
            guess = language_guess(logits, languages.flatten(), real.flatten())
            return guess + self.together(averages, real, pictures)
