"""Clients that mean harm: pictures that were made to freeze, requests that are none, and nobody who reads.

The server runs as it does for users, on a socket, in a thread of this process.
"""

import io
import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

sys.path.append(str(Path(__file__).parent.parent / "decoding"))

import bombs
import httpx
from PIL import Image
from served import Collection, collection, problem

from groundling.search import Index, index_pictures
from groundling.serve import server
from groundling.serve.app import make_app
from groundling.serve.limits import Limits

PNG = {"Content-Type": "image/png"}


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("attacked"), pictures=6) as made:
        yield made


@contextmanager
def listening(squares: Collection, **limits: Any) -> Iterator[int]:
    """The port of a server, which stops at the end and must not need a kill for it."""
    service = squares.service(captions=False, **limits)
    holds: list[Any] = []

    class Told(server._Server):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            holds.append(self)

    ready = threading.Event()
    with server.listen("127.0.0.1", 0) as taken, pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "_Server", Told)
        patch.setattr(server, "PATIENCE", 1)
        arguments = (make_app(service), taken, ready.set, Limits(**limits))
        thread = threading.Thread(target=server.run, args=arguments, daemon=True)
        thread.start()
        assert ready.wait(30)
        yield taken.getsockname()[1]
        holds[0].should_exit = True
        service.workers.close()
        thread.join(15)
        assert not thread.is_alive()
        service.close()


BOMBS: dict[str, Callable[[], bytes]] = {
    "exif segments": bombs.exif_segments,
    "comments": bombs.comments,
    "fill": lambda: bombs.fill(10_000_000),
    "empty chunks": bombs.empty_chunks,
    "repeated scans": lambda: bombs.scans(20_000),
    "a tall line": lambda: bombs.png(1, 49_000_000, rows=1000),
    "many pixels of one colour": lambda: bombs.png(7000, 7000),
}


def test_a_picture_that_was_made_to_freeze_freezes_nobody(squares: Collection) -> None:
    """While bombs arrive, /health and words are answered as ever, and each bomb is answered in time."""
    made = {name: data for name, make in BOMBS.items() if len(data := make()) < 10 * 2**20}
    assert len(made) >= 5
    with listening(squares) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        client.post("/similar", content=bombs.photograph(), headers=PNG)  # the processes are there
        slowest, asked, over = 0.0, 0, threading.Event()

        def watch() -> None:
            nonlocal slowest, asked
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as other:
                while not over.is_set():
                    for path in ("/health", "/search?q=red"):
                        started = time.monotonic()
                        assert other.get(path).status_code == 200
                        slowest, asked = max(slowest, time.monotonic() - started), asked + 1

        watcher = threading.Thread(target=watch)
        watcher.start()
        statuses = {}
        for name, data in made.items():
            started = time.monotonic()
            answer = client.post("/similar", content=data, headers=PNG)
            statuses[name] = answer.status_code
            assert time.monotonic() - started < 20, name
        over.set()
        watcher.join()
    assert set(statuses.values()) <= {200, 413, 422, 504}, statuses  # the last where others need the machine
    assert statuses["exif segments"] == statuses["repeated scans"] == 422
    assert asked > 20
    assert slowest < 2  # seconds, on a machine that others use; it was 209


def test_a_server_that_decodes_for_hours_stops_at_once(squares: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squares.toy, "preparation", never_ends)
    with listening(squares, decoding=60, seconds=60) as port:
        lines = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        picture = bombs.photograph()
        head = "POST /similar HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
        for line in lines:
            line.sendall(f"{head}Content-Length: {len(picture)}\r\n\r\n".encode() + picture)
        time.sleep(1)
        stopped = time.monotonic()
    assert time.monotonic() - stopped < 10


def never_ends(data: bytes) -> bytes:
    while True:
        pass


def resident() -> float:
    """Megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def test_clients_that_do_not_read_hold_little_and_are_dropped(squares: Collection, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    noise = Image.effect_noise((2500, 2500), 100)
    noise.save(folder / "large.png")
    assert (folder / "large.png").stat().st_size > 5 * 2**20
    index_pictures(folder, tmp_path / "index", "toy")
    large = squares._replace(folder=folder, index=tmp_path / "index")
    with listening(large, stall=2.0) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        assert client.get("/pictures/0").content == (folder / "large.png").read_bytes()
        before = resident()
        lines = []
        for _ in range(60):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", port))
            line.sendall(b"GET /pictures/0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            lines.append(line)
        time.sleep(1)
        assert resident() - before < 100  # 60 whole pictures would be 360
        assert client.get("/search?q=red").status_code == 200
        deadline = time.monotonic() + 20
        while 'status="499"} 60.0' not in client.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def talk(port: int, sent: bytes, wait: float = 10) -> bytes:
    """All that comes back until the server closes, or nothing more comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as line:
        line.sendall(sent)
        got = b""
        try:
            while part := line.recv(65536):
                got += part
                head, _, body = got.partition(b"\r\n\r\n")
                if b"content-length" in head.lower():
                    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                    if len(body) >= length:
                        break
        except (TimeoutError, ConnectionResetError):
            pass
        return got


MALFORMED = [
    b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n",
    b"\x00\x01\x02\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"G\xffT / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /search?q=\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
]


@pytest.mark.parametrize("sent", MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_no_request_is_told_so_as_a_problem(squares: Collection, sent: bytes) -> None:
    with listening(squares) as port:
        got = talk(port, sent)
        assert talk(port, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200")
    head, _, body = got.partition(b"\r\n\r\n")
    assert head.split()[1][:2] in (b"40", b"42", b"50"), got
    assert b"application/problem+json" in head, got
    assert json.loads(body)["status"] == int(head.split()[1])


def test_two_lengths_of_one_body_are_refused(squares: Collection) -> None:
    sent = (
        b"POST /similar HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    with listening(squares) as port:
        got = talk(port, sent)
    assert got.startswith(b"HTTP/1.1 400")
    assert got.count(b"HTTP/1.1") == 1  # what was smuggled in behind is not answered
    assert b"connection: close" in got.lower()


def test_a_head_that_does_not_come_is_not_waited_for(squares: Collection) -> None:
    with listening(squares, headers=1.0) as port:
        for sent in (b"", b"GET / HTTP/1.1\r\nX-Slow: ", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea"):
            started = time.monotonic()
            with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
                line.sendall(sent)
                try:
                    while line.recv(65536):
                        pass
                except ConnectionResetError:
                    pass
            assert time.monotonic() - started < 8


def test_more_connections_than_may_be_are_not_kept(squares: Collection) -> None:
    with listening(squares, connections=5) as port:
        lines = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(12)]
        time.sleep(0.5)
        kept = 0
        for line in lines:
            try:
                line.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                kept += line.recv(100).startswith(b"HTTP/1.1 200")
            except OSError:
                pass
        assert kept == 5
        for line in lines:
            line.close()


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "\x80", "http://a]b", "null", "://"])
def test_an_origin_that_is_none_is_that_of_another_site(squares: Collection, origin: str) -> None:
    with squares.client() as client:
        headers = {"Content-Type": "application/json", "Origin": origin.encode("latin-1")}
        problem(client.post("/session", content=b"{}", headers=headers), 403, "another site")


def test_nothing_that_is_asked_for_can_write_lines_into_the_log(
    squares: Collection, caplog: pytest.LogCaptureFixture
) -> None:
    with squares.client() as client, caplog.at_level(logging.ERROR, "groundling.serve"):
        squares.toy.asked.clear()
        problem(client.get("/search", params={"q": "poison"}), 500)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("groundling.serve.access.Access.check", _fails)
            problem(client.get("/a%0aERROR forged%1b[2J%e2%80%aeline"), 500)
    text = caplog.text
    assert "\\nERROR forged\\x1b[2J\\u202eline" in text
    assert "\x1b" not in text
    assert not any(line.startswith("ERROR forged") for line in text.splitlines())
    assert all(line.startswith(("ERROR ", "  | ")) for line in text.splitlines())


def _fails(*_: object) -> None:
    raise RuntimeError("a message\nERROR forged in a message")


def test_a_picture_with_another_inside_is_a_jpeg(squares: Collection, tmp_path: Path) -> None:
    """Telephones write MPO: a JPEG with a further picture behind it."""
    first, second = Image.new("RGB", (40, 30), "red"), Image.new("RGB", (40, 30), "blue")
    buffer = io.BytesIO()
    first.save(buffer, "MPO", save_all=True, append_images=[second])
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "phone.jpg").write_bytes(buffer.getvalue())
    built = index_pictures(folder, tmp_path / "index", "toy")
    assert built.count == 1
    with squares._replace(folder=folder, index=tmp_path / "index").client(captions=False) as client:
        assert client.get("/pictures/0").headers["content-type"] == "image/jpeg"
        assert client.post("/similar", content=buffer.getvalue(), headers={"Content-Type": "image/jpeg"}).is_success
    assert Index.open(tmp_path / "index").search("red", k=1)[0].path == "phone.jpg"
