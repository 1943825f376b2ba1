"""Running a table: every training once, whatever stops it, with what one process or several would give."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small_tables
from safetensors.torch import load_file
from small_tables import Stop, make_table, run_table, without_times

from conftest import make_world
from groundling import training
from groundling.errors import UserError
from groundling.evaluation.saved import evaluate_run
from groundling.experiments.finished import finished_entries
from groundling.experiments.how_it_was_made import how_it_was_made
from groundling.experiments.results import summarise
from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import in_training_order, table_entries
from groundling.files import read_json, write_json
from groundling.run import Run
from groundling.training import checkpoint, loop

forget_datasets, loaded, trained = small_tables.forget_datasets, small_tables.loaded, small_tables.trained


def one_training(**changes: Any) -> small_tables.TableSettings:
    return make_table(**{"rows": [{"name": "one"}], "seeds": [0], **changes})


def folder_of(table: small_tables.TableSettings) -> str:
    (entry,) = table_entries(table)
    return entry.folder


def test_columns_limit_what_is_reported_and_not_what_is_trained(
    loaded: list[Any], trained: list[Path], tmp_path: Path
) -> None:
    """Nothing says what a row is trained on: it is every language of the corpus, which is read only later."""
    german = one_training(languages=["de"], trained_on=None, one_language={"training.maximum_steps": 10})
    (entry,) = table_entries(german)
    assert entry.recipe.corpus.languages is None
    assert entry.recipe.training.maximum_steps == 20  # it is no model of one language
    assert entry.recipe.name == "bag-all-seed0"
    results = run_table(german, tmp_path)
    assert set(results[entry.key].result.languages) == {"en", "de"}
    (row,) = summarise(german, results).rows
    assert list(row.columns) == ["de"]
    trained.clear()
    both = one_training(trained_on=None)
    assert run_table(both, tmp_path) == results  # two columns of the same training
    assert not trained
    (row,) = summarise(both, results).rows
    assert set(row.columns) == {"en", "de", "mean"}


def test_what_is_trained_can_be_said_by_the_table_the_base_or_the_row() -> None:
    def languages(**changes: Any) -> list[str] | None:
        return next(
            table_entries(one_training(**{"languages": ["de"], "trained_on": None, **changes}))
        ).recipe.corpus.languages

    base = {**small_tables.BASE, "corpus": {"name": "world", "languages": ["en", "de"]}}
    assert languages(base=base) == ["en", "de"]
    assert languages(base=base, trained_on=["de"]) == ["de"]
    assert languages(rows=[{"name": "one", "set": {"corpus.languages": ["de", "en"]}}]) == ["de", "en"]
    assert languages(rows=[{"name": "one", "each": "language"}]) == ["de"]


def test_each_entry_is_trained_once_and_never_again(loaded: list[Any], trained: list[Path], tmp_path: Path) -> None:
    first = run_table(make_table(), tmp_path)
    assert sorted(str(folder.relative_to(tmp_path)) for folder in trained) == sorted(first)
    assert len(first) == 6
    assert len(loaded) == 1  # six entries share one corpus
    for entry in table_entries(make_table()):
        assert set(first[entry.folder].result.languages) == set(entry.group)
        assert first[entry.folder].run.seed == entry.recipe.training.seed
    assert not list(tmp_path.rglob("best.safetensors"))  # six models nobody asked for
    assert len(list(tmp_path.rglob("ranks.safetensors"))) == 6
    trained.clear()
    assert run_table(make_table(), tmp_path) == first
    assert finished_entries(list(table_entries(make_table())), tmp_path) == first
    assert trained == []
    more = run_table(make_table(seeds=[0, 1, 2]), tmp_path)  # one more seed: three more entries
    assert len(trained) == 3
    assert {folder: more[folder] for folder in first} == first


def test_two_tables_that_share_a_training_train_it_once(loaded: list[Any], trained: list[Path], tmp_path: Path) -> None:
    """In one call and in two; each table then finds all of its own numbers."""
    english = make_table(
        title="English", languages=["en"], seeds=[0], rows=[{"name": "Alone", "each": [["en"]]}, {"name": "Shared"}]
    )
    both = make_table(seeds=[0], rows=[{"name": "One by one", "each": "language"}, {"name": "Together"}])
    shared = {entry.folder for entry in table_entries(english)} & {entry.folder for entry in table_entries(both)}
    assert len(shared) == 1  # English alone; "Shared" is English alone, too
    at_once = run_entries([*table_entries(english), *table_entries(both)], tmp_path / "at once", None, "cpu")
    assert len(trained) == len(at_once) == 3
    trained.clear()
    run_table(english, tmp_path / "in turn")
    in_turn = run_table(both, tmp_path / "in turn")
    assert len(trained) == 3
    assert without_times(in_turn) == without_times(at_once)
    alone, again = (row.columns["en"] for row in summarise(english, at_once).rows)
    assert alone == again == summarise(both, at_once).rows[0].columns["en"]


def test_long_trainings_start_first(loaded: list[Any], trained: list[Path], tmp_path: Path) -> None:
    """Or the last worker would be left alone with one of them."""
    run_entries(in_training_order(table_entries(make_table(seeds=[0]))), tmp_path, None, "cpu")
    assert [folder.name[:13] for folder in trained] == ["bag-en+de-see", "bag-en-seed0-", "bag-de-seed0-"]


def test_weights_are_kept_when_asked_for(loaded: list[Any], tmp_path: Path) -> None:
    run_table(make_table(seeds=[0]), tmp_path, keep_weights=True)
    assert len(list(tmp_path.rglob("best.safetensors"))) == 3


# --- stopped and going on


def test_a_table_that_stopped_goes_on_with_what_is_left(
    loaded: list[Any], trained: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run_table(make_table(), tmp_path / "whole")
    trained.clear()
    train = training.train

    def stop_at_the_fourth(*arguments: Any, **options: Any) -> Run:
        if len(trained) == 3:
            raise Stop
        return train(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(training, "train", stop_at_the_fourth)
        with pytest.raises(Stop):
            run_table(make_table(), tmp_path / "stopped")
    assert len(trained) == 3
    assert len(finished_entries(list(table_entries(make_table())), tmp_path / "stopped")) == 3
    results = run_table(make_table(), tmp_path / "stopped")
    assert len(trained) == 6
    assert without_times(results) == without_times(whole)


def test_an_entry_that_stopped_in_the_middle_goes_on_from_its_checkpoint(
    loaded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = one_training()
    whole = run_table(table, tmp_path / "whole", keep_weights=True)
    save, train, from_step = checkpoint.save, training.train, []

    def save_then_stop(*arguments: Any) -> None:
        save(*arguments)
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", save_then_stop)
        patch.setattr(training, "train", lambda *a, **options: train(*a, **options, checkpoint_seconds=0))
        with pytest.raises(Stop):
            run_table(table, tmp_path / "stopped")
    load = checkpoint.load

    def remember(*arguments: Any) -> checkpoint.Progress:
        at = load(*arguments)
        from_step.append(at.step)
        return at

    monkeypatch.setattr(checkpoint, "load", remember)
    resumed = run_table(table, tmp_path / "stopped", keep_weights=True)
    assert from_step == [10]  # of 20
    assert without_times(resumed) == without_times(whole)
    one, other = (load_file(tmp_path / name / folder_of(table) / "best.safetensors") for name in ("whole", "stopped"))
    assert all((one[name] == other[name]).all() for name in one)


@pytest.mark.parametrize(
    "last_file", ["tokeniser.json", "recipe.json", "run.json", "ranks.safetensors", "evaluation.json"]
)
def test_an_entry_that_stopped_before_any_of_its_files_was_written_goes_on(
    last_file: str, loaded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power may fail at any line of `run_entry` and of `train`; here it does just before each file in turn."""
    table = one_training()
    whole = run_table(table, tmp_path / "whole")

    def stopping(path_at: int, write: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any) -> Any:
            if Path(arguments[path_at]).name == last_file:
                raise Stop
            return write(*arguments)

        return wrapper

    with monkeypatch.context() as patch:
        from groundling import files, run
        from groundling.evaluation import retrieval, saved

        patch.setattr(loop, "write_json", stopping(0, files.write_json))
        patch.setattr(run, "write_json", stopping(0, files.write_json))
        patch.setattr(retrieval, "atomic_path", stopping(0, files.atomic_path))
        patch.setattr(saved, "write_json", stopping(0, files.write_json))
        with pytest.raises(Stop):
            run_table(table, tmp_path / "stopped")
    assert without_times(run_table(table, tmp_path / "stopped")) == without_times(whole)


def test_results_of_other_settings_are_not_taken_for_ours(
    loaded: list[Any], trained: list[Path], tmp_path: Path
) -> None:
    """Folders are called by their settings, so only an edited recipe.json can be there with others."""
    table = one_training()
    run_table(table, tmp_path)
    recipe = tmp_path / folder_of(table) / "recipe.json"
    values = read_json(recipe)
    write_json(recipe, {**values, "training": {**values["training"], "learning_rate": 0.02}})
    (recipe.parent / "checksums.json").unlink()
    with pytest.raises(UserError, match=r"bag-en\+de-seed0-\w{10}: was made with other settings"):
        run_table(table, tmp_path)
    assert len(trained) == 1


def test_other_settings_lie_beside_and_leave_the_old_results_alone(loaded: list[Any], tmp_path: Path) -> None:
    first = run_table(one_training(), tmp_path)
    faster = one_training(rows=[{"name": "one", "set": {"training.learning_rate": 0.02}}])
    other = run_table(faster, tmp_path)
    assert not first.keys() & other.keys()
    assert finished_entries(list(table_entries(one_training())), tmp_path) == first


def test_an_entry_that_was_evaluated_again_by_hand_still_counts(loaded: list[Any], tmp_path: Path) -> None:
    """`groundling evaluate` of an entry whose weights were kept writes evaluation.json anew."""
    table = one_training()
    first = run_table(table, tmp_path, keep_weights=True)
    evaluate_run(tmp_path / folder_of(table), device="cpu", dataset=make_world())
    again = run_table(table, tmp_path)
    assert summarise(table, again) == summarise(table, first)
    entries = list(table_entries(table))
    assert how_it_was_made("x", again, entries) == how_it_was_made("x", first, entries)


def test_two_at_a_time_give_what_one_at_a_time_gives(tmp_path: Path) -> None:
    table = make_table(base=small_tables.on_disk(tmp_path / "world"), rows=[{"name": "one"}])
    one = run_table(table, tmp_path / "one")
    two = run_table(table, tmp_path / "two", jobs=2)
    assert {folder: result.result for folder, result in one.items()} == {
        folder: result.result for folder, result in two.items()
    }
