"""Translation retrieval: does a model put sentences that mean the same beside each other?"""

import math
from dataclasses import dataclass

import numpy as np

from groundling.corpus.pairs import SentencePairs
from groundling.errors import UserError
from groundling.evaluation.ranks import ranks
from groundling.evaluation.recalls import recalls
from groundling.model.protocol import Model

MOST = 2000  # pairs: the more there are, the harder it is to find the one
NORMAL = 1.96  # deviations that hold 95% of a normal distribution


@dataclass(frozen=True)
class Matching:
    """How often the nearest sentence means the same, in percent.

    Attributes:
        to_known: from a new sentence to the known ones.
        from_known: the other way.
        pairs, meanings: how many there were.
        to_known_interval, from_known_interval: where the share lies with 95% confidence, told from so many.
    """

    to_known: float
    from_known: float
    pairs: int
    meanings: int
    to_known_interval: tuple[float, float]
    from_known_interval: tuple[float, float]


def match_pairs(model: Model, teacher: Model, held_out: SentencePairs, language: str) -> Matching | None:
    """How often the nearest sentence means the same, among held-out pairs of a language.

    The teacher reads the known ones. None where there are none, or the model refuses to read the language.
    """
    mine = np.flatnonzero(np.array(list(held_out.languages)) == language)
    partners = held_out.partner(mine)
    # One known sentence for each meaning, as if it were the picture that the new ones are captions of.
    meanings = np.unique(partners)[:MOST]
    chosen = np.flatnonzero(np.isin(partners, meanings))
    if not len(chosen):
        return None
    try:
        vectors = model.encode_text([held_out.new[row] for row in mine[chosen].tolist()], language)
    except UserError:
        return None
    known = [held_out.known[row] for row in meanings.tolist()]
    anchors = teacher.encode_text(known, [held_out.known_languages[row] for row in meanings.tolist()])
    found = recalls(ranks(anchors, vectors, np.searchsorted(meanings, partners[chosen])))
    to_known, from_known = found.text_to_image["R@1"], found.image_to_text["R@1"]
    return Matching(
        to_known,
        from_known,
        len(chosen),
        len(meanings),
        share_interval(to_known, len(chosen)),
        share_interval(from_known, len(meanings)),
    )


def share_interval(percent: float, count: int) -> tuple[float, float]:
    """Where a share in percent, seen in `count` cases, lies with 95% confidence: Wilson 1927, "Probable inference, the
    law of succession, and statistical inference". It stays between 0 and 100 and is right for few cases, too.

    >>> "{:.1f} to {:.1f}".format(*share_interval(50.0, 10))
    '23.7 to 76.3'
    >>> "{:.1f} to {:.1f}".format(*share_interval(100.0, 20))
    '83.9 to 100.0'
    """
    share, square = percent / 100, NORMAL**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = NORMAL / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)
