"""A server that is sent what freezes decoders and fills memory: how long others wait meanwhile, and what it keeps."""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator

from torture import bombs
from torture.clients import posted, serving
from torture.memory import Watch
from torture.results import Row
from torture.workshop import Workshop

SLOWEST = 2.0  # seconds that anybody else may wait for /health meanwhile; it was 209
LATEST = 20.0  # seconds until the bomb itself is answered
KEPT = 300.0  # megabytes that a server may have more, when all is over
ANSWERS = (200, 413, 422, 504)


def bombed(shop: Workshop) -> list[Row]:
    """Each bomb by itself; beside it, somebody asks for /health all the time."""
    rows = []
    with serving(shop) as port:
        send(port, bombs.photograph())  # processes are there
        for name, data in {**bombs.harmful(), **bombs.costly()}.items():
            row = Row("bombs", name)
            with asking(port) as waits:
                started = time.monotonic()
                status = send(port, data)
                took = time.monotonic() - started
            slowest = max(waits)
            row.figures = {"bytes": len(data), "status": status, "seconds": took, "slowest_health_s": slowest}
            row.note = f"{len(data):,} bytes: {status} in {took:.2f} s; /health at most {1000 * slowest:.0f} ms"
            row.count(None if status in ANSWERS else f"answered {status}")
            row.count(None if took < LATEST else f"answered after {took:.0f} s")
            row.count(None if slowest < SLOWEST else f"/health took {slowest:.1f} s")
            rows.append(row)
    return rows


def send(port: int, data: bytes) -> int:
    with contextlib.closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as line:
        line.sendall(posted(data))
        return int(line.recv(100).split()[1])


@contextlib.contextmanager
def asking(port: int) -> Iterator[list[float]]:
    """Asks for /health until the end; gives the seconds of each answer."""
    waits, over = [0.0], threading.Event()

    def ask() -> None:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        while not over.is_set():
            started = time.monotonic()
            line.request("GET", "/health")
            line.getresponse().read()
            waits.append(time.monotonic() - started)
            time.sleep(0.01)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield waits
    finally:
        over.set()
        thread.join()


def remembering(shop: Workshop) -> list[Row]:
    """Memory of the server and its decoders: eight large pictures, and 150 clients that do not read."""
    large, unread = Row("memory", "eight uploads of 49 million pixels"), Row("memory", "150 clients that do not read")
    with serving(shop) as port:
        send(port, bombs.photograph())
        with Watch.of_server(port) as watch:
            before = watch.now()
            data = bombs.costly()["49 million pixels"]
            threads = [threading.Thread(target=send, args=(port, data)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            time.sleep(1)
            _note(large, watch.peak - before, watch.now() - before)
        with Watch.of_server(port) as watch, contextlib.ExitStack() as held:
            before = watch.now()
            for _ in range(150):
                line = held.enter_context(contextlib.closing(socket.socket()))
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                line.connect(("127.0.0.1", port))
                line.sendall(b"GET /pictures/0 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
            time.sleep(3)
            _note(unread, watch.peak - before, watch.now() - before)
    return [large, unread]


def indexing(shop: Workshop) -> Row:
    """Two PNGs of 13,300 × 13,300 pixels among others: what `groundling index` needs at most."""
    row = Row("memory", "index of two pictures of 177 million pixels")
    folder = shop.folder / "large"
    folder.mkdir(exist_ok=True)
    data = bombs.png(13_300, 13_300)
    for name in ("a", "b"):
        (folder / f"{name}.png").write_bytes(data)
    process = shop.start("index", "large", "--model", "run", "--out", "large-index")
    with Watch(process.pid) as watch:
        _, error = process.communicate(timeout=600)
    row.figures = {"peak_mb": watch.peak, "bytes": len(data)}
    row.note = f"{watch.peak / 1000:.1f} GB at most"
    row.count(None if process.returncode in (0, 2) else f"exit code {process.returncode}: {error[-200:]}")
    row.count(None if watch.peak < 4000 else f"{watch.peak:.0f} MB")
    return row


def _note(row: Row, most: float, kept: float) -> None:
    row.figures = {"most_mb": most, "kept_mb": kept}
    row.note = f"{most:.0f} MB more at most, {max(0.0, kept):.0f} MB kept"
    row.count(None if kept < KEPT else f"kept {kept:.0f} MB")
