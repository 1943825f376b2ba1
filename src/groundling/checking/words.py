"""Which words of a caption do not fit its picture: the caption is read again without each of them.

A word is a misfit where the caption fits clearly better without it. Where the whole caption belongs to another
picture, many words are, or none by itself; where one word is wrong, it is most often the one that costs most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundling.checking.belonging import Comparison, Floats
from groundling.checking.method import Question
from groundling.model import Model
from groundling.model.vectors import Owners
from groundling.text.segmentation import word_spans

COST = 0.3  # of the deviation of fits that mean nothing, from which on a word is a misfit
MARKED = 3  # words of a caption, at most
FEWEST = 2  # words of a caption that can do without one
LONGEST = 60  # words looked at, of a caption that is longer


@dataclass(frozen=True)
class MisfitWord:
    """A word, where it begins and ends in its caption, and how much better the caption fits without it."""

    word: str
    start: int
    end: int
    cost: float


def misfit_words(
    model: Model,
    comparison: Comparison,
    questions: Sequence[Question],
    owners: Owners,
    fit: Floats,
    rows: Sequence[int],
) -> dict[int, tuple[MisfitWord, ...]]:
    """Row → its misfits, the worst first, for some rows of the questions."""
    shorter: list[str] = []
    spans: list[tuple[int, int, int]] = []
    for row in rows:
        text = questions[row].text
        found = word_spans(text)[:LONGEST]
        if len(found) >= FEWEST:
            shorter += [text[:start] + text[end:] for start, end in found]
            spans += [(row, start, end) for start, end in found]
    if not spans:
        return {}
    where = np.array([row for row, _, _ in spans])
    codes = np.array([questions[row].reading.language for row in where.tolist()], dtype=np.str_)
    vectors = model.encode_text(shorter, codes.tolist())
    _, without = comparison.fit(vectors, owners[where], codes)
    misfits: dict[int, list[MisfitWord]] = {}
    for (row, start, end), cost in zip(spans, (without - fit[where]).tolist(), strict=True):
        if cost >= COST * comparison.deviation:
            misfits.setdefault(row, []).append(MisfitWord(questions[row].text[start:end], start, end, cost))
    return {row: tuple(sorted(found, key=lambda one: -one.cost)[:MARKED]) for row, found in misfits.items()}
