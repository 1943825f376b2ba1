"""What would stop a training stops the table before the first training starts: a mistake must not cost a night."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_tables
from small_tables import BASE, make_table, on_disk, run_table

from conftest import make_world
from groundling import training
from groundling.corpus import storage
from groundling.errors import UserError

forget_datasets = small_tables.forget_datasets


@pytest.fixture(autouse=True)
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("a training was started")

    monkeypatch.setattr(training, "train", refuse)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world as a corpus, and worlds in which something is missing."""
    folder = tmp_path_factory.mktemp("files")
    on_disk(folder)
    world = make_world().corpus
    splits, german = world.splits[world.owners], world.languages == "de"
    storage.save(replace(world, name="rolled", splits=np.roll(world.splits, 1)), folder / "other-splits")
    for name in ("train", "dev", "test"):
        storage.save(world.keep_captions(splits != name), folder / f"no-{name}")
        storage.save(world.keep_captions((splits != name) | ~german), folder / f"no-german-{name}")
    storage.save(replace(world, pictures=np.char.add("other-", world.pictures)), folder / "other-pictures")
    np.save(folder / "short.npy", np.zeros((3, 4), dtype=np.float32))
    return folder


LAST_ROWS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown system": ({"system.name": "bagg"}, 'no system is called "bagg" (did you mean "bag"?)'),
    "unknown setting of a system": ({"system.dropuot": 1}, 'unknown setting "dropuot" (did you mean "dropout"?)'),
    "bad value of a system": ({"system.objective.temperature": -1}, "objective contrastive: temperature"),
    "missing language": ({"corpus.languages": ["en", "fr"]}, 'has no captions in "fr"'),
    "missing corpus": ({"corpus.name": "nowhere"}, 'no corpus, file or folder named "nowhere"'),
    "missing features": ({"features.array": "nowhere.npy"}, "nowhere.npy: no such file"),
    "features of fewer pictures": ({"features.array": "FILES/short.npy"}, "short.npy"),
    "features without names": ({"features.names": None}, "features.array and features.names go together"),
    "features of other pictures": ({"corpus.name": "FILES/other-pictures"}, "other-picture-0"),
    "parts of one language": (
        {"corpus.train_on": "disjoint", "corpus.languages": ["en"]},
        "disjoint pictures need at least two languages",
    ),
    "captions from nowhere": ({"corpus.captions_from": {"en": "nowhere"}}, 'named "nowhere"'),
    "captions that the source lacks": ({"corpus.captions_from": {"fr": "FILES/corpus"}}, 'has no captions in "fr"'),
    "captions of other splits": (
        {"corpus.captions_from": {"en": "FILES/other-splits"}},
        "is in train of world but in test of rolled",
    ),
    "tests of other splits": ({"corpus.test_on": "FILES/other-splits"}, "is in train of world but in test of rolled"),
    "tested nowhere": ({"corpus.test_on": "nowhere"}, 'named "nowhere"'),
    "a split of its own": ({"corpus.split_by": "artist"}, "comes with its own splits"),
    "nothing to train on": ({"corpus.name": "FILES/no-train"}, "has no training captions"),
    "nothing to validate on": ({"corpus.name": "FILES/no-dev"}, "has no dev captions"),
    "nothing to test on": ({"corpus.name": "FILES/no-test"}, 'no captions in split "test"'),
    "a language without dev captions": ({"corpus.name": "FILES/no-german-dev"}, "no dev captions in de"),
    "a language without test captions": ({"corpus.name": "FILES/no-german-test"}, "no test captions in de"),
    "validation in no language": ({"training.validation_language": "fr"}, "training.validation_language"),
    "folds that do not fit": ({"evaluation.folds": 7}, "25 pictures cannot be divided into 7 equal folds"),
    "pairs without pictures in common": (
        {"corpus.train_on": "disjoint", "system.caption_pairs": 0.5},
        "set system.caption_pairs=0",
    ),
    "two languages needed": (
        {"system": {"name": "parallel", "dimensions": 8, "word_dimensions": 8}, "corpus.languages": ["en"]},
        "system parallel needs two languages",
    ),
    "the picture as pivot of no picture": (
        {"system": {"name": "pivot", "dimensions": 8, "word_dimensions": 8}, "corpus.train_on": "disjoint"},
        "no training picture has captions in all of",
    ),
}


@pytest.mark.parametrize("mistake", LAST_ROWS)
def test_a_mistake_in_the_last_row_stops_the_table_before_its_first_training(
    mistake: str, files: Path, tmp_path: Path
) -> None:
    settings, words = LAST_ROWS[mistake]
    settings = {key: _at(value, files) for key, value in settings.items()}
    features = {"array": str(files / "features.npy"), "names": str(files / "names.txt")}
    base = {**BASE, "corpus": {"name": str(files / "corpus")}, "features": features}
    table = make_table(base=base, seeds=[0], rows=[{"name": "good"}, {"name": "bad", "set": settings}])
    with pytest.raises(UserError) as error:
        run_table(table, tmp_path / "out")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def _at(value: Any, files: Path) -> Any:
    if isinstance(value, dict):
        return {key: _at(inner, files) for key, inner in value.items()}
    return value.replace("FILES", str(files)) if isinstance(value, str) else value
