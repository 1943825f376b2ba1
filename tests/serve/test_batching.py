"""Questions answered together: as if each had been asked alone."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

from served import Collection, collection, square, together

from groundling.serve.batching import Batcher, Full


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


def test_those_that_ask_together_are_one_batch(pool: ThreadPoolExecutor) -> None:
    batches: list[list[int]] = []

    def double(some: list[int]) -> list[int]:
        batches.append(some)
        return [2 * one for one in some]

    async def run() -> list[int]:
        batcher = Batcher(double, pool, most=8, wait=0.05)
        return await asyncio.gather(*(batcher(number) for number in range(20)))

    assert asyncio.run(run()) == [2 * number for number in range(20)]
    assert [len(batch) for batch in batches] == [8, 8, 4]


def test_one_that_fails_fails_alone(pool: ThreadPoolExecutor) -> None:
    def divide(some: list[int]) -> list[float]:
        return [12 / one for one in some]

    async def run() -> list[Any]:
        batcher = Batcher(divide, pool, wait=0.05)
        return await asyncio.gather(*(batcher(number) for number in (1, 0, 3, 0, 4)), return_exceptions=True)

    first, second, third, fourth, fifth = asyncio.run(run())
    assert (first, third, fifth) == (12, 4, 3)
    assert isinstance(second, ZeroDivisionError)
    assert isinstance(fourth, ZeroDivisionError)


def test_a_full_queue_refuses_and_then_goes_on(pool: ThreadPoolExecutor) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(some: list[int]) -> list[int]:
        begun.set()
        go.wait(30)
        return some

    async def run() -> None:
        batcher = Batcher(slow, pool, most=1, wait=0, queue=2)
        first = asyncio.ensure_future(batcher(0))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        waiting = [asyncio.ensure_future(batcher(number)) for number in (1, 2)]
        await asyncio.sleep(0)
        assert len(batcher) == 2
        with pytest.raises(Full):
            await batcher(3)
        go.set()
        assert await asyncio.gather(first, *waiting) == [0, 1, 2]
        assert await batcher(4) == 4

    asyncio.run(run())


def test_nothing_is_done_for_whoever_has_gone(pool: ThreadPoolExecutor) -> None:
    done: list[int] = []

    async def run() -> None:
        batcher = Batcher(lambda some: done.extend(some) or some, pool, wait=0.05)  # type: ignore[func-returns-value]
        gone, stays = asyncio.ensure_future(batcher(1)), asyncio.ensure_future(batcher(2))
        await asyncio.sleep(0)
        gone.cancel()
        assert await stays == 2

    asyncio.run(run())
    assert done == [2]


def test_a_batcher_outlives_the_loop_it_was_used_in(pool: ThreadPoolExecutor) -> None:
    batcher: Batcher[int, int] = Batcher(lambda some: some, pool)

    async def ask(number: int) -> int:
        return await batcher(number)

    assert [asyncio.run(ask(number)) for number in range(3)] == [0, 1, 2]


@pytest.fixture
def squares(tmp_path: Path) -> Iterator[Collection]:
    with collection(tmp_path) as made:
        yield made


def test_many_at_once_get_the_answers_of_one_at_a_time(squares: Collection) -> None:
    words = ["red", "green blue", "rot grün", "blue", "blau rot rot"] * 8
    asks: list[dict[str, Any]] = [{"q": f"{text} {number}", "k": 1 + number % 3} for number, text in enumerate(words)]
    asks[5]["folder"] = "a"
    with squares.client() as client:
        alone = [client.get("/search", params=asked).json() for asked in asks]
    before = len(squares.toy.asked)
    answers = together(
        squares.app(), *(lambda client, asked=asked: client.get("/search", params=asked) for asked in asks)
    )
    assert before == len(asks)
    assert len(squares.toy.asked) - before <= 4  # calls of the model
    for answer, expected in zip((answer.json() for answer in answers), alone, strict=True):
        assert [one["id"] for one in answer["results"]] == [one["id"] for one in expected["results"]]
        scores = [one["score"] for one in expected["results"]]
        assert [one["score"] for one in answer["results"]] == pytest.approx(scores, abs=2e-6)


def test_a_query_or_picture_that_fails_does_not_fail_the_others(squares: Collection) -> None:
    headers = {"Content-Type": "image/png"}
    bodies = [square((10 * number, 0, 0)) for number in range(6)]
    bodies[2] = bodies[2][:40]
    answers = together(
        squares.app(),
        *(lambda client, q=q: client.get("/search", params={"q": q}) for q in ("red", "poison", "blue")),
        *(lambda client, body=body: client.post("/similar?k=1", content=body, headers=headers) for body in bodies),
    )
    assert [answer.status_code for answer in answers] == [200, 500, 200, 200, 200, 422, 200, 200, 200]


def test_a_vector_that_is_kept_does_not_keep_its_batch(squares: Collection) -> None:
    for words in squares.service().understand([("red", ""), ("blue", "de")]):
        assert words.vector is not None
        assert words.vector.base is None


def test_the_same_words_are_encoded_once(squares: Collection) -> None:
    with squares.client() as client:
        answers = [client.get("/search", params={"q": "red"}).json() for _ in range(3)]
        client.get("/search", params={"q": "red", "language": "de"})
    assert answers[0] == answers[1] == answers[2]
    assert squares.toy.asked == [["red"], ["red"]]  # in another language they are other words
