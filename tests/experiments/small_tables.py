"""What all tests of experiment tables share: a table that is trained in a second, and what to watch while it is."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import make_world
from groundling import progress, training
from groundling.corpus import storage
from groundling.dataset import Dataset
from groundling.experiments.entry_data import cached_dataset
from groundling.experiments.finished import Results
from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.run import Run
from groundling.settings import check

BASE: dict[str, Any] = {
    "corpus": {"name": "world"},
    "text": {"minimum_count": 1},
    "system": {"name": "bag", "dimensions": 8, "word_dimensions": 8, "buckets": 50},
    "training": {
        "batch_size": 16,
        "learning_rate": 0.01,
        "validate_every": 10,
        "maximum_steps": 20,
        "precision": "float32",
    },
}


def make_table(**changes: Any) -> TableSettings:
    """Trained on its columns unless something else is said: `trained_on=None` leaves it to the base and the corpus."""
    values: dict[str, Any] = {
        "title": "Two rows",
        "languages": ["en", "de"],
        "seeds": [0, 1],
        "base": BASE,
        "rows": [
            {"name": "Alone", "each": "language"},
            {"name": "Both", "set": {"training.batch_size": 32}},
        ],
    }
    values |= changes
    return check(TableSettings, {"trained_on": values["languages"], **values}, "table.yaml")


def run_table(table: TableSettings, out: Path, **options: Any) -> Results:
    return run_entries(list(table_entries(table)), out, None, "cpu", **options)


def without_times(results: Results) -> dict[str, Any]:
    """What must be equal however often a training was stopped."""
    return {folder: replace(found, run=replace(found.run, seconds=0.0)) for folder, found in results.items()}


def on_disk(folder: Path) -> dict[str, Any]:
    """The base recipe with the world in files, which other processes can read."""
    world = make_world()
    storage.save(world.corpus, folder / "corpus")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    features = {"array": str(folder / "features.npy"), "names": str(folder / "names.txt")}
    return {**BASE, "corpus": {"name": str(folder / "corpus")}, "features": features}


class Stop(BaseException):
    """In place of a power cut."""


@pytest.fixture(autouse=True)
def forget_datasets() -> Iterator[None]:
    cached_dataset.cache_clear()
    yield
    cached_dataset.cache_clear()
    progress.show(False)


@pytest.fixture
def loaded(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The world stands in for every corpus; the list grows with each time one is loaded."""
    calls: list[Any] = []
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *arguments, **options: calls.append(arguments) or world))
    return calls


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders in the order their training was started."""
    folders: list[Path] = []
    train = training.train

    def count(recipe: Any, dataset: Any, folder: Path, **options: Any) -> Run:
        folders.append(folder)
        return train(recipe, dataset, folder, **options)

    monkeypatch.setattr(training, "train", count)
    return folders
