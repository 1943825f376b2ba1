"""Translation retrieval: does a model put sentences that mean the same beside each other?"""

from dataclasses import dataclass

import numpy as np

from groundling.batches.translations import Translations
from groundling.corpus import Corpus
from groundling.errors import UserError
from groundling.evaluation.ranks import ranks
from groundling.evaluation.recalls import recalls
from groundling.model.trained import TrainedModel

MOST = 2000  # pairs: the more there are, the harder it is to find the one


@dataclass(frozen=True)
class Matching:
    """How often the nearest sentence means the same, in percent.

    Attributes:
        to_known: from a new sentence to the known ones.
        from_known: the other way.
        pairs, meanings: how many there were.
    """

    to_known: float
    from_known: float
    pairs: int
    meanings: int


def match_pairs(model: TrainedModel, teacher: TrainedModel, corpus: Corpus, language: str) -> Matching | None:
    """How often the nearest sentence means the same, among held-out pairs (see `corpus.sentence_pairs`).

    The teacher reads the known ones. None where the model refuses to read the language: it has no words of it.
    """
    codes, languages = np.unique(corpus.languages, return_inverse=True)
    pairs = Translations(corpus.owners, languages.astype(np.int64), [codes.tolist().index(language)])
    # One known sentence for each meaning, as if it were the picture that the new ones are captions of.
    owners, first = np.unique(corpus.owners[pairs.captions], return_index=True)
    owners, first = owners[:MOST], first[:MOST]
    chosen = np.flatnonzero(np.isin(corpus.owners[pairs.captions], owners))
    known, new = pairs.partners(first), pairs.captions[chosen]
    try:
        vectors = model.encode_text([corpus.texts[row] for row in new], language)
    except UserError:
        return None
    anchors = teacher.encode_text([corpus.texts[row] for row in known], corpus.languages[known].tolist())
    found = recalls(ranks(anchors, vectors, np.searchsorted(owners, corpus.owners[new])))
    return Matching(found.text_to_image["R@1"], found.image_to_text["R@1"], len(new), len(owners))
