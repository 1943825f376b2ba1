"""MULE: one universal embedding for the words of all languages, and one sentence branch over it.

Kim, Saito, Saenko, Sclaroff and Plummer 2020, "MULE: Multimodal universal language embedding"; the base of SMALR (Burns
et al. 2020; seed 001). Every word of every language has a vector of its own, and every language a map. Its losses are
in `embedding_network` and `aligned`.

A smaller vocabulary (seed 001, section 4): `pca`, `dictionary`, or `text.minimum_count`.
"""

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError, did_you_mean
from groundling.settings import TextSettings
from groundling.systems.aligned import Aligned, AlignedSettings
from groundling.systems.loans import loan_words
from groundling.systems.starting_vectors import check_reduction
from groundling.text import Tokeniser
from groundling.text.by_language import LanguageTokeniser, count_words, frequent
from groundling.words.sources import find_file


class MULESettings(AlignedSettings):
    name: Literal["mule"] = "mule"
    pca: PositiveInt | None = Field(None, description="reduce word vectors to so many dimensions")
    dictionary: PositiveInt | None = Field(
        None, description="words of other languages that occur less often are read as words of the base language"
    )
    dictionaries: str = Field(
        "dictionaries/{base}-{language}.dict.gz",
        description="the dictionaries' files, also below the data folder; {base} and {language} stand for codes",
    )
    base: str = Field("en", description="the language that rare words are mapped to")


class MULE(Aligned):
    name = "mule"
    paper = "Kim et al. 2020 (MULE)"
    Settings: ClassVar = MULESettings
    settings: MULESettings

    def prepare(self, dataset: Dataset, text: TextSettings) -> None:
        super().prepare(dataset, text)
        own, languages = self.settings, dataset.corpus.split("train").all_languages()
        if own.vectors == "captions":
            check_reduction("pca", own.pca, own.word_dimensions)
        if own.dictionary:
            self.check_base(languages)
            for code in languages:
                if code != own.base:
                    self.dictionary_file(code)

    def check_base(self, languages: Collection[str]) -> None:
        base = self.settings.base
        if base not in languages:
            raise UserError(f'system.base: no training captions in "{base}"{did_you_mean(base, languages)}')

    def dictionary_file(self, language: str) -> Path:
        own = self.settings
        return find_file(own.dictionaries.replace("{base}", own.base).replace("{language}", language), self.data)

    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        counts = count_words(corpus.texts, corpus.languages.tolist(), settings)
        return self.with_vectors(self.vocabulary(counts, settings), corpus, self.settings.pca)

    def vocabulary(self, counts: dict[str, Counter[str]], settings: TextSettings) -> LanguageTokeniser:
        own, plain = self.settings, super().vocabulary(counts, settings)
        if own.dictionary is None:
            return plain
        self.check_base(counts)
        base = Counter({word: counts[own.base][word] for word in plain.vocabularies[own.base]})
        words = dict(plain.vocabularies)
        loans: dict[str, dict[str, tuple[str, str]]] = {}
        for code, counter in counts.items():
            if code != own.base:
                words[code] = frequent(counter, max(own.dictionary, settings.minimum_count))
                path = self.dictionary_file(code)
                loans[code] = loan_words(path, code, own.base, words[code], base, counter, settings.segmentation)
        return LanguageTokeniser(words, settings, plain.dimensions, loans)
