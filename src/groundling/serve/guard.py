"""Around every request: a place among those worked on, a time limit, a watch, and headers that keep browsers strict."""

import asyncio
import logging
import time
import traceback
from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundling.printable import printable
from groundling.serve.limits import Limits
from groundling.serve.metrics import Metrics
from groundling.serve.problems import Problem, busy

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    # Unless the answer says otherwise:
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
PIECE = 2**16  # bytes
METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE")
log = logging.getLogger("groundling.serve")


class Guard:
    """ASGI, outermost: whatever happens inside, the answer is one of ours."""

    def __init__(self, app: ASGIApp, limits: Limits, metrics: Metrics) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self.in_flight = 0  # requests whose response has not begun: the rest takes no more than a line and a piece
        metrics.in_flight.set_function(lambda: self.in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        started = time.perf_counter()
        self.in_flight += 1
        watched = _Watched(send, self.limits.stall, self._begun)
        try:
            await self._answer(scope, receive, watched)
        finally:
            watched.begin()
            self._note(scope, watched.status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, receive: Receive, send: "_Watched") -> None:
        problem: Problem | None = None
        # Whether the server lives must be known, and a crowd is when one looks.
        if self.in_flight > self.limits.concurrent and scope["path"] not in ("/health", "/ready", "/metrics"):
            problem = busy("too many requests at once")
        else:
            try:
                async with asyncio.timeout(self.limits.seconds) as limit:
                    send.limit = limit
                    await self.app(scope, receive, send)
            except TimeoutError:
                problem = Problem(504, f"this took longer than {self.limits.seconds:g} seconds")
            except ClientDisconnect:
                send.status = 499  # nobody is there to be told; the number is what others count it under
            except Stalled:
                send.status = 499
                scope.get("state", {}).get("abort", _nothing)()
            except Exception:
                log.error("%s %s failed\n%s", printable(scope["method"]), printable(scope["path"]), _trace())
                problem = Problem(500, "something went wrong here; the log of the server says what")
            finally:
                send.limit = None
        if problem is not None and not send.status:
            await problem.response()(scope, receive, send)

    def _begun(self) -> None:
        self.in_flight -= 1

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")  # the pattern: few, where addresses are countless
        method = scope["method"] if scope["method"] in METHODS else "other"
        self.metrics.requests.labels(method, route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)


class Head:
    """ASGI: HEAD is answered as GET is, without the body. Programs that watch a server, and some browsers, ask so."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            return await self.app(scope, receive, send)

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self.app({**scope, "method": "GET"}, receive, send_head)


class Stalled(Exception):
    """Nobody receives what is sent."""


class _Watched:
    """`send` that adds our headers, remembers the status, lifts the time limit once a response has begun, and sends it
    in pieces, each of which must be taken within a time."""

    def __init__(self, send: Send, stall: float, begun: Callable[[], None]) -> None:
        self._send, self._stall, self._begun, self.status = send, stall, begun, 0
        self.limit: asyncio.Timeout | None = None
        self._counted = True

    def begin(self) -> None:
        """The response has begun, or there will be none."""
        if self._counted:
            self._counted = False
            self._begun()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            more = [pair for pair in HEADERS if pair[0] not in names]
            if self.limit is not None:
                self.limit.reschedule(None)  # a large picture over a slow line may take its time
            self.begin()
            return await self._send({**message, "headers": [*given, *more]})
        body, more_body = message.get("body", b""), message.get("more_body", False)
        for start in range(0, len(body) or 1, PIECE):
            last = start + PIECE >= len(body)
            piece = {**message, "body": body[start : start + PIECE], "more_body": more_body or not last}
            try:
                async with asyncio.timeout(self._stall):
                    await self._send(piece)
            except TimeoutError:
                raise Stalled from None


def _trace() -> str:
    """What went wrong, line by line, each of which begins alike: no text of others can look like a line of ours."""
    return "\n".join(f"  | {printable(line)}" for line in traceback.format_exc().splitlines())


def _nothing() -> None: ...
