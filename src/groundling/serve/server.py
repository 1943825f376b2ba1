"""Keeps an application running until it is told to stop, and then finishes what it has begun."""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from groundling.errors import UserError
from groundling.serve.access import HERE
from groundling.serve.connection import limited
from groundling.serve.limits import Limits

PATIENCE = 20  # seconds that requests in flight get after the signal to stop


class _Server(uvicorn.Server):
    """uvicorn, that tells when it listens, and for which a signal to stop is no failure."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def listen(host: str, port: int) -> socket.socket:
    """The place to listen at, taken before anything is loaded; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        taken = socket.socket(family, kind, protocol)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot listen at {host}:{port} ({why}); choose another --host or --port") from None
    return taken


def address_of(taken: socket.socket) -> str:
    """ "http://127.0.0.1:8000/"."""
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(
    app: FastAPI,
    taken: socket.socket,
    ready: Callable[[], None] = lambda: None,
    limits: Limits | None = None,
    proxies: Sequence[str] = HERE,
    **options: Any,
) -> None:
    """Until SIGTERM or control-C; requests in flight are answered, then it returns. A second control-C is final.

    `proxies`: those that are believed who asks, and whether by https (`access.believed_proxies`).
    """
    config = uvicorn.Config(
        app,
        http=limited(limits or Limits()),
        forwarded_allow_ips=list(proxies),
        log_level="error",
        access_log=False,  # what people look for is their own business
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
        lifespan="off",
        ws="none",
        **options,
    )
    server = _Server(config, ready)
    asyncio.run(server.serve(sockets=[taken]))
