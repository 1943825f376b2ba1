"""A corpus as a model sees it: its captions, and for each picture what the model makes of it.

Pictures are looked at once: what a model made of a file is kept, and found again by the model's fingerprint and the
content of the file (see `vision.cache`).
"""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundling.dataset import Dataset, load_corpus
from groundling.errors import UserError
from groundling.files import cache_folder
from groundling.settings import CorpusSettings, FeatureSettings
from groundling.vision.from_settings import comes_with_features, corpus_features

if TYPE_CHECKING:
    from groundling.model.protocol import Model

DIGEST = 64  # hexadecimal digits of a fingerprint


def dataset_of(
    model: "Model", settings: CorpusSettings, data: Path | None = None, splits: Collection[str] | None = None
) -> Dataset:
    """What settings name, with the features that `model.encode_features` takes; with `splits` only pictures of these.

    A model that looks through a backbone takes features that came with a corpus; another needs the photos.
    """
    corpus = load_corpus(settings, data)
    if splits is not None:
        corpus = corpus.keep_pictures(np.isin(corpus.splits, list(splits)))
    if model.takes_features and comes_with_features(corpus, FeatureSettings()):
        vectors, usable = corpus_features(corpus, FeatureSettings())
        return Dataset(corpus, vectors, data=data, unknown_backbone=True).under(settings)
    if corpus.root is None:
        raise UserError(
            f"corpus {corpus.name} has no picture files, and {model.name} looks at pictures itself; "
            "put the photos beside its captions"
        )
    from groundling.vision.cache import cached, one_by_one

    model.load_picture_side()
    paths = [corpus.root / str(name) for name in corpus.pictures]
    known_by = {"model": model.name, "fingerprint": model.picture_fingerprint, "dimensions": model.features}
    # Behind the digest is what an export in fewer bits adds to it, for it sees slightly other things.
    seen_by = model.picture_fingerprint[:16] + model.picture_fingerprint[DIGEST:]
    place = cache_folder() / "features" / f"model-{seen_by}-{model.features}"
    encode = one_by_one(model.features_of)
    found = cached(paths, place, known_by, model.features, model.preparation, encode, model.batch)
    usable = np.ones(len(paths), dtype=bool)
    usable[[row for row, _ in found.failed]] = False
    skipped = tuple(corpus.pictures[~usable].tolist())
    return Dataset(corpus.keep_pictures(usable), found.vectors[usable], skipped, data=data).under(settings)
