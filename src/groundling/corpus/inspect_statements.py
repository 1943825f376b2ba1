"""What is in the statements of a corpus: labels by split and language, what repeats, what the words give away."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from groundling.corpus.caption_keys import normalised
from groundling.corpus.corpus import SPLITS, Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.corpus.near_duplicates import HELD_OUT

V = TypeVar("V")


@dataclass(frozen=True)
class StatementFacts:
    """
    Attributes:
        statements: how many there are.
        different: without their translations.
        labels: split → language → how many have each label.
        torn_translations: how many do not agree with their translations on picture and label.
    """

    statements: int
    different: int
    labels: dict[str, dict[str, dict[str, int]]]
    torn_translations: int


class WordsAlone(Protocol):
    """What is right without a look at any picture (see `evaluation.text_only`)."""

    @property
    def split(self) -> str: ...
    @property
    def majority(self) -> float: ...
    @property
    def words(self) -> float: ...


@dataclass(frozen=True)
class Repeated:
    """Statements that are word for word in train: how many of how many."""

    count: int
    of: int


@dataclass(frozen=True)
class StatementLeaks:
    """
    Attributes:
        in_train: language → split → what is repeated.
        text_only: by language, what classifiers make of words alone.
    """

    in_train: dict[str, dict[str, Repeated]]
    text_only: Mapping[str, WordsAlone]


def describe_statements(corpus: Corpus) -> StatementFacts | None:
    """None where the corpus has no statements."""
    statements = corpus.statements
    if statements is None:
        return None
    splits = corpus.splits[statements.owners]
    return StatementFacts(
        statements=len(statements),
        different=len(np.unique(statements.ids)),
        labels={
            split: {
                language: _labels(statements.labels[(splits == split) & (statements.languages == language)])
                for language in sorted(statements.all_languages())
            }
            for split in SPLITS
        },
        torn_translations=_torn(statements),
    )


def statement_leaks(corpus: Corpus, text_only: Mapping[str, WordsAlone]) -> StatementLeaks | None:
    """None where the corpus has no statements."""
    statements = corpus.statements
    if statements is None:
        return None
    splits = corpus.splits[statements.owners]
    known = {text: normalised(text) for text in set(statements.texts)}
    keys = [known[text] for text in statements.texts]
    repeated: dict[str, dict[str, Repeated]] = {}
    for language in sorted(statements.all_languages()):
        here = statements.languages == language
        train = {keys[row] for row in np.flatnonzero(here & (splits == "train"))}
        repeated[language] = {}
        for split in HELD_OUT:
            rows = np.flatnonzero(here & (splits == split))
            repeated[language][split] = Repeated(sum(keys[row] in train for row in rows), len(rows))
    return StatementLeaks(repeated, text_only)


def statement_lines(found: StatementFacts | None, leaks: StatementLeaks | None) -> list[str]:
    """Lines for people, from both of the above."""
    if found is None:
        return []
    lines = [f"{found.statements:,} statements with labels, {found.different:,} without their translations"]
    if found.torn_translations:
        lines.append(f"{found.torn_translations:,} statements and their translations disagree on picture or label")
    if leaks is None:
        return lines
    for split in HELD_OUT:
        shares = {
            language: f"{counts[split].count:,} of {counts[split].of:,}"
            for language, counts in leaks.in_train.items()
            if counts[split].count
        }
        lines += [
            f"{split}: {share} statements ({' '.join(languages)}) are word for word in train, about other pictures"
            for share, languages in _grouped(shares).items()
        ]
    told = {
        language: f"{row.split}: without a look at the pictures, {row.majority:.1%} of labels are right by "
        f"always saying the most frequent one, {row.words:.1%} by the words of the statements"
        for language, row in leaks.text_only.items()
    }
    lines += [f"{line} ({' '.join(languages)})" for line, languages in _grouped(told).items()]
    if not told:
        lines.append("How much words alone give away was not measured: no statements to train on, or none to test on")
    return lines


def label_rows(found: StatementFacts) -> list[list[str | int]]:
    """Rows of a table: split, languages with the same counts together, and the number of each label."""
    rows: list[list[str | int]] = []
    for split, languages in found.labels.items():
        counts = {language: tuple(table.values()) for language, table in languages.items() if any(table.values())}
        rows += [[split, " ".join(codes), *numbers] for numbers, codes in _grouped(counts).items()]
    return rows


def _grouped(values: Mapping[str, V]) -> dict[V, list[str]]:
    """Value → the languages that have it."""
    groups: dict[V, list[str]] = {}
    for language, value in values.items():
        groups.setdefault(value, []).append(language)
    return groups


def _labels(labels: Any) -> dict[str, int]:
    counts = Counter(labels.tolist())
    return {label: counts[label] for label in LABELS}


def _torn(statements: Entailments) -> int:
    """Ids whose rows do not agree on picture and label."""
    first: dict[str, tuple[int, str]] = {}
    torn = set()
    rows = zip(statements.ids.tolist(), statements.owners.tolist(), statements.labels.tolist(), strict=True)
    for name, owner, label in rows:
        if first.setdefault(name, (owner, label)) != (owner, label):
            torn.add(name)
    return len(torn)
