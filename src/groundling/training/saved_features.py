"""Features of the pictures that a run is tested on, kept beside the picture network that it has trained."""

import numpy as np

from groundling.dataset import Dataset
from groundling.run import Run
from groundling.settings import Recipe
from groundling.vision.from_settings import corpus_features
from groundling.vision.tuned import SavedFeatures


def save_features(run: Run, recipe: Recipe, dataset: Dataset) -> None:
    """So that a copy of the run can be evaluated where there are no pictures."""
    corpus = dataset.corpus.keep_pictures(dataset.corpus.splits != "train")
    settings = recipe.features.model_copy(update={"weights": str(run.folder.resolve())})
    features, usable = corpus_features(corpus, settings)
    SavedFeatures(corpus.name, corpus.pictures[usable].tolist(), features[usable].astype(np.float16)).write(run.folder)
