"""The corpus and the features that a recipe names, loaded and matched row by row."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.corpus import Corpus, catalogue, conditions
from groundling.corpus.pairs.source import PairSource
from groundling.corpus.unpictured import Unpictured, read_pairs, unpictured
from groundling.errors import UserError, did_you_mean
from groundling.large_arrays import rows_of
from groundling.settings import CorpusSettings, FeatureSettings
from groundling.vision.from_settings import comes_with_features, corpus_features


@dataclass(frozen=True)
class Dataset:
    """A corpus and one feature vector per picture, in the same order.

    Attributes:
        skipped: names of pictures that could not be read and are not in it.
        whole: the corpus before languages, pictures and captions were chosen from it: text that word vectors may be
            learned from. None where nothing was chosen.
        data: the folder that files named in settings may lie below.
        views: [pictures, views, dim] float16, where there are features of several views of each picture (`features`
            are then their mean).
        text_only: sentences without pictures to train on beside it; None where none are asked for.
        pairs: sentences that mean the same in known and new languages, where that is what is learned from.
        unknown_backbone: the features came with the corpus, and the settings do not say which backbone made them.
    """

    corpus: Corpus
    features: npt.NDArray[np.float32]
    skipped: tuple[str, ...] = ()
    whole: Corpus | None = None
    data: Path | None = None
    unknown_backbone: bool = False
    views: npt.NDArray[np.float16] | None = None
    text_only: Unpictured | None = None
    pairs: PairSource | None = None

    def __repr__(self) -> str:
        return f"Dataset of {self.corpus!r}, each picture with {' × '.join(map(str, self.features.shape[1:]))} features"

    def split(self, name: str) -> "Dataset":
        return self._keep(self.corpus.split(name), self.corpus.splits == name)

    def _keep(self, corpus: Corpus, rows: npt.NDArray[np.bool_]) -> "Dataset":
        views = None if self.views is None else self.views[rows]
        return replace(self, corpus=corpus, features=rows_of(self.features, rows), views=views)

    def only(self, languages: list[str]) -> "Dataset":
        """Captions in these languages; an unknown one is an error."""
        text_only = None if self.text_only is None else self.text_only.only(languages)
        return replace(self, corpus=self.corpus.only(_known(languages, self.corpus)), text_only=text_only)

    def under(self, corpus: CorpusSettings) -> "Dataset":
        """Only what these settings train and test on: languages, then the part of the pictures, then the captions."""
        chosen = self if corpus.languages is None else self.only(corpus.languages)
        if corpus.train_on == "half":
            chosen = chosen.having(conditions.half(chosen.corpus, corpus.draw))
        elif corpus.train_on == "disjoint":
            languages = corpus.languages or sorted(chosen.corpus.all_languages())
            chosen = chosen.having(conditions.disjoint(chosen.corpus, languages, corpus.draw))
        if corpus.training_pictures is not None:
            chosen = chosen.having(conditions.some_pictures(chosen.corpus, corpus.training_pictures, corpus.draw))
        if corpus.one_caption:
            chosen = chosen.having(conditions.one_caption(chosen.corpus, corpus.draw))
        return replace(chosen, whole=self.corpus if self.whole is None else self.whole)

    def having(self, corpus: Corpus) -> "Dataset":
        """The same features for a corpus of some of these pictures."""
        return self._keep(corpus, np.isin(self.corpus.pictures, corpus.pictures))

    def with_text_only(self) -> Corpus:
        """The corpus, and behind its captions the sentences without pictures: their owners have no features."""
        if self.text_only is None:
            return self.corpus
        own, more = self.corpus, self.text_only.corpus
        return replace(
            own,
            pictures=np.concatenate([own.pictures, np.array([f"text {name}" for name in more.pictures.tolist()])]),
            splits=np.concatenate([own.splits, more.splits]),
            owners=np.concatenate([own.owners, more.owners + len(own.pictures)]),
            languages=np.concatenate([own.languages, more.languages]),
            texts=[*own.texts, *more.texts],
            origins=np.concatenate([own.origins, more.origins]),
            statements=None,
        )

    def judged(self) -> "Dataset":
        """The same with statements in the place of captions (see `Corpus.judged`)."""
        return replace(self, corpus=self.corpus.judged())

    @staticmethod
    def load(
        corpus: CorpusSettings,
        features: FeatureSettings,
        data: Path | None = None,
        splits: Collection[str] | None = None,
        training: bool = False,
    ) -> "Dataset":
        """What settings name; with `splits` only pictures of these, so that no others need be looked at.

        Sentences without pictures are for `training` alone, and take a while to read.
        """
        loaded = load_corpus(corpus, data)
        if splits is not None:
            loaded = loaded.keep_pictures(np.isin(loaded.splits, list(splits)))
        vectors, usable = corpus_features(loaded, features)
        skipped = tuple(loaded.pictures[~usable].tolist())
        unknown = comes_with_features(loaded, features) and features == FeatureSettings()
        kept = rows_of(vectors, usable)
        views, vectors = (kept, kept) if kept.ndim == 3 else (None, kept)
        dataset = Dataset(
            loaded.keep_pictures(usable),
            vectors if views is None else views.mean(axis=1),
            skipped,
            data=data,
            unknown_backbone=unknown,
            views=None if views is None else views.astype(np.float16),
        )
        sources = [_text_source(name, data) for name in corpus.text_only] if training else []
        if sources:
            dataset = replace(dataset, text_only=unpictured(dataset.corpus, sources))
        return dataset.under(corpus)


def load_corpus(settings: CorpusSettings, data: Path | None = None) -> Corpus:
    """The corpus that settings name, with captions that come from other corpora in their place."""
    names = [name for value in settings.captions_from.values() for name in _listed(value)]
    names = list(dict.fromkeys([settings.name, *names, *_listed(settings.test_on)]))
    ways = {settings.name: settings.split_by}
    named = {name: catalogue.load(name, data=data, split=ways.get(name)) for name in names}
    corpus = named[settings.name]
    for language, sources in settings.captions_from.items():
        corpus = conditions.captions_from(corpus, language, [named[name] for name in _listed(sources)])
    return corpus if settings.test_on is None else conditions.tested_on(corpus, named[settings.test_on])


def _text_source(name: str, data: Path | None) -> Corpus:
    """A corpus, or a table of translations."""
    if name.endswith(".tsv"):
        return read_pairs(next((p for p in (Path(name), (data or Path()) / name) if p.is_file()), Path(name)))
    return catalogue.load(name, data=data)


def _listed(value: str | list[str] | None) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else value


def _known(languages: list[str], corpus: Corpus) -> list[str]:
    judged = [] if corpus.statements is None else corpus.statements.all_languages()
    present = list(dict.fromkeys([*corpus.all_languages(), *judged]))
    for code in languages:
        if code not in present:
            raise UserError(f'corpus {corpus.name} has no captions in "{code}"{did_you_mean(code, present)}')
    return languages
