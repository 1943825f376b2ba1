"""The data of an entry of a table: what it is trained on, and what it is asked about. Entries share what is loaded."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from groundling.experiments.question import Question
from groundling.experiments.table_entries import TableEntry
from groundling.settings import CorpusSettings, FeatureSettings, Recipe

if TYPE_CHECKING:
    from groundling.corpus import Corpus
    from groundling.dataset import Dataset


def entry_dataset(entry: TableEntry, data: Path | None) -> "Dataset":
    """What an entry is trained and tested on."""
    return _dataset(_corpus(entry), entry.recipe, data).under(entry.recipe.corpus)


def _corpus(entry: TableEntry) -> CorpusSettings:
    """The whole corpus of an entry, whatever part of it the entry trains on, so that entries share what is loaded."""
    used = entry.recipe.corpus
    kept = ("name", "split_by", "captions_from", "test_on", "text_only")
    return CorpusSettings(**{key: getattr(used, key) for key in kept})


def asked_dataset(entry: TableEntry, question: Question, data: Path | None) -> "Dataset":
    settings = question.asked_of(entry.recipe.corpus)
    whole = settings.model_copy(update={"languages": None, "train_on": "all", "training_pictures": None})
    whole = whole.model_copy(update={"one_caption": False, "draw": 0})
    return _dataset(whole, entry.recipe, data).under(settings)


def asked_captions(entry: TableEntry, question: Question, data: Path | None) -> "Corpus":
    if not entry.pretrained:
        return asked_dataset(entry, question, data).corpus
    from groundling.experiments.pretrained_rows import corpus_under

    return corpus_under(question.asked_of(entry.recipe.corpus), data)


def _dataset(corpus: CorpusSettings, recipe: Recipe, data: Path | None) -> "Dataset":
    return cached_dataset(corpus.model_dump_json(), recipe.features.model_dump_json(), _start_model(recipe), data)


@lru_cache(maxsize=4)
def cached_dataset(corpus: str, features: str, model: str | None, data: Path | None) -> "Dataset":
    from groundling.training.datasets import dataset_by

    settings = CorpusSettings.model_validate_json(corpus), FeatureSettings.model_validate_json(features)
    return dataset_by(model, *settings, data)


def _start_model(recipe: Recipe) -> str | None:
    from groundling import systems

    return systems.make(recipe.system).start_model
