"""Turns at something that few can do at once, taken in rotation among those who ask: who asks often waits longer.

Where there are several places, the last one that is free is never given to somebody who has another already: nobody can
hold them all.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class FairSemaphore:
    """Args: `places` is how many have a turn at the same time."""

    def __init__(self, places: int) -> None:
        self._places = self._free = places
        self._held: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, who: Hashable) -> AsyncIterator[None]:
        await self._wait(who)
        try:
            yield
        finally:
            self._give_back(who)

    async def _wait(self, who: Hashable) -> None:
        if self._may(who):
            return self._take(who)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came at the very moment that nobody wanted it any more
                self._give_back(who)
            raise

    def _may(self, who: Hashable) -> bool:
        return self._free > 1 or (self._free == 1 and (self._places == 1 or not self._held[who]))

    def _take(self, who: Hashable) -> None:
        self._free -= 1
        self._held[who] += 1

    def _give_back(self, who: Hashable) -> None:
        self._free += 1
        self._held[who] -= 1
        if not self._held[who]:
            del self._held[who]
        while (first := next((one for one in self._waiting if self._may(one)), None)) is not None:
            self._next(first)

    def _next(self, who: Hashable) -> None:
        """The next turn is for whoever has waited longest since their last one; those who left are passed over."""
        turns = self._waiting.pop(who)
        turn = turns.popleft()
        if turns:
            self._waiting[who] = turns  # behind all others
        if not turn.done():
            self._take(who)
            turn.set_result(None)
