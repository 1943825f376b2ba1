"""What is trained next: the order of tables and seeds, what has to wait for what, and what is left to another day."""

from pathlib import Path
from typing import Any

import pytest
import small_tables
from small_tables import make_table, run_table

from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import TableEntry, in_training_order, table_entries
from groundling.experiments.training_queue import Failure, Task, TrainingQueue, UnfinishedError, plan

forget_datasets, loaded, trained = small_tables.forget_datasets, small_tables.loaded, small_tables.trained

START = {"start": {"corpus": {"languages": ["en"]}}}  # English first
FROM_ENGLISH = {"name": "From English", "each": [["de"]], "set": {**START, "system": {"name": "translator"}}}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def ordered(**changes: Any) -> list[TableEntry]:
    return in_training_order(table_entries(make_table(**changes)))


def short(task: Task) -> str:
    """Language and seed."""
    return task.entry.recipe.name.removeprefix("bag-")


def tasks_of(*kinds: str, languages: int = 1) -> list[Task]:
    """One training of each system, which need not exist."""
    (entry,) = table_entries(make_table(seeds=[0], rows=[{"name": "x", "each": [["en", "de"][:languages]]}]))
    recipe = entry.recipe
    return [
        Task(
            f"{kind}-{number}",
            TableEntry("x", entry.group, recipe.model_copy(update={"system": {"name": kind}})),
        )
        for number, kind in enumerate(kinds)
    ]


def test_tables_in_their_order_each_seed_by_seed_and_what_they_share_once(tmp_path: Path) -> None:
    first = ordered(rows=[{"name": "English", "each": [["en"]]}, {"name": "Both"}], seeds=[1, 0])
    second = ordered(rows=[{"name": "Alone", "each": "language"}])
    planned = [short(task) for task in plan([*first, *second], tmp_path)]
    assert planned == ["en+de-seed1", "en-seed1", "en+de-seed0", "en-seed0", "de-seed0", "de-seed1"]


def test_what_a_training_starts_from_is_begun_before_all_others_of_its_seed(tmp_path: Path) -> None:
    entries = ordered(rows=[{"name": "Both"}, FROM_ENGLISH])
    tasks = plan(entries, tmp_path)
    names = ["translator-en-seed0", "translator-de-seed0", "bag-en+de-seed0"]
    assert [task.entry.recipe.name for task in tasks] == [*names, *(name.replace("seed0", "seed1") for name in names)]
    english, german = tasks[:2]
    assert german.needs == (english.folder,) and english.needs == ()
    assert english.entry.keeps_weights and not german.entry.keeps_weights
    queue = TrainingQueue(list(tasks))
    assert queue.take() is english
    assert [queue.take(), queue.take()] == [tasks[2], tasks[3]]  # meanwhile something else
    queue.ended(english, None, 1.0)
    assert queue.take() is german


def test_a_row_that_another_starts_from_is_trained_once_and_keeps_its_weights(tmp_path: Path) -> None:
    english = {"name": "English", "each": [["en"]], "set": {"system": {"name": "translator"}}}
    for rows in ([english, FROM_ENGLISH], [FROM_ENGLISH, english]):
        table = make_table(rows=rows, seeds=[0])
        kept = {task.entry.recipe.name: task.entry.keeps_weights for task in plan(list(table_entries(table)), tmp_path)}
        assert kept == {"translator-en-seed0": True, "translator-de-seed0": False}


def test_what_another_starts_from_is_trained_again_where_its_weights_are_gone(
    loaded: list[Any], tmp_path: Path
) -> None:
    entries = list(table_entries(make_table(rows=[{"name": "English", "each": [["en"]]}], seeds=[0])))
    (later,) = table_entries(make_table(rows=[{**FROM_ENGLISH, "set": START}], seeds=[0]))
    run_entries(entries, tmp_path, None, "cpu")
    assert len(plan([later], tmp_path)) == 2
    run_table(make_table(rows=[{"name": "English", "each": [["en"]]}], seeds=[0]), tmp_path / "kept", keep_weights=True)
    assert len(plan([later], tmp_path / "kept")) == 1


def test_nothing_is_begun_that_would_not_be_done_in_time() -> None:
    """Trainings of one kind took 30 and 50 seconds; at 75 of 100 there is room for those of another kind only."""
    clock = Clock()
    fast, slow, more, other, *_ = tasks = tasks_of("a", "a", "a", "b", "b")
    queue = TrainingQueue(tasks, until=100.0, clock=clock)
    assert [queue.take(), queue.take()] == [fast, slow]  # nobody knows yet
    queue.ended(fast, None, 30.0)
    queue.ended(slow, None, 50.0)
    clock.now = 75.0
    assert queue.take() is other
    clock.now = 59.0
    assert queue.take() is more  # 40 seconds are expected, and left
    assert not queue.time_is_over()
    clock.now = 100.0
    assert queue.take() is None and queue.time_is_over()
    with pytest.raises(UnfinishedError, match=r"^2 stopped, 1 not begun$"):
        queue.raise_if_unfinished()


def test_the_rest_of_a_training_tells_nothing_of_how_long_others_take() -> None:
    clock = Clock()
    rest, whole = tasks_of("a", "a")
    queue = TrainingQueue([Task(rest.folder, rest.entry, goes_on=True), whole], until=100.0, clock=clock)
    first = queue.take()
    assert first is not None
    clock.now = 60.0
    queue.ended(first, None, 60.0)
    assert queue.take() is whole


def test_other_numbers_of_languages_are_another_kind() -> None:
    (one,), (two,) = tasks_of("a"), tasks_of("a", languages=2)
    assert one.kind != two.kind and one.kind == tasks_of("a")[0].kind


def test_what_starts_from_a_training_that_failed_is_not_begun() -> None:
    first, second, third = tasks_of("a", "a", "b")
    told: list[tuple[str, Failure | None]] = []
    queue = TrainingQueue(
        [first, Task(second.folder, second.entry, needs=(first.folder,)), third],
        tell=lambda task, failure: told.append((task.folder, failure)),
    )
    assert queue.take() is first
    broken = Failure("no room")
    queue.ended(first, broken, 1.0)
    assert queue.take() is third
    queue.ended(third, None, 1.0)
    assert queue.take() is None
    assert told == [("a-0", broken), ("b-2", None)]
    with pytest.raises(UnfinishedError, match=r'^1 failed \("x" in a-0\), 1 not begun$'):
        queue.raise_if_unfinished()
