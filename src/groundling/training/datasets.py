"""What a recipe trains on: a corpus and the features of its pictures."""

from pathlib import Path

from groundling import systems
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.model import Model
from groundling.settings import CorpusSettings, FeatureSettings, Recipe


def training_dataset(recipe: Recipe, data: Path | None, device: str = "auto") -> Dataset:
    """As the settings of its features say; a system that begins as a pretrained model has features by that model."""
    return dataset_by(systems.make(recipe.system).start_model, recipe.corpus, recipe.features, data, device)


def dataset_by(
    model: str | None, corpus: CorpusSettings, features: FeatureSettings, data: Path | None, device: str = "auto"
) -> Dataset:
    """The same of settings, with the pretrained model that looks at pictures, if one does."""
    if model is None:
        return Dataset.load(corpus, features, data, training=True)
    if features != FeatureSettings():
        raise UserError(f"features: pictures are looked at by {model} itself; leave these settings out")
    return Model.load(model, device).dataset(corpus, data)
