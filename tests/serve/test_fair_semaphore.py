"""FairSemaphore: in rotation among those who ask, and never all places for one."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

pytest.importorskip("fastapi")

from groundling.serve.fair_semaphore import FairSemaphore


def run(play: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(play(), 20))  # type: ignore[arg-type]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Player:
    """Somebody who holds a place from the moment that he gets it until he is told to leave."""

    def __init__(self, turns: FairSemaphore, who: str) -> None:
        self.has, self.leave = False, asyncio.Event()
        self.task = asyncio.ensure_future(self._play(turns, who))

    async def _play(self, turns: FairSemaphore, who: str) -> None:
        async with turns.turn(who):
            self.has = True
            await self.leave.wait()

    async def go(self) -> None:
        self.leave.set()
        await self.task


def test_nobody_holds_all_places_and_others_come_at_once() -> None:
    async def play() -> None:
        turns = FairSemaphore(2)
        greedy = [Player(turns, "greedy") for _ in range(5)]
        await settle()
        assert [one.has for one in greedy] == [True, False, False, False, False]
        other = Player(turns, "other")
        await settle()
        assert other.has
        await other.go()
        await settle()
        assert [one.has for one in greedy] == [True, False, False, False, False]
        await greedy[0].go()
        await settle()
        assert [one.has for one in greedy] == [True, True, False, False, False]
        for one in greedy:
            await one.go()

    run(play)


def test_one_place_is_for_all_in_rotation() -> None:
    async def play() -> None:
        turns, order = FairSemaphore(1), []

        async def ask(who: str) -> None:
            async with turns.turn(who):
                order.append(who)
                await asyncio.sleep(0)

        await asyncio.gather(*(ask(who) for who in "aaaabbc"))
        assert order == list("aabcaba")  # who asked first is asked again when all others had a turn

    run(play)


def test_several_may_have_several_while_there_is_room() -> None:
    async def play() -> None:
        turns = FairSemaphore(4)
        held = [Player(turns, who) for who in "aab"]
        waiting = Player(turns, "a")
        await settle()
        assert [one.has for one in (*held, waiting)] == [True, True, True, False]
        last = Player(turns, "c")  # the last place is for somebody who has none
        await settle()
        assert last.has
        for one in held:
            await one.go()
        await settle()
        assert waiting.has
        await waiting.go()
        await last.go()
        assert (turns._free, dict(turns._held), dict(turns._waiting)) == (4, {}, {})

    run(play)


def test_who_leaves_while_waiting_keeps_nobody_from_a_place() -> None:
    async def play() -> None:
        turns = FairSemaphore(1)
        first, second, third = (Player(turns, who) for who in "abc")
        await settle()
        second.task.cancel()
        await settle()
        await first.go()
        await settle()
        assert third.has
        fourth = Player(turns, "d")
        await settle()
        third.leave.set()
        await asyncio.sleep(0)
        fourth.task.cancel()  # perhaps at the very moment that the place was given to him
        await settle()
        fifth = Player(turns, "e")
        await settle()
        assert fifth.has
        await fifth.go()
        assert turns._free == 1

    run(play)
