"""Turns at something that few can do at once, taken in rotation among those who ask: who asks often waits longer."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class Turns:
    """Args: `places` is how many have a turn at the same time."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, who: Hashable) -> AsyncIterator[None]:
        await self._wait(who)
        try:
            yield
        finally:
            self._free += 1
            self._next()

    async def _wait(self, who: Hashable) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it came at the very moment that nobody wanted it any more
                self._free += 1
                self._next()
            raise

    def _next(self) -> None:
        """The next turn is for whoever has waited longest since their last one; those who left are passed over."""
        while self._free and self._waiting:
            who, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            del self._waiting[who]
            if turns:
                self._waiting[who] = turns  # behind all others
            if not turn.done():
                self._free -= 1
                turn.set_result(None)
