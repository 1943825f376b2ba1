"""Statements about pictures, each with its label: what visual entailment is trained and tested on.

A statement is an entailment where the picture shows that it is true, a contradiction where the picture shows that it is
false, and neutral where the picture does not tell. Xie et al. 2019 (SNLI-VE) made the task.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from groundling.corpus.columns import Integers, Mask, Strings

LABELS = ("contradiction", "neutral", "entailment")


@dataclass(frozen=True)
class Entailments:
    """Columns of equal length, one row per statement and language.

    Attributes:
        owners: for each statement the row of its picture, whose split is the statement's.
        languages: its language code.
        texts: the statements as written.
        labels: "contradiction", "neutral" or "entailment".
        ids: what a statement and its translations share; they are about one picture and have one label.
    """

    owners: Integers
    languages: Strings
    texts: list[str]
    labels: Strings
    ids: Strings

    def __post_init__(self) -> None:
        if not len(self.owners) == len(self.languages) == len(self.texts) == len(self.labels) == len(self.ids):
            raise ValueError("owners, languages, texts, labels and ids differ in length")
        unknown = set(np.unique(self.labels).tolist()) - set(LABELS)
        if unknown:
            raise ValueError(f"unknown labels: {', '.join(sorted(unknown))}")

    def __len__(self) -> int:
        return len(self.texts)

    def all_languages(self) -> list[str]:
        """Language codes, the one with most statements first; ties by name."""
        counts = Counter(self.languages.tolist())
        return sorted(counts, key=lambda code: (-counts[code], code))

    def classes(self) -> Integers:
        """Each label as a number, its place in LABELS: what a classifier is trained on."""
        codes = np.zeros(len(self), dtype=np.int64)
        for number, label in enumerate(LABELS):
            codes[self.labels == label] = number
        return codes

    def keep(self, rows: Mask) -> "Entailments":
        """Only the statements under the mask."""
        kept = np.flatnonzero(rows)
        return Entailments(
            self.owners[kept],
            self.languages[kept],
            [self.texts[row] for row in kept],
            self.labels[kept],
            self.ids[kept],
        )

    def only(self, languages: list[str]) -> "Entailments":
        return self.keep(np.isin(self.languages, languages))

    def keep_pictures(self, keep: Mask) -> "Entailments":
        """Statements about the pictures under the mask, whose rows are numbered anew."""
        kept = self.keep(keep[self.owners])
        new_row = np.cumsum(keep) - 1
        return replace(kept, owners=new_row[kept.owners].astype(np.int64))
