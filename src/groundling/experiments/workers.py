"""Processes that train what a queue gives them, one training after the other. One that dies takes that training with it
and is replaced; when the time of the queue is over, all are stopped."""

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait

from groundling.errors import UserError
from groundling.experiments.training_queue import Failure, Task, TrainingQueue
from groundling.files import disk_problem

TIDY_UP = 10.0  # seconds that a process has to end in, when it is told to

Train = Callable[[Task], None]
Outcome = tuple[Failure | None, float]


def train_here(queue: TrainingQueue, train: Train) -> None:
    """The trainings of a queue, one by one in this process."""
    while (task := queue.take()) is not None:
        queue.ended(task, *_attempt(train, task))


def train_in_workers(queue: TrainingQueue, train: Train, count: int) -> None:
    """The same, `count` at a time, until the time of the queue is over."""
    threads = max(1, (os.cpu_count() or 1) // count)
    idle = [_Worker(train, threads) for _ in range(min(count, len(queue.waiting)))]
    busy: list[_Worker] = []
    try:
        while True:
            while idle and (task := queue.take()) is not None:
                idle[-1].begin(task)
                busy.append(idle.pop())
            if not busy or queue.time_is_over():
                return
            ready = wait([worker.connection for worker in busy], queue.seconds_left())
            for worker in [one for one in busy if one.connection in ready]:
                failure, seconds = worker.ended()
                queue.ended(worker.task, failure, seconds)
                busy.remove(worker)
                idle.append(worker if _goes_on(failure) else _Worker(train, threads))
    finally:
        _stop([*idle, *busy])


def _attempt(train: Train, task: Task) -> Outcome:
    """What went wrong with a training, if anything did, and the seconds that it took."""
    began = time.monotonic()
    failure = None
    try:
        train(task)
    except Exception as error:
        sentence = str(error) if isinstance(error, UserError) else disk_problem(error)
        if sentence is None:
            traceback.print_exception(error)  # no mistake of the user's: whoever mends it needs to know where it was
            failure = Failure(" ".join(f"{type(error).__name__}: {error}".split()))
        else:
            failure = Failure(sentence, expected=True)
    return failure, time.monotonic() - began


def _goes_on(failure: Failure | None) -> bool:
    """Whether a process may train the next after what became of the last; a GPU, say, answers no more after a fault."""
    return failure is None or failure.expected


class _Worker:
    """A process, seen from here."""

    def __init__(self, train: Train, threads: int) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        # No daemon: a training may have processes of its own.
        self.process = context.Process(target=_work, args=(theirs, train, threads), daemon=False)
        self.process.start()
        theirs.close()
        self.task: Task

    def begin(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # it has died meanwhile, as its end of the connection will tell
            self.connection.send(task)

    def ended(self) -> Outcome:
        """What became of its training. After that it waits for the next, or ends."""
        try:
            outcome: Outcome = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return Failure(f"its process died (exit code {self.process.exitcode})"), 0.0
        return outcome


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.process.terminate()
    latest = time.monotonic() + TIDY_UP
    for worker in workers:
        worker.process.join(max(0.0, latest - time.monotonic()))
        worker.process.kill()
        worker.process.join()


def _work(connection: Connection, train: Train, threads: int) -> None:
    """In the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # control-C reaches all; the first process ends the others
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # files half written are removed
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import torch

    torch.set_num_threads(threads)
    failure = None
    while _goes_on(failure):
        failure, seconds = _attempt(train, connection.recv())
        gc.collect()
        torch.cuda.empty_cache()  # for the other processes; nothing where there is no GPU
        connection.send((failure, seconds))


def _end_with_parent() -> None:
    """Nobody is left to stop a worker whose parent was killed: it stops by itself, and lets go of its run."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
