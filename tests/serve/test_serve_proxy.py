"""Behind a reverse proxy, and set up by the environment alone, as in a container."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

import httpx
from fastapi import FastAPI, Request

import groundling
from groundling.serve import server
from groundling.serve.access import COOKIE

TOKEN = "correct-horse-battery"  # noqa: S105
PROXY, STRANGER = "127.0.0.2", "127.0.0.3"  # on Linux all of 127.0.0.0/8 is this machine
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks from several addresses of the loopback")

# The command without an option or argument, with a model that is made of colours.
CHILD = """
import os, sys
sys.path[:0] = sys.argv[1:3]
from pathlib import Path
import served
from groundling.cli import main

with served.collection(Path(sys.argv[3]), pictures=3) as made:
    os.environ["GROUNDLING_INDEX"] = str(made.index)
    main(["serve"])
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[str]:
    """The address of a server that knows nothing but these variables."""
    tests, port = Path(__file__).parent, free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDLING_")}
    source = str(Path(groundling.__file__).parent.parent)
    environment = {**kept, "PYTHONPATH": source, "GROUNDLING_PORT": str(port), **settings}
    command = [sys.executable, "-c", CHILD, str(tests), str(tests.parent), str(folder)]
    process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith(f"3 pictures can be searched at http://0.0.0.0:{port}/, with a token"), said
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()  # and with it those that it has started
        process.communicate(timeout=60)


def asking(url: str, source: str, **headers: str) -> httpx.Client:
    """A client with an address of its own."""
    line = httpx.HTTPTransport(local_address=source)
    return httpx.Client(base_url=url, transport=line, headers=headers, timeout=30, trust_env=False)


def test_variables_alone_start_servers_that_believe_their_proxy_and_nobody_else(tmp_path: Path) -> None:
    settings = {"HOST": "0.0.0.0", "TOKEN": TOKEN, "WORKERS": "2", "PROXY": f"10.1.0.0/16 {PROXY}"}  # noqa: S104
    settings |= {"NAME": "Squares", "ALLOW_HOST": "photos.example.org www.example.org"}
    with serving(tmp_path, **{f"GROUNDLING_{name}": value for name, value in settings.items()}) as url:
        with asking(url, "127.0.0.1", Host="www.example.org") as client:
            assert client.get("/ready").status_code == 200
            assert client.get("/about").status_code == 401
            about = client.get("/about", headers={"Authorization": f"Bearer {TOKEN}"}).json()
            assert (about["name"], about["pictures"]) == ("Squares", 3)
            assert client.get("/health", headers={"Host": "elsewhere.org"}).status_code == 421
        secure = {}
        for source in (PROXY, STRANGER, "127.0.0.1"):
            with asking(url, source, **{"X-Forwarded-Proto": "https"}) as client:
                cookie = client.post("/session", json={"token": TOKEN}).headers["set-cookie"]
            assert cookie.startswith(f"{COOKIE}=") and "HttpOnly" in cookie
            secure[source] = "Secure" in cookie
        assert secure == {PROXY: True, STRANGER: False, "127.0.0.1": False}
        with asking(url, PROXY, **{"X-Forwarded-Proto": "http"}) as client:
            assert "Secure" not in client.post("/session", json={"token": TOKEN}).headers["set-cookie"]


def seen(source: str, *proxies: str) -> Any:
    """How a request with forwarded headers looks to the application."""
    app, answers = FastAPI(), []

    @app.get("/")
    def who(request: Request) -> list[str | None]:
        return [request.client.host if request.client else None, request.url.scheme]

    def ask() -> None:
        forwarded = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
        with asking(server.address_of(taken), source, **forwarded) as client:
            answers.append(client.get("/").json())
        os.kill(os.getpid(), signal.SIGINT)

    with server.listen("127.0.0.1", 0) as taken:
        options: dict[str, Any] = {"proxies": proxies} if proxies else {}
        server.run(app, taken, lambda: threading.Thread(target=ask).start(), **options)
    return answers[0]


def test_clients_are_told_apart_by_what_a_believed_proxy_says_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # uvicorn's own; ours is the one that counts
    assert seen(PROXY, "127.0.0.2/32") == ["203.0.113.9", "https"]
    assert seen(STRANGER, "127.0.0.2/32") == [STRANGER, "http"]
    assert seen("127.0.0.1") == ["203.0.113.9", "https"]  # by default a proxy on this machine
    assert seen(PROXY) == [PROXY, "http"]
