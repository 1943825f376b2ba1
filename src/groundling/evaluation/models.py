"""A model on one split of a corpus: recalls by language and direction, and the rank of every query."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.ranks import Ranks, ranks
from groundling.evaluation.recalls import mean_over_languages, recalls
from groundling.files import atomic_path
from groundling.model import Model

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Evaluated:
    """Results with what they were made from, so that examples can be shown and queries compared one by one."""

    result: dict[str, Any]
    by_language: dict[str, Ranks]
    corpus: Corpus
    pictures: Vectors
    captions: Vectors

    def save_ranks(self, path: Path) -> None:
        """Per-query ranks, for paired comparisons; `owners` says which picture a caption query belongs to."""
        arrays: dict[str, npt.NDArray[np.int64]] = {}
        for code, found in self.by_language.items():
            arrays[f"{code}.text_to_image"] = np.ascontiguousarray(found.text_to_image)
            arrays[f"{code}.image_to_text"] = np.ascontiguousarray(found.image_to_text)
            arrays[f"{code}.owners"] = np.ascontiguousarray(self.corpus.owners[self.corpus.languages == code])
        with atomic_path(path) as temporary:
            save_file(arrays, temporary)


def evaluate_model(model: Model, dataset: Dataset, split: str = "test", captions: str | None = None) -> Evaluated:
    """Every language of the split: all its pictures are the gallery, its captions of that language the queries.

    `captions` is "first" or "all"; None leaves it to the recipe, then to the corpus.
    """
    part = dataset.split(split)
    corpus = part.corpus.queries(captions or model.recipe.evaluation.captions)
    if not len(corpus):
        raise UserError(f'corpus {corpus.name} has no captions in split "{split}"')
    pictures = model.encode_features(part.features)
    vectors = model.encode_text(corpus.texts, corpus.languages.tolist())
    by_language = {}
    for code in sorted(corpus.all_languages()):
        rows = corpus.languages == code
        by_language[code] = ranks(pictures, vectors[rows], corpus.owners[rows])
    languages = {code: recalls(found) for code, found in by_language.items()}
    gallery = len(corpus.pictures)
    result = {
        "corpus": corpus.name,
        "split": split,
        "pictures": gallery,
        "captions": len(corpus),
        "languages": languages,
        "mean": mean_over_languages(languages),
        "chance": {f"R@{k}": min(100.0, 100.0 * k / gallery) for k in (1, 5, 10)},  # text→image
    }
    return Evaluated(result, by_language, corpus, pictures, vectors)
