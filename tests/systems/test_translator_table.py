"""A table of the translator: the run before is trained once, a stopped table goes on, and knowing words helps.

The two languages of the tiny world are renamings of each other, word for word, and so are the vectors of their words.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ENGLISH, GERMAN, make_world
from groundling import training
from groundling.corpus import storage as corpora
from groundling.errors import UserError
from groundling.experiments.finished import Results, finished_entries
from groundling.experiments.results import summarise
from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import start_of, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.run import Run
from groundling.settings import Recipe, check
from groundling.training.starts import train_start
from groundling.words import WordVectors, storage

WORD = 8


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Maps are kept between runs; not between those of tests and of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The world and its words in files; English is trained first."""
    folder, world, draw = tmp_path_factory.mktemp("world"), make_world(), np.random.default_rng(5)
    corpora.save(world.corpus, folder / "corpus")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    turn = np.linalg.qr(draw.standard_normal((WORD, WORD)))[0]
    english = draw.standard_normal((len(ENGLISH), WORD))
    for code, names, matrix in (("en", ENGLISH, english), ("de", GERMAN, english @ turn.T)):
        storage.save(folder / f"{code}.safetensors", WordVectors(tuple(names), matrix.astype(np.float32)))
    pairs = zip(ENGLISH, GERMAN, strict=True)
    (folder / "en-de.txt").write_text("".join(f"{one} {other}\n" for one, other in pairs))
    return {
        "corpus": {"name": str(folder / "corpus")},
        "features": {"array": str(folder / "features.npy"), "names": str(folder / "names.txt")},
        "system": {
            "name": "translator",
            "dimensions": 24,
            "word_dimensions": WORD,
            "mask_false_negatives": True,
            "vectors": {code: str(folder / f"{code}.safetensors") for code in ("en", "de")},
            "dictionary": str(folder / "en-de.txt"),
            "alignment": {"neighbours": 2, "iterations": 2},
        },
        "training": {
            "batch_size": 32,
            "learning_rate": 5e-3,
            "validate_every": 10,
            "patience": 3,
            "maximum_steps": 60,
            "precision": "float32",
        },
        "start": {
            "corpus": {"languages": ["en"], "training_pictures": None},
            "system": {"start": "scratch"},
            "training": {"maximum_steps": 100},
        },
    }


STARTS: dict[str, dict[str, Any]] = {
    "FS": {"start": None},
    "T1": {"system.start": "encoder"},
    "T2": {"system.start": "aligned"},
}


def make_table(base: dict[str, Any], sizes: tuple[int, ...] = (3,), **changes: Any) -> TableSettings:
    rows = [
        {"name": f"{name} {size}", "line": name, "at": size, "set": {**start, "corpus.training_pictures": size}}
        for name, start in STARTS.items()
        for size in sizes
    ]
    values = {"title": "T", "languages": ["de"], "trained_on": ["de"], "seeds": [0, 1], "base": base, "rows": rows}
    return check(TableSettings, {**values, **changes}, "table.yaml")


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of folders in the order their training was started."""
    folders: list[str] = []
    train = training.train

    def count(recipe: Any, dataset: Any, folder: Path, **options: Any) -> Run:
        folders.append(folder.name)
        return train(recipe, dataset, folder, **options)

    monkeypatch.setattr(training, "train", count)
    return folders


def mean(table: TableSettings, results: Results) -> dict[str, float]:
    return {row.name: row.columns["de"].mean for row in summarise(table, results).rows}


def test_knowing_the_words_is_better_than_knowing_the_encoder_is_better_than_nothing(
    base: dict[str, Any], trained: list[str], tmp_path: Path
) -> None:
    """Fifteen pictures with two captions each: enough to learn the map or the encoder in part, but not whole."""
    table = make_table(base, sizes=(15,), seeds=[0, 1, 2])
    found = mean(table, run_entries(list(table_entries(table)), tmp_path, None, "cpu"))
    assert found["T2 15"] > found["T1 15"] + 3 > found["FS 15"] + 6
    # One source for each seed; its weights are there for whoever comes later, those of cells are not.
    assert len(trained) == 3 * 3 + 3
    sources = [name for name in trained if name.startswith("translator-en-seed")]
    assert len(sources) == 3
    kept = [path.parent.name for path in tmp_path.rglob("best.safetensors")]
    assert sorted(kept) == sorted(sources)


def test_a_source_is_trained_once_for_all_tables_and_alone_where_cells_are_done(
    base: dict[str, Any], trained: list[str], tmp_path: Path
) -> None:
    table = make_table(base, seeds=[0])
    first = run_entries(list(table_entries(table)), tmp_path, None, "cpu")
    assert len(first) == 3  # the source is no cell of the table
    trained.clear()
    assert run_entries(list(table_entries(table)), tmp_path, None, "cpu") == first
    assert finished_entries(list(table_entries(table)), tmp_path) == first
    assert trained == []
    other = {**base, "system": {**base["system"], "dictionary": "identical", "alignment": {"method": "procrustes"}}}
    more = make_table(other, sizes=(4,), seeds=[0], rows=[{"name": "T1", "set": STARTS["T1"]}])
    run_entries(list(table_entries(more)), tmp_path, None, "cpu")
    assert len(trained) == 1  # the same English, whatever dictionary comes after it


def test_stopped_between_the_stages_it_goes_on(
    base: dict[str, Any], trained: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(base, seeds=[0])
    whole = run_entries(list(table_entries(table)), tmp_path / "whole", None, "cpu")
    trained.clear()
    train = training.train

    class Stop(BaseException):
        pass

    def stop_at_the_third(*arguments: Any, **options: Any) -> Run:
        if len(trained) == 2:
            raise Stop
        return train(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", stop_at_the_third)
        with pytest.raises(Stop):
            run_entries(list(table_entries(table)), tmp_path / "stopped", None, "cpu")
    results = run_entries(list(table_entries(table)), tmp_path / "stopped", None, "cpu")
    assert len(trained) == 4
    assert mean(table, results) == mean(table, whole)


def test_what_cannot_be_is_said_before_anything_is_trained(
    base: dict[str, Any], trained: list[str], tmp_path: Path
) -> None:
    def run(changes: dict[str, Any]) -> None:
        row = {"name": "T2", "set": {**STARTS["T2"], **changes}}
        run_entries(list(table_entries(make_table(base, rows=[row]))), tmp_path, None, "cpu")

    for changes, sentence in (
        ({"system.dictionary": "nowhere.txt"}, "nowhere.txt: no such file"),
        ({"corpus.training_pictures": 101}, "has 100 training pictures, and not 101"),
        ({"start": None}, "starts from another run here"),
        ({"start": "nowhere"}, "nowhere: no run here"),
        ({"start.corpus.languages": ["fr"]}, 'no captions in "fr"'),
        ({"start.training.batch": 3}, 'unknown setting "start.training.batch"'),
    ):
        with pytest.raises(UserError, match=sentence):
            run(changes)
    assert trained == []
    assert not list(tmp_path.iterdir())


def test_the_run_before_may_be_named(base: dict[str, Any], tmp_path: Path) -> None:
    """A single training with a run before it, then one that starts from the same run by its name."""
    (described,) = table_entries(make_table(base, seeds=[0], rows=[{"name": "T1", "set": STARTS["T1"]}]))
    first = train_start(described.recipe, tmp_path / "de", None, "cpu")
    assert first == tmp_path / "de-start" and Run(first).finished
    assert train_start(described.recipe, tmp_path / "de", None, "cpu") == first  # not again
    table = make_table(base, seeds=[0], rows=[{"name": "T1", "set": {**STARTS["T1"], "start": str(first)}}])
    (named,) = table_entries(table)
    assert start_of(named) is None
    results = run_entries([named, described], tmp_path, None, "cpu")
    assert results[named.folder].result == results[described.folder].result


def test_a_change_for_every_row_reaches_the_runs_before_where_there_are_any(base: dict[str, Any]) -> None:
    table = make_table(base, seeds=[0], change={"start.training.patience": 7, "training.batch_size": 16})
    scratch, *others = table_entries(table)
    assert scratch.recipe.start is None and scratch.recipe.training.batch_size == 16
    for cell in others:
        earlier = start_of(cell)
        assert earlier is not None
        assert (earlier.recipe.training.patience, earlier.recipe.training.batch_size) == (7, 16)
        assert cell.recipe.training.patience == 3


# --- the recipe


def test_a_recipe_says_how_the_run_before_differs_and_is_read_again_as_it_was(base: dict[str, Any]) -> None:
    values = {**base, "corpus": {**base["corpus"], "languages": ["de"], "training_pictures": 7}}
    recipe = check(Recipe, {**values, "system": {**base["system"], "start": "aligned"}}, "test")
    earlier = recipe.start
    assert isinstance(earlier, Recipe)
    assert (earlier.corpus.languages, earlier.corpus.training_pictures) == (["en"], None)
    assert (earlier.training.maximum_steps, earlier.training.batch_size) == (100, 32)
    assert earlier.features == recipe.features
    assert earlier.system == {**base["system"], "start": "scratch"}
    assert check(Recipe, recipe.model_dump(), "again") == recipe
    other = check(Recipe, {**values, "start": {"system": {"name": "vse", "dimensions": 5}}}, "test").start
    assert isinstance(other, Recipe)
    assert other.system == {"name": "vse", "dimensions": 5}  # nothing of the translator's
