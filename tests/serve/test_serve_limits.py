"""Nothing that is sent can take more memory, time or places than it may."""

import asyncio
import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

import httpx
from fastapi import FastAPI
from PIL import Image
from served import Collection, collection, problem, square, together

PNG = {"Content-Type": "image/png"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("limits"), pictures=6) as made:
        yield made


@pytest.fixture
def squares(shared: Collection) -> Iterator[Collection]:
    shared.toy.asked.clear()
    yield shared
    shared.toy.go.set()


def stream(app: FastAPI, path: str, chunk: bytes, headers: dict[str, str]) -> tuple[int, dict[str, str], int]:
    """POST without an end; the status, the headers, and how many chunks were taken."""
    taken, sent = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": chunk, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(name.lower().encode(), value.encode()) for name, value in {"Host": "localhost", **headers}.items()]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": raw, "http_version": "1.1"}
    asyncio.run(app({**scope, "asgi": {"version": "3.0"}, "scheme": "http", "root_path": ""}, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, taken


@pytest.mark.parametrize("announced", [{}, {"Content-Length": "5"}])
def test_a_body_without_end_is_cut_off(squares: Collection, announced: dict[str, str]) -> None:
    status, headers, taken = stream(squares.app(body=10_000), "/similar", bytes(1000), {**PNG, **announced})
    assert (status, headers["content-type"], headers["connection"]) == (413, "application/problem+json", "close")
    assert taken == 11


def test_a_body_that_announces_too_much_is_not_even_read(squares: Collection) -> None:
    assert stream(squares.app(body=10_000), "/similar", bytes(1000), {**PNG, "Content-Length": "10001"})[2] == 0


def test_the_token_s_body_is_limited_too(squares: Collection) -> None:
    status, _, taken = stream(squares.app(), "/session", bytes(1000), {"Content-Type": "application/json"})
    assert (status, taken) == (413, 5)


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is of this size, in a few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def decoded_after_all(data: bytes) -> object:
    raise AssertionError("decoded after all")  # which would be told as 422


@pytest.mark.parametrize("size", [(8001, 8000), (60_000, 60_000), (2**31 - 1, 2**31 - 1)])
def test_bombs_are_refused_before_they_are_decoded(
    squares: Collection, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(squares.toy, "preparation", decoded_after_all)
    with squares.client(pixels=64_000_000) as client:
        problem(client.post("/similar", content=bomb(*size), headers=PNG), 413, "picture")
        problem(client.post("/captions", content=bomb(*size), headers=PNG), 413, "picture")


def test_a_picture_of_just_the_size_is_looked_at(squares: Collection) -> None:
    with squares.client(pixels=64) as client:
        assert client.post("/similar?k=1", content=square(side=8), headers=PNG).status_code == 200
        problem(client.post("/similar?k=1", content=square(side=9), headers=PNG), 413, "9 × 9 pixels")


def tiff() -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "TIFF")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (b"", PNG, 422, "empty"),
        (b"not a picture", PNG, 422, "not a picture of a known format"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", PNG, 422, "not a picture"),
        (tiff(), {"Content-Type": "application/octet-stream"}, 422, "not a picture"),
        (square()[:50], PNG, 422, "picture"),
        (square(), {"Content-Type": "text/plain"}, 415, "image/jpeg"),
        (square(), {"Content-Type": "image/svg+xml"}, 415, "image/jpeg"),
        (square(), {}, 415, "image/jpeg"),
        (zlib.compress(square()), {**PNG, "Content-Encoding": "deflate"}, 415, "Content-Encoding"),
    ],
)
def test_what_is_no_picture_is_told_so(
    squares: Collection, body: bytes, headers: dict[str, str], status: int, words: str
) -> None:
    with squares.client() as client:
        problem(client.post("/similar", content=body, headers=headers), status, words)


def test_too_long_is_504_and_the_next_one_is_answered(squares: Collection) -> None:
    squares.toy.go.clear()
    with squares.client(seconds=0.3) as client:
        problem(client.get("/search", params={"q": "red"}), 504, "0.3 seconds")
        squares.toy.go.set()
        assert client.get("/search", params={"q": "blue"}).status_code == 200
        assert 'status="504"} 1.0' in client.get("/metrics").text


async def _released(squares: Collection, client: httpx.AsyncClient, first: Any, path: str) -> Any:
    """Asks once `first` has reached the model; then lets it go."""
    while not squares.toy.asked:
        await asyncio.sleep(0.001)
    try:
        return await client.get(path)
    finally:
        if first:
            squares.toy.go.set()


def test_too_many_at_once_are_told_to_come_again_but_the_server_lives(squares: Collection) -> None:
    squares.toy.go.clear()
    first, health, second = together(
        squares.app(concurrent=1),
        lambda client: client.get("/search", params={"q": "red"}),
        lambda client: _released(squares, client, False, "/health"),
        lambda client: _released(squares, client, True, "/search?q=blue"),
    )
    assert (first.status_code, health.status_code) == (200, 200)
    problem(second, 503)
    assert second.headers["retry-after"] == "1"


def test_a_full_queue_is_503(squares: Collection) -> None:
    squares.toy.go.clear()

    async def later(client: httpx.AsyncClient) -> list[Any]:
        while not squares.toy.asked:
            await asyncio.sleep(0.001)
        asked = [asyncio.ensure_future(client.get("/search", params={"q": f"red {n}"})) for n in range(4)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        squares.toy.go.set()
        return [await one for one in asked]

    first, others = together(squares.app(queue=2), lambda client: client.get("/search?q=red"), later)
    assert first.status_code == 200
    assert sorted(one.status_code for one in others) == [200, 200, 503, 503]


def test_whoever_goes_away_leaves_nothing_behind(squares: Collection, tmp_path: Path) -> None:
    """A client that stops sending in the middle of its picture."""
    app, sent = squares.app(), []
    parts = iter([{"type": "http.request", "body": square()[:20], "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"image/png")]
    scope = {"type": "http", "method": "POST", "path": "/similar", "query_string": b"", "headers": headers}
    asyncio.run(app({**scope, "http_version": "1.1", "scheme": "http", "root_path": ""}, receive, send))
    assert sent == []
    answer = together(app, lambda client: client.get("/metrics"))[0].text
    assert "groundling_requests_in_flight 1.0" in answer  # the one that asks
    assert 'route="/similar",status="499"} 1.0' in answer
