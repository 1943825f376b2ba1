"""A run asked in several languages at once: each query together with its translations."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from groundling.corpus import Corpus
from groundling.corpus.columns import Integers
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.consistency.score import Average, Combination, Combined
from groundling.evaluation.consistency.training import Queries, learn
from groundling.evaluation.loading import LoadedModel
from groundling.evaluation.query_translations import COMPARABLE, OWN, Translations, find_translations
from groundling.evaluation.results import ConsistencyResult, Learning
from groundling.model.protocol import Model
from groundling.model.vectors import Vectors

How = Literal["average", "learned"]


@dataclass(frozen=True)
class Versions:
    """Queries with all their versions, each different text encoded once.

    Attributes:
        corpus: the queries.
        pictures: vectors of all pictures.
        table: vectors of all texts; the last row is zeros.
        places: for each query and language a row of the table; the last row where there is no translation.
    """

    corpus: Corpus
    pictures: Vectors
    table: Vectors
    places: Integers

    def packed(self, code: str) -> Vectors:
        """[queries of one language, languages · d]"""
        places = self.places[self.corpus.languages == code]
        return self.table[places].reshape(len(places), -1)

    def alone(self, code: str, languages: list[str]) -> Vectors:
        """[queries of one language, d]: without their translations."""
        return self.table[self.places[self.corpus.languages == code, languages.index(code)]]


def ask_together(loaded: LoadedModel, how: How, source: str = OWN) -> ConsistencyResult:
    """An evaluation of each query together with its translations, and `alone` without them.

    "learned" learns on the dev split how much to make of each language.
    """
    if how == "learned" and loaded.split == "dev":
        raise UserError("--consistency learned learns on the dev split; measure it on another one")
    part = loaded.part()
    queries, kept = loaded.queries(part.corpus), loaded.asks(part.corpus)
    known = sorted(set(loaded.languages) | set(queries.all_languages()))
    if len(known) == 1:
        raise UserError(
            f"{loaded.model.name} knows one language, {known[0]}, so that there is no other to ask in; "
            f"--translate-to {known[0]} asks it with captions of other languages"
        )
    found = find_translations(part.corpus, known, source, loaded.data, loaded.device.type)
    languages = _spoken(found, kept, known)
    versions = _versions(loaded.model, part, queries, kept, found, known, languages)
    shares = _shares(versions, languages)
    if not any(shares.values()):
        raise UserError(
            f"{found.source}: no {loaded.split} caption of corpus {queries.name} has a translation there; "
            "give one that has, as --source"
        )
    combination: Combination = Average(len(languages))
    learning = None
    if how == "learned":
        combination, learning = _learned(loaded, known, languages, source)
    together = Combined(loaded.score, combination, len(languages))
    return ConsistencyResult(
        loaded.measure(queries, versions.pictures, versions.packed, together),
        loaded.measure(queries, versions.pictures, lambda code: versions.alone(code, languages)),
        how,
        found.source,
        languages,
        shares,
        upper_bound=source == COMPARABLE,
        learning=learning,
    )


def _spoken(found: Translations, kept: npt.NDArray[np.bool_], known: list[str]) -> list[str]:
    """The languages that any query has a version in."""
    there = np.zeros(len(known), dtype=bool)
    for versions, asks in zip(found.texts, kept, strict=True):
        if asks:
            there |= [text is not None for text in versions]
    return [code for code, spoken in zip(known, there, strict=True) if spoken]


def _versions(
    model: Model,
    part: Dataset,
    queries: Corpus,
    kept: npt.NDArray[np.bool_],
    found: Translations,
    known: list[str],
    languages: list[str],
) -> Versions:
    columns = [(column, code) for column, code in enumerate(known) if code in languages]
    rows: dict[tuple[str, str], int] = {}
    places = []
    for versions, asks in zip(found.texts, kept, strict=True):
        if asks:
            pairs = [(code, versions[column]) for column, code in columns]
            places.append([-1 if text is None else rows.setdefault((code, text), len(rows)) for code, text in pairs])
    encoded = model.encode_text([text for _, text in rows], [code for code, _ in rows])
    table = np.concatenate([encoded, np.zeros_like(encoded[:1])])
    return Versions(queries, model.encode_features(part.features), table, np.array(places, dtype=np.int64))


def _shares(versions: Versions, languages: list[str]) -> dict[str, float]:
    """For each language the share of its queries, in percent, with at least one translation."""
    more = (versions.places >= 0).sum(axis=1) > 1
    codes = versions.corpus.languages
    return {code: 100 * float(more[codes == code].mean()) for code in languages if (codes == code).any()}


def _learned(loaded: LoadedModel, known: list[str], languages: list[str], source: str) -> tuple[Combination, Learning]:
    """What the dev queries that have a translation teach."""
    part = loaded.part("dev")
    queries, kept = loaded.queries(part.corpus, "dev", 1), loaded.asks(part.corpus)
    found = find_translations(part.corpus, known, source, loaded.data, loaded.device.type)
    versions = _versions(loaded.model, part, queries, kept, found, known, languages)
    translated = (versions.places >= 0).sum(axis=1) > 1
    groups = []
    for code in sorted(queries.all_languages()):
        chosen = translated & (queries.languages == code)
        if chosen.any():
            rows = versions.table[versions.places[chosen]].reshape(int(chosen.sum()), -1)
            owners = torch.from_numpy(queries.owners[chosen])
            groups.append(Queries(torch.from_numpy(rows).to(loaded.device), owners.to(loaded.device)))
    if not groups:
        raise UserError(
            f"{found.source}: no dev caption of corpus {queries.name} has a translation there to learn from; "
            "use --consistency average"
        )
    pictures = torch.from_numpy(versions.pictures).to(loaded.device)
    learned, losses = learn(loaded.score, pictures, groups, len(languages))
    importance = dict(zip(languages, learned.importance(), strict=True))
    learned_from = sum(len(group.owners) for group in groups)
    return learned, Learning(learned.parameters, learned_from, [losses[0], losses[-1]], importance)
