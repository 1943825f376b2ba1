"""Which training of some tables is begun next: each once, in the order of the tables, none before what it starts from,
and none that would not be done in time."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from groundling.errors import UserError
from groundling.experiments.finished import is_evaluated
from groundling.experiments.question import Question
from groundling.experiments.table_entries import TableEntry, start_of, teachers
from groundling.run import Run

Kind = tuple[str, int, str]


@dataclass(frozen=True)
class Task:
    """A training that is to be done, or gone on with.

    Attributes:
        asked: what several entries ask of it, in one go while its weights are there.
        needs: folders of those other tasks that it starts from, or that teach it.
        goes_on: whether a part of it was done before.
    """

    folder: str
    entry: TableEntry
    asked: tuple[Question, ...] = ()
    needs: tuple[str, ...] = ()
    goes_on: bool = False

    @property
    def kind(self) -> Kind:
        """Trainings of one kind take about as long as each other: system, number of languages (0: all), corpus."""
        recipe = self.entry.recipe
        return str(recipe.system.get("name")), len(recipe.corpus.languages or ()), recipe.corpus.name


@dataclass(frozen=True)
class Failure:
    """Why a training failed; `expected`: by a mistake that the user can mend."""

    reason: str
    expected: bool = False


class UnfinishedError(UserError):
    """Some trainings of a table are missing: stopped, not begun or failed. All others are done."""

    def __init__(
        self, stopped: Sequence[Task], not_begun: Sequence[Task], failed: Sequence[tuple[Task, Failure]]
    ) -> None:
        self.failed = failed
        names = [f'"{task.entry.row}" in {task.folder}' if task.entry.row else task.folder for task, _ in failed]
        told = [f"{len(stopped)} stopped"] if stopped else []
        told += [f"{len(failed)} failed ({', '.join(names)})"] if failed else []
        told += [f"{len(not_begun)} not begun"] if not_begun else []
        super().__init__(", ".join(told))


def plan(entries: Sequence[TableEntry], out: Path) -> list[Task]:
    """The trainings of some entries in their order, and before each what it starts from and is not there yet.

    What several entries start from is trained once, in a folder of its own, and keeps its weights.
    """
    asked: dict[str, list[Question]] = {}
    for entry in entries:
        asked.setdefault(entry.folder, []).extend([entry.ask] if entry.ask else [])
    tasks: dict[str, Task] = {}

    def add(entry: TableEntry) -> str:
        folder = entry.folder
        if folder not in tasks:
            needed = [one for one in (start_of(entry), *teachers(entry)) if one is not None]
            needs = tuple([add(one) for one in needed if not _there(Run(out / one.folder))])
            run = Run(out / folder)
            goes_on = run.finished or run.checkpoint_file.exists()
            tasks[folder] = Task(folder, entry, tuple(asked.get(folder, ())), needs, goes_on)
        elif entry.keeps_weights:  # a row of a table, which another starts from
            tasks[folder] = replace(tasks[folder], entry=replace(tasks[folder].entry, keeps_weights=True))
        return folder

    for entry in entries:
        add(entry)
    return list(tasks.values())


def _there(run: Run) -> bool:
    """Whether another training can start from it."""
    return is_evaluated(run) and run.weights_file.exists()


@dataclass
class TrainingQueue:
    """The trainings that wait, are under way, and have ended, one way or the other.

    Attributes:
        until: when all has to be done, by `clock`.
        tell: is called with each training that has ended, well or not.
    """

    waiting: list[Task]
    until: float = math.inf
    tell: Callable[[Task, Failure | None], None] = lambda *_: None
    clock: Callable[[], float] = time.monotonic
    under_way: dict[str, Task] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    failed: list[tuple[Task, Failure]] = field(default_factory=list)
    took: dict[Kind, list[float]] = field(default_factory=dict)

    def take(self) -> Task | None:
        """The first training that can be begun now and will be done in time, as far as its kind tells."""
        now = self.clock()
        for task in self.waiting:
            expected = fmean(self.took.get(task.kind, [0.0]))
            if self.done.issuperset(task.needs) and now + expected < self.until:
                self.waiting.remove(task)
                self.under_way[task.folder] = task
                return task
        return None

    def ended(self, task: Task, failure: Failure | None, seconds: float) -> None:
        """What a training took tells how long others of its kind will take."""
        del self.under_way[task.folder]
        if failure is not None:
            self.failed.append((task, failure))
        else:
            self.done.add(task.folder)
            if not task.goes_on:  # its other parts took time as well
                self.took.setdefault(task.kind, []).append(seconds)
        self.tell(task, failure)

    def time_is_over(self) -> bool:
        return self.clock() >= self.until

    def seconds_left(self) -> float | None:
        """None: as many as it takes."""
        return None if math.isinf(self.until) else max(0.0, self.until - self.clock())

    def raise_if_unfinished(self) -> None:
        if self.waiting or self.under_way or self.failed:
            raise UnfinishedError(list(self.under_way.values()), self.waiting, self.failed)
