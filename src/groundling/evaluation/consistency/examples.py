"""Queries before and after their translations are asked with them, as in Figures 5 and 6 of SMALR.

Burns et al. 2020, https://arxiv.org/abs/2004.04312, section 3.4: CLC-A averages the matching scores of a query and its
translations. The mean of the scores of unit vectors is the score of the mean of the vectors.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError
from groundling.evaluation.examples import FoundPictures, asked_pictures
from groundling.evaluation.query_translations import find_translations
from groundling.evaluation.retrieval import RankedSplit, measure
from groundling.evaluation.scores import SCORES
from groundling.model import Model

Versions = list[dict[str, str]]  # of each query, by language, its own text and its translations


def asked_together(
    model: Model, evaluated: RankedSplit, source: str, data: Path | None = None, device: str = "cpu"
) -> tuple[RankedSplit, Versions]:
    """The same split with each query asked together with its translations, and these."""
    if evaluated.similarity != "cosine":
        raise UserError(f"{model.name} compares by order, and scores of several captions are averaged for cosines only")
    corpus = evaluated.corpus
    known = sorted(set(model.languages or ()) | set(corpus.all_languages()))
    found = find_translations(corpus, known, source, data, device)
    versions = [
        {code: text for code, text in zip(known, texts, strict=True) if text is not None} for texts in found.texts
    ]
    rows = {pair: row for row, pair in enumerate(dict.fromkeys(pair for each in versions for pair in each.items()))}
    table = model.encode_text([text for _, text in rows], [code for code, _ in rows])
    means: npt.NDArray[np.float32] = np.stack(
        [table[[rows[pair] for pair in each.items()]].mean(axis=0) for each in versions]
    )
    result, by_language = measure(
        corpus,
        evaluated.pictures,
        lambda code: means[corpus.languages == code],
        evaluated.result.split,
        evaluated.folds,
        SCORES[evaluated.similarity],
    )
    return replace(evaluated, result=result, by_language=by_language, captions=means), versions


def before_and_after(
    evaluated: RankedSplit,
    together: RankedSplit,
    versions: Versions,
    queries: int = 8,
    seed: int = 0,
    photos: Path | None = None,
) -> list[FoundPictures]:
    """Queries that have a translation, drawn at random, languages in turn: each alone, then with its translations."""
    corpus, draw = evaluated.corpus, np.random.default_rng(seed)
    more = np.array([len(each) > 1 for each in versions])
    left = {
        code: draw.permutation(np.flatnonzero(more & (corpus.languages == code))).tolist()
        for code in sorted(corpus.all_languages())
    }
    left = {code: rows for code, rows in left.items() if rows}
    if not left:
        raise UserError(f"--translations: no caption of corpus {corpus.name} has one there; name another source")
    sheet: list[FoundPictures] = []
    for number in range(queries):
        rows = left[list(left)[number % len(left)]]
        if rows:
            row = rows.pop()
            sheet.append(asked_pictures(evaluated, row, photos))
            after, own = asked_pictures(together, row, photos), str(corpus.languages[row])
            others = [f"{text} ({code})" for code, text in versions[row].items() if code != own]
            sheet.append(replace(after, text=" + ".join([after.text, *others])))
    return sheet
