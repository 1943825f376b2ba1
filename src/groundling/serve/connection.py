"""One connection, as uvicorn keeps it, but impatient: heads of requests come in time, and whatever is wrong is told in
the form of all our problems."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from groundling.serve.limits import Limits
from groundling.serve.problems import Problem


class Connection(H11Protocol):
    """uvicorn makes one for each client; `limits` are those of the class that `limited` makes."""

    limits = Limits()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": transport.abort}  # for who notices that nobody receives
        if len(self.connections) > self.limits.connections:
            return transport.abort()
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:  # a head is complete
            self._stop_waiting()
        elif self._waiting is None:
            self._expect_head()

    def _expect_head(self) -> None:
        self._waiting = self.loop.call_later(self.limits.headers, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as a request at all."""
        self._stop_waiting()
        told = Problem(400, "this is no HTTP request that can be read", {"Connection": "close"}).response()
        try:
            self.transport.write(self.conn.send(h11.Response(status_code=400, headers=told.raw_headers)))
            self.transport.write(self.conn.send(h11.Data(data=bytes(told.body))))
            self.transport.write(self.conn.send(h11.EndOfMessage()))
        except h11.LocalProtocolError:  # an answer is on its way already
            pass
        self.transport.close()


def limited(limits: Limits) -> type[Connection]:
    """The class of connections within these limits."""
    return type("LimitedConnection", (Connection,), {"limits": limits})
