"""A few queries with what the model answers, for the picture sheet of a report."""

from typing import Any

import numpy as np

from groundling.evaluation.models import Evaluated

SHOWN = 5


def examples(evaluated: Evaluated, queries: int = 12, annotated: int = 6, seed: int = 0) -> list[dict[str, Any]]:
    """`queries` captions with their five nearest pictures, languages in turn, then `annotated` pictures with their five
    nearest captions. Drawn at random, not chosen: a sheet of the best answers would tell nothing.

    Empty where the corpus has no picture files to show.
    """
    corpus = evaluated.corpus
    if corpus.root is None:
        return []
    draw = np.random.default_rng(seed)
    codes = sorted(corpus.all_languages(), key=lambda code: (code != "en", code))
    sheet = []
    for number in range(queries):
        code = codes[number % len(codes)]
        places = np.flatnonzero(corpus.languages == code)
        place = int(draw.integers(len(places)))
        row = places[place]
        scores = evaluated.pictures @ evaluated.captions[row]
        best = np.argsort(-scores, kind="stable")[:SHOWN]
        owner = corpus.owners[row]
        hits = [{"picture": corpus.path(at), "score": float(scores[at]), "correct": bool(at == owner)} for at in best]
        rank = int(evaluated.by_language[code].text_to_image[place])
        answer = corpus.path(owner)
        sheet.append({"language": code, "text": corpus.texts[row], "rank": rank, "hits": hits, "answer": answer})
    for at in draw.choice(len(corpus.pictures), size=min(annotated, len(corpus.pictures)), replace=False):
        scores = evaluated.captions @ evaluated.pictures[at]
        best = np.argsort(-scores, kind="stable")[:SHOWN]
        captions = [
            {
                "language": str(corpus.languages[row]),
                "text": corpus.texts[row],
                "score": float(scores[row]),
                "correct": bool(corpus.owners[row] == at),
            }
            for row in best
        ]
        sheet.append({"picture": corpus.path(int(at)), "captions": captions})
    return sheet
