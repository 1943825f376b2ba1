"""Questions that come at about the same time are answered by one call of the model.

A question waits a moment for company, or until there are enough; while a batch is worked on in a thread the next one
collects. If a batch fails, its questions are asked again one by one, so that none fails for another's sake.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Full(Exception):
    """More questions are waiting than may."""


@dataclass(frozen=True)
class _Failure:
    error: Exception


class Batcher(Generic[Question, Answer]):
    """Awaited with a question, gives its answer.

    Args:
        work: answers a list of questions, in their order; called in a thread of `pool`, one batch at a time.
        most: questions in a batch.
        wait: seconds that the first question of a batch waits for others.
        queue: questions that may wait; one more raises `Full`.
        seen: told the size of each batch.
    """

    def __init__(
        self,
        work: Callable[[list[Question]], Sequence[Answer]],
        pool: Executor,
        *,
        most: int = 32,
        wait: float = 0.002,
        queue: int = 256,
        seen: Callable[[int], object] = lambda size: None,
    ) -> None:
        self._work, self._pool, self._seen = work, pool, seen
        self._most, self._wait, self._queue = most, wait, queue
        self._waiting: deque[tuple[Question, asyncio.Future[Answer], float]] = deque()
        self._runner: asyncio.Task[None] | None = None
        self._enough = asyncio.Event()

    def __len__(self) -> int:
        """How many questions are waiting."""
        return len(self._waiting)

    async def __call__(self, question: Question) -> Answer:
        if len(self._waiting) >= self._queue:
            raise Full
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((question, future, loop.time() + self._wait))
        if self._runner is None or self._runner.done() or self._runner.get_loop() is not loop:
            self._runner = loop.create_task(self._run())
        elif len(self._waiting) >= self._most:
            self._enough.set()
        return await future

    async def _run(self) -> None:
        """Batch after batch until nothing waits."""
        while self._waiting:
            await self._collect()
            batch: list[tuple[Question, asyncio.Future[Answer]]] = []
            while self._waiting and len(batch) < self._most:
                question, future, _ = self._waiting.popleft()
                if not future.done():  # whoever asked may have gone
                    batch.append((question, future))
            if batch:
                await self._answer(batch)

    async def _collect(self) -> None:
        """Until there are enough for a batch, or the first has waited long enough."""
        self._enough = asyncio.Event()
        left = self._waiting[0][2] - asyncio.get_running_loop().time()
        if len(self._waiting) >= self._most:
            return
        if left <= 0:
            await asyncio.sleep(0)  # those that were woken together ask together
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._enough.wait(), left)

    async def _answer(self, batch: list[tuple[Question, "asyncio.Future[Answer]"]]) -> None:
        self._seen(len(batch))
        questions = [question for question, _ in batch]
        try:
            answers = await asyncio.get_running_loop().run_in_executor(self._pool, self._try, questions)
        except RuntimeError as error:  # the pool is closed: the server is stopping
            answers = [_Failure(error)] * len(batch)
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, _Failure):
                future.set_exception(answer.error)
            else:
                future.set_result(answer)

    def _try(self, questions: list[Question]) -> list[Answer | _Failure]:
        try:
            answers = list(self._work(questions))
            if len(answers) != len(questions):
                raise ValueError(f"{len(questions)} questions, but {len(answers)} answers")
            return [*answers]
        except Exception as error:
            if len(questions) == 1:
                return [_Failure(error)]
        return [answer for question in questions for answer in self._try([question])]
