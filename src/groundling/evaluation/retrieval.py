"""A model on one split of a corpus: recalls by language and direction, and the rank of every query."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.folds import fold_ranks, fold_recalls, parts
from groundling.evaluation.metrics import RankMetric, of_kind
from groundling.evaluation.provenance import corpus_hashes
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.results import RetrievalResult, RetrievalScores
from groundling.evaluation.scores import SCORES, Score
from groundling.files import atomic_path
from groundling.model import Model
from groundling.model.vectors import Vectors
from groundling.run import Run


@dataclass(frozen=True)
class RankedSplit:
    """Results with what they were made from, so that examples can be shown and queries compared one by one."""

    result: RetrievalResult
    by_language: dict[str, Ranks]
    corpus: Corpus
    pictures: Vectors
    captions: Vectors
    folds: int = 1
    similarity: str = "cosine"

    def gallery(self, picture: int) -> slice:
        """The rows of the pictures that this one is ranked among."""
        size = len(self.pictures) // self.folds
        start = picture // size * size
        return slice(start, start + size)

    def hashes(self) -> dict[str, str]:
        """By language, of what was asked."""
        return corpus_hashes(self.corpus)

    def save(self, run: Run) -> None:
        """Per-query ranks, for paired comparisons; `owners` says which picture a caption query belongs to.

        With folds they are ranks within the fold, and the array `folds` holds their number.
        """
        arrays: dict[str, npt.NDArray[np.int64]] = {}
        if self.folds > 1:
            arrays["folds"] = np.array([self.folds])
        for code, found in self.by_language.items():
            arrays[f"{code}.text_to_image"] = np.ascontiguousarray(found.text_to_image)
            arrays[f"{code}.image_to_text"] = np.ascontiguousarray(found.image_to_text)
            arrays[f"{code}.owners"] = np.ascontiguousarray(self.corpus.owners[self.corpus.languages == code])
        with atomic_path(run.ranks_file) as temporary:
            save_file(arrays, temporary)


def evaluate_retrieval(
    model: Model,
    dataset: Dataset,
    split: str = "test",
    captions: str | None = None,
    folds: int | None = None,
) -> RankedSplit:
    """Every language of the split: all its pictures are the gallery, its captions of that language the queries.

    `captions` is "first" or "all"; None leaves it to the recipe, then to the corpus. `folds` of the pictures, each a
    gallery of its own, are averaged; None leaves their number to the recipe.
    """
    part = dataset.split(split)
    folds = folds or model.evaluation.folds
    corpus = check_queries(part.corpus, split, captions or model.evaluation.captions, folds)
    pictures = model.encode_features(part.features)
    vectors = model.encode_text(corpus.texts, corpus.languages.tolist())
    score = SCORES[model.similarity]
    result, by_language = measure(corpus, pictures, lambda code: vectors[corpus.languages == code], split, folds, score)
    result = replace(result, skipped=dataset.skipped)
    return RankedSplit(result, by_language, corpus, pictures, vectors, folds, model.similarity)


def measure(
    corpus: Corpus, pictures: Vectors, captions: Callable[[str], Vectors], split: str, folds: int, score: Score
) -> tuple[RetrievalResult, dict[str, Ranks]]:
    """The result of these queries and the ranks of each; `captions` gives the vectors of those of one language."""
    by_language, languages = {}, {}
    for code in sorted(corpus.all_languages()):
        owners = corpus.owners[corpus.languages == code]
        by_language[code] = fold_ranks(pictures, captions(code), owners, folds, score=score)
        languages[code] = fold_recalls(by_language[code], owners, folds)
    gallery = len(corpus.pictures) // folds
    result = RetrievalResult(
        corpus.name,
        split,
        len(corpus.pictures),
        len(corpus),
        languages,
        RetrievalScores.average(list(languages.values())),
        {metric.name: metric.chance(gallery) for metric in of_kind(RankMetric) if metric.chance},
        folds,
    )
    return result, by_language


def check_queries(corpus: Corpus, split: str, captions: str | None, folds: int) -> Corpus:
    """The captions of a split that ask; an error, before hours of work, where they cannot be asked in this way."""
    queries = corpus.queries(captions)
    if not len(queries):
        raise UserError(f'corpus {corpus.name} has no captions in split "{split}"')
    for code in sorted(queries.all_languages()) if folds > 1 else []:
        owners = queries.owners[queries.languages == code]
        parts(len(queries.pictures), owners, folds, f"caption in {code}", f"corpus {corpus.name}, {split}: ")
    return queries
