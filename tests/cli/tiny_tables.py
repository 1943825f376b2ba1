"""Tiny tables for tests of `groundling reproduce`, and which trainings it started."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import commands
import pytest
import yaml
from commands import call

from groundling import training
from groundling.experiments.entry_data import cached_dataset
from groundling.run import Run


@pytest.fixture(autouse=True)
def forget_datasets() -> Iterator[None]:
    cached_dataset.cache_clear()
    yield
    cached_dataset.cache_clear()


@pytest.fixture
def base(world_files: Path) -> dict[str, Any]:
    """Trained on the world, in no time."""
    return {
        "corpus": {"name": str(world_files / "corpus")},
        "features": {"array": str(world_files / "features.npy"), "names": str(world_files / "names.txt")},
        "text": {"minimum_count": 1},
        "system": {"name": "bag", "dimensions": 8, "word_dimensions": 8, "buckets": 50},
        "training": {"batch_size": 16, "validate_every": 5, "maximum_steps": 10, "precision": "float32"},
    }


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


def write_table(name: str, base: Any, **changes: Any) -> str:
    table = {"title": "Tiny", "languages": ["en", "de"], "seeds": [0], "base": base, "rows": [{"name": "both"}]}
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(yaml.safe_dump({**table, **changes}), encoding="utf-8")
    return name


def reproduce(*arguments: object) -> commands.Said:
    return call("reproduce", *arguments, "--device", "cpu")
