"""Tables of experiments: what is trained, that it is trained once, and the numbers that come out."""

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from safetensors.torch import load_file

from conftest import make_world
from groundling import progress, training
from groundling.cli import main
from groundling.corpus import storage
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.experiments import runner
from groundling.experiments.results import how_it_was_made, summarise
from groundling.experiments.runner import run_cells
from groundling.experiments.table import TableSettings, cells
from groundling.report.experiment import experiment_table, write_experiment
from groundling.report.run_report import evaluate_run
from groundling.run import Run
from groundling.settings import check
from groundling.training import checkpoint, loop

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
    values = {
        "title": "Two rows",
        "languages": ["en", "de"],
        "seeds": [0, 1],
        "base": BASE,
        "cells": [
            {"name": "Alone", "each": "language"},
            {"name": "Both", "set": {"training.batch_size": 32}},
        ],
    }
    return check(TableSettings, {**values, **changes}, "table.yaml")


# --- what a table stands for


def test_a_table_is_rows_by_groups_by_seeds() -> None:
    found = list(cells(make_table()))
    assert [(cell.row, cell.group, cell.recipe.training.seed) for cell in found] == [
        ("Alone", ("en",), 0),
        ("Alone", ("en",), 1),
        ("Alone", ("de",), 0),
        ("Alone", ("de",), 1),
        ("Both", ("en", "de"), 0),
        ("Both", ("en", "de"), 1),
    ]
    assert all(cell.recipe.corpus.languages == list(cell.group) for cell in found)
    assert [cell.folder for cell in found][::2] == ["alone/en-seed0", "alone/de-seed0", "both/en+de-seed0"]


def test_what_a_row_sets_changes_that_row_only() -> None:
    rows = [
        {"name": "plain"},
        {"name": "deep", "set": {"training.batch_size": 64, "system.margin": 0.5, "features.size": 64}},
        {"name": "plain again"},
    ]
    plain, deep, again = cells(make_table(cells=rows, seeds=[7]))
    assert (deep.recipe.training.batch_size, deep.recipe.system["margin"], deep.recipe.features.size) == (64, 0.5, 64)
    assert deep.recipe.training.learning_rate == 0.01  # its neighbours in the group stay
    assert plain.recipe == again.recipe
    assert plain.recipe.training.batch_size == 16
    assert "margin" not in plain.recipe.system
    assert BASE["training"]["batch_size"] == 16  # what the user wrote is left alone


def test_groups_of_languages_and_other_seeds() -> None:
    table = make_table(
        languages=["en", "de", "fr"],
        cells=[
            {"name": "two", "each": [["en", "de"], ["fr"]]},
            {"name": "some", "set": {"corpus.languages": ["de", "en"]}},
        ],
    )
    found = list(cells(table, seeds=[5]))
    assert [cell.group for cell in found] == [("en", "de"), ("fr",), ("de", "en")]
    assert {cell.recipe.training.seed for cell in found} == {5}


@pytest.mark.parametrize("twin", ["Alone", "alone", " Alone!"])
def test_two_rows_of_one_name_are_refused(twin: str) -> None:
    """Their runs would lie in one folder."""
    with pytest.raises(UserError, match="Two rows: two rows have the same name"):
        list(cells(make_table(cells=[{"name": "Alone"}, {"name": twin}])))


def test_every_training_has_a_folder_of_its_own() -> None:
    """Two groups of as many languages are two trainings."""
    codes = ["af", "ar", "cs", "de", "en", "es", "fr", "it"]
    table = make_table(languages=codes, cells=[{"name": "halves", "each": [codes[:4], codes[4:]]}])
    found = list(cells(table))
    assert len({cell.folder for cell in found}) == len(found) == 4


def test_a_seed_given_twice_is_one_training() -> None:
    found = list(cells(make_table(cells=[{"name": "a"}]), seeds=[3, 3]))
    assert [cell.recipe.training.seed for cell in found] == [3]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cells": [{"name": "a", "set": {"training.sed": 1}}]}, 'Two rows, a: unknown setting "training.sed"'),
        ({"cells": [{"name": "a", "set": {"training.seed.deep": 1}}]}, r"training\.seed"),
        ({"cells": [{"name": "a", "each": [[]]}]}, "each|languages"),
        ({"base": {**BASE, "corpus": "world"}}, "corpus"),
        ({"base": {**BASE, "training": None}}, "training"),
        ({"base": {"training": {}}}, 'setting "corpus.name" is missing'),
    ],
)
def test_a_mistake_in_a_table_is_one_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError) as error:
        list(cells(make_table(**changes)))
    assert re.search(words, str(error.value))
    assert "\n" not in str(error.value)


# --- running it


@pytest.fixture(autouse=True)
def forget_datasets() -> Iterator[None]:
    runner._cached_dataset.cache_clear()
    yield
    runner._cached_dataset.cache_clear()
    progress.show(False)


@pytest.fixture
def loaded(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The world stands in for every corpus; the list grows with each time one is loaded."""
    calls: list[Any] = []
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *arguments: calls.append(arguments) or world))
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


def run_table(table: TableSettings, out: Path, **options: Any) -> runner.Results:
    return run_cells(list(cells(table)), out, None, "cpu", **options)


def test_each_cell_is_trained_once_and_never_again(loaded: list[Any], trained: list[Path], tmp_path: Path) -> None:
    first = run_table(make_table(), tmp_path)
    assert sorted(str(folder.relative_to(tmp_path)) for folder in trained) == sorted(first)
    assert len(first) == 6
    assert len(loaded) == 1  # six cells share one corpus
    assert set(first["alone/en-seed0"]["languages"]) == {"en"}
    assert set(first["both/en+de-seed0"]["languages"]) == {"en", "de"}
    assert first["alone/de-seed1"]["run"]["seed"] == 1
    assert not list(tmp_path.rglob("best.safetensors"))  # six models nobody asked for
    assert len(list(tmp_path.rglob("ranks.safetensors"))) == 6
    trained.clear()
    assert run_table(make_table(), tmp_path) == first
    assert trained == []
    more = run_table(make_table(seeds=[0, 1, 2]), tmp_path)  # one more seed: three more cells
    assert len(trained) == 3
    assert {folder: more[folder] for folder in first} == first


def test_weights_are_kept_when_asked_for(loaded: list[Any], tmp_path: Path) -> None:
    run_table(make_table(), tmp_path, keep_weights=True)
    assert len(list(tmp_path.rglob("best.safetensors"))) == 6


class Stop(Exception):
    """In place of a power cut."""


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
    results = run_table(make_table(), tmp_path / "stopped")
    assert len(trained) == 6
    assert without_times(results) == without_times(whole)


def test_a_cell_that_stopped_in_the_middle_goes_on_from_its_checkpoint(
    loaded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_table(cells=[{"name": "one"}], seeds=[0])
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
    one, other = (load_file(tmp_path / name / "one/en+de-seed0/best.safetensors") for name in ("whole", "stopped"))
    assert all((one[name] == other[name]).all() for name in one)


@pytest.mark.parametrize(
    "last_file", ["tokeniser.json", "recipe.json", "run.json", "ranks.safetensors", "evaluation.json"]
)
def test_a_cell_that_stopped_before_any_of_its_files_was_written_goes_on(
    last_file: str, loaded: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power may fail at any line of `run_cell` and of `train`; here it does just before each file in turn."""
    table = make_table(cells=[{"name": "one"}], seeds=[0])
    whole = run_table(table, tmp_path / "whole")

    def stopping(path_at: int, write: Callable[..., None]) -> Callable[..., None]:
        def wrapper(*arguments: Any) -> None:
            if Path(arguments[path_at]).name == last_file:
                raise Stop
            write(*arguments)

        return wrapper

    with monkeypatch.context() as patch:
        from groundling import files, run
        from groundling.evaluation.models import Evaluated

        patch.setattr(loop, "write_json", stopping(0, files.write_json))
        patch.setattr(run, "write_json", stopping(0, files.write_json))
        patch.setattr(Evaluated, "save_ranks", stopping(1, Evaluated.save_ranks))
        patch.setattr(files, "write_json", stopping(0, files.write_json))
        with pytest.raises(Stop):
            run_table(table, tmp_path / "stopped")
    assert without_times(run_table(table, tmp_path / "stopped")) == without_times(whole)


def test_results_of_other_settings_are_not_taken_for_ours(
    loaded: list[Any], trained: list[Path], tmp_path: Path
) -> None:
    table = make_table(cells=[{"name": "one"}], seeds=[0])
    run_table(table, tmp_path)
    other = make_table(cells=[{"name": "one", "set": {"training.learning_rate": 0.02}}], seeds=[0])
    with pytest.raises(UserError, match=r"one/en\+de-seed0: was made with other settings"):
        run_table(other, tmp_path)
    assert len(trained) == 1


def test_a_cell_that_was_evaluated_again_by_hand_still_counts(loaded: list[Any], tmp_path: Path) -> None:
    """`groundling evaluate` of a cell whose weights were kept writes evaluation.json anew."""
    table = make_table(cells=[{"name": "one"}], seeds=[0])
    first = run_table(table, tmp_path, keep_weights=True)
    evaluate_run(tmp_path / "one/en+de-seed0", device="cpu", dataset=make_world())
    again = run_table(table, tmp_path)
    assert summarise(table, again) == summarise(table, first)
    assert how_it_was_made("x", again, 1) == how_it_was_made("x", first, 1)


def without_times(results: runner.Results) -> dict[str, Any]:
    """What must be equal however often a training was stopped."""
    return {
        folder: {**result, "run": {key: value for key, value in result["run"].items() if key != "seconds"}}
        for folder, result in results.items()
    }


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The base recipe with the world in files, which other processes can read."""
    folder, world = tmp_path_factory.mktemp("world"), make_world()
    storage.save(world.corpus, folder / "corpus")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    features = {"array": str(folder / "features.npy"), "names": str(folder / "names.txt")}
    return {**BASE, "corpus": {"name": str(folder / "corpus")}, "features": features}


def test_two_at_a_time_give_what_one_at_a_time_gives(on_disk: dict[str, Any], tmp_path: Path) -> None:
    table = make_table(base=on_disk, cells=[{"name": "one"}])
    one = run_table(table, tmp_path / "one")
    two = run_table(table, tmp_path / "two", jobs=2)
    assert {folder: result["languages"] for folder, result in one.items()} == {
        folder: result["languages"] for folder, result in two.items()
    }


# --- the numbers


def evaluation(**recalls: float) -> dict[str, Any]:
    """An evaluation with this mR for each language."""
    return {"languages": {code: {"mR": value, "text_to_image": {"R@10": 2 * value}} for code, value in recalls.items()}}


def by_hand() -> tuple[TableSettings, runner.Results]:
    """Alone: en 10 14, de 20 30. Both: en 11 13, de 25 15."""
    results = {
        "alone/en-seed0": evaluation(en=10),
        "alone/en-seed1": evaluation(en=14),
        "alone/de-seed0": evaluation(de=20),
        "alone/de-seed1": evaluation(de=30),
        "both/en+de-seed0": evaluation(en=11, de=25),
        "both/en+de-seed1": evaluation(en=13, de=15),
    }
    return make_table(
        cells=[{"name": "Alone", "each": "language", "published": {"en": 12.5}}, {"name": "Both"}]
    ), results


def test_means_deviations_and_intervals_by_hand() -> None:
    table, results = by_hand()
    summary = summarise(table, results)
    alone, both = summary["rows"]
    assert (summary["title"], summary["metric"], summary["seeds"]) == ("Two rows", "mR", [0, 1])
    # Two values: the deviation is their distance / √2, the interval 12.706 · deviation / √2.
    assert alone["columns"]["en"] == {
        "values": [10, 14],
        "mean": 12,
        "deviation": pytest.approx(4 / math.sqrt(2)),
        "interval": pytest.approx(12.706 * 2),
    }
    assert both["columns"]["de"]["mean"] == 20
    assert both["columns"]["de"]["deviation"] == pytest.approx(10 / math.sqrt(2))
    assert alone["published"] == {"en": 12.5}


def test_the_mean_column_averages_languages_seed_by_seed() -> None:
    """Of "Both" it is 18 and 14: its deviation is that of these two, not the mean of the languages' deviations."""
    table, results = by_hand()
    alone, both = summarise(table, results)["rows"]
    assert alone["columns"]["mean"]["values"] == [15, 22]
    assert both["columns"]["mean"]["values"] == [18, 14]
    assert both["columns"]["mean"]["mean"] == 16
    assert both["columns"]["mean"]["deviation"] == pytest.approx(4 / math.sqrt(2))


def test_other_metrics_other_seeds_and_rows_with_fewer_languages() -> None:
    table, results = by_hand()
    row = {"name": "Alone", "each": [["en"]]}
    short = make_table(cells=[row], metric="text_to_image.R@10")
    (only,) = summarise(short, results, seeds=[1])["rows"]
    assert only["columns"] == {"en": {"values": [28], "mean": 28, "deviation": None, "interval": None}}
    assert summarise(table, results, seeds=[1])["seeds"] == [1]


def test_a_metric_that_there_is_not_is_refused_before_anything_is_trained() -> None:
    """Found out afterwards, it would cost all the trainings of the table."""
    for metric in ("mr", "text_to_image.R@7", "text_to_image", "nonsense.R@1"):
        with pytest.raises(UserError, match="metric"):
            list(cells(make_table(metric=metric)))


def test_a_seed_given_twice_counts_once() -> None:
    table, results = by_hand()
    twice = summarise(table, results, seeds=[0, 0, 1])
    assert twice["rows"] == summarise(table, results, seeds=[0, 1])["rows"]
    assert twice["seeds"] == [0, 1]


def test_the_best_rank_is_the_lowest() -> None:
    """The best of each column stands out; of recalls it is the highest, of ranks the lowest."""
    rows = [{"name": "near"}, {"name": "far"}]
    for metric, best in (("text_to_image.median", "**2.0**"), ("text_to_image.R@10", "**7.0**")):
        table = make_table(metric=metric, languages=["en"], seeds=[0], cells=rows)
        key = metric.partition(".")[2]
        results = {
            "near/en-seed0": {"languages": {"en": {"text_to_image": {key: 2}}}},
            "far/en-seed0": {"languages": {"en": {"text_to_image": {key: 7}}}},
        }
        text = experiment_table(summarise(table, results), ["en"]).markdown()
        assert [part for part in ("**2.0**", "**7.0**") if part in text] == [best]


def test_how_it_was_made_sums_up_the_runs() -> None:
    facts = {"commit": "abc", "device": "CPU", "precision": "float32", "seconds": 1.4}
    results = {
        "a": {"run": facts},
        "b": {"run": {**facts, "device": "GPU", "seconds": 2.4}},
        "c": {"run": {**facts, "commit": "abd"}},
    }
    assert how_it_was_made("groundling reproduce x", results, 3) == {
        "command": "groundling reproduce x",
        "commit": "abc, abd",
        "device": "CPU, GPU",
        "precision": "float32",
        "trainings": 3,
        "seconds of training": 5,
    }
    assert "3 of 7" in how_it_was_made("groundling reproduce x", results, 7)["trainings"]


def test_the_files_of_an_experiment(tmp_path: Path) -> None:
    table, results = by_hand()
    summary = summarise(table, results)
    page = write_experiment(tmp_path, "Why we did it.", ["en", "de"], summary, {"command": "groundling reproduce x"})
    assert page == tmp_path / "results.md"
    written = json.loads((tmp_path / "results.json").read_text())
    assert written == {**summary, "made": {"command": "groundling reproduce x"}}
    text = page.read_text()
    assert text.startswith("# Two rows\n\nWhy we did it.\n")
    assert "- command: `groundling reproduce x`" in text
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "18.5 ± 4.9"] in rows
    assert ["Both", "12.0 ± 1.4", "–", "20.0 ± 7.1", "16.0 ± 2.8"] in rows
    assert "over 2 seeds" in text
    assert "at most ± 63.5" in text  # the widest interval: 12.706 · 10/√2/√2 = 63.5


def test_an_unfinished_table_shows_what_there_is() -> None:
    """Of "Alone", German with seed 1 is still to come; of "Both" there is one seed, which has no interval."""
    table, results = by_hand()
    del results["alone/de-seed1"], results["both/en+de-seed1"]
    alone, both = (row["columns"] for row in summarise(table, results)["rows"])
    assert (alone["en"]["values"], alone["de"]["values"], alone["mean"]["values"]) == ([10, 14], [20], [15])
    assert both["mean"] == {"values": [18], "mean": 18, "deviation": None, "interval": None}
    text = experiment_table(summarise(table, results), ["en", "de"]).markdown()
    assert "12.0 ± 2.8" in text
    assert "at most ± 25.4" in text  # the only interval there is: 12.706 · 4/√2/√2
    del results["alone/en-seed1"]
    text = experiment_table(summarise(table, results), ["en", "de"]).markdown()  # no interval at all
    assert "10.0" in text


def test_many_languages_become_the_rows() -> None:
    codes = ["af", "ar", "cs", "de", "en", "es", "fr", "it", "ja"]
    table = make_table(languages=codes, seeds=[0], cells=[{"name": "all"}])
    results = {"all/9-languages-seed0": evaluation(**{code: 10 + at for at, code in enumerate(codes)})}
    lines = experiment_table(summarise(table, results), codes).markdown().splitlines()
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    assert rows[0] == ["language", "all"]
    assert ["German (de)", "13.0"] in rows
    assert rows[-1] == ["mean", "14.0"]


def test_a_table_of_one_seed_has_no_deviations() -> None:
    table, results = by_hand()
    summary = summarise(table, results, seeds=[0])
    text = experiment_table(summary, ["en", "de"]).markdown()
    assert "10.0" in text
    assert "10.0 ±" not in text
    assert "interval" not in text


# --- from the command line


def reproduce(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", *arguments, "--device", "cpu"])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def write_table(folder: Path, base: dict[str, Any], **changes: Any) -> str:
    table = {"title": "Tiny", "languages": ["en", "de"], "seeds": [0], "base": base, "cells": [{"name": "both"}]}
    (folder / "tiny.yaml").write_text(yaml.safe_dump({**table, **changes}), encoding="utf-8")
    return str(folder / "tiny.yaml")


def test_reproduce_prints_a_table_and_does_nothing_twice(
    on_disk: dict[str, Any],
    trained: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path, on_disk)
    arguments = ["tiny.yaml", "--set", "training.maximum_steps=10", "--seed", "3", "--seed", "4"]
    code, out, _ = reproduce(capsys, *arguments)
    assert code == 0
    assert len(trained) == 2
    written = json.loads((tmp_path / "runs/tiny/results.json").read_text())
    assert f"{written['rows'][0]['columns']['mean']['mean']:.1f}" in out
    code, out, _ = reproduce(capsys, *arguments, "--json")
    assert code == 0
    assert len(trained) == 2
    summary = json.loads(out)
    assert summary == {key: value for key, value in written.items() if key != "made"}
    assert summary["seeds"] == [3, 4]
    recipe = json.loads((tmp_path / "runs/tiny/both/en+de-seed3/recipe.json").read_text())
    assert recipe["training"]["maximum_steps"] == 10


def test_show_prints_what_is_there_and_trains_nothing(
    on_disk: dict[str, Any],
    trained: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path, on_disk)
    code, out, err = reproduce(capsys, "tiny.yaml", "--show")
    assert (code, out) == (2, "")
    assert err == "groundling: runs/tiny: no training of this table is finished yet\n"
    reproduce(capsys, "tiny.yaml", "--seed", "0")
    trained.clear()
    code, out, _ = reproduce(capsys, "tiny.yaml", "--seed", "0", "--seed", "1", "--show")
    assert code == 0
    assert "both" in out
    assert trained == []
    assert "1 of 2" in (tmp_path / "runs/tiny/results.md").read_text()


def test_how_it_was_made_repeats_the_whole_command(
    on_disk: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its --set and --seed, the command in results.md would give other numbers."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path, on_disk)
    reproduce(capsys, "tiny.yaml", "--set", "training.maximum_steps=10", "--seed", "3", "--out", "here")
    text = (tmp_path / "here/results.md").read_text()
    assert "--set training.maximum_steps=10" in text
    assert "--seed 3" in text


def test_a_table_elsewhere_leaves_its_runs_here(
    on_disk: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`runs/TABLE when left out` holds for an absolute path, too: the folder of the table may be anybody's."""
    for folder in ("tables", "work"):
        (tmp_path / folder).mkdir()
    table = write_table(tmp_path / "tables", on_disk)
    monkeypatch.chdir(tmp_path / "work")
    code, _, _ = reproduce(capsys, table, "--set", "training.maximum_steps=10")
    assert code == 0
    assert [path.name for path in (tmp_path / "tables").iterdir()] == ["tiny.yaml"]
    assert (tmp_path / "work/runs/tiny/results.md").exists()


@pytest.mark.parametrize("base", [[1], None, "world"])
def test_a_base_that_is_no_recipe_is_one_sentence(
    base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path, base)
    code, out, err = reproduce(capsys, "tiny.yaml")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "base" in err
