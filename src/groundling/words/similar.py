"""Which words are near to a word: the quickest look at whether vectors make sense."""

import numpy as np

from groundling.words.vectors import WordVectors, unit


def similar(vectors: WordVectors, word: str, count: int = 10) -> list[tuple[str, float]] | None:
    """The nearest other words with their cosines, best first; None where `word` has no vector."""
    vector = vectors.vector(word)
    if vector is None:
        return None
    scores = vectors.unit() @ unit(vector[None])[0]
    if word in vectors:
        scores[vectors.rows[word]] = -np.inf
    best = np.argsort(-scores, kind="stable")[: min(count, len(vectors) - (word in vectors))]
    return [(vectors.words[row], float(scores[row])) for row in best]
