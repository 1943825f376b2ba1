"""Many clients of a server, one of whom means harm: how long the others wait, with him and without.

Nineteen of twenty requests are words, the twentieth is a picture. Each client has an address of its own, as in life; he
sends the costliest pictures there are, heads that do not end, and does not read what he asked for. Times without him
and with him are taken in turns within one run, so that whatever else the machine does is in both.
"""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote

import numpy as np

from torture import bombs
from torture.results import Row
from torture.workshop import Workshop

PICTURES = 0.05  # of all requests
WORDS = ("a", "red", "green", "blue", "square", "circle", "Quadrat", "rot", "gelb", "Kreis", "white", "schwarz")
PATIENCE = 60.0  # seconds that a client waits for an answer
TWICE = 2.0  # with him, the others' p99 is at most so many times what it is without


@dataclass
class Seen:
    """What the others met: seconds of each answer, and answers that are no answers."""

    words: list[float] = field(default_factory=list)
    pictures: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def p99(self) -> float:
        return float(np.percentile([*self.words, *self.pictures], 99))


@contextmanager
def serving(shop: Workshop) -> Iterator[int]:
    """The port of `groundling serve` in a process of its own."""
    process = shop.start("serve", "index", "--port", 0)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield int(line.split("127.0.0.1:")[1].split("/")[0])
    finally:
        process.terminate()
        process.communicate(timeout=60)


def request(number: int, chance: np.random.Generator, photo: bytes) -> tuple[bytes, bool]:
    """What a client asks next, and whether it is a picture."""
    if chance.random() < PICTURES:
        return posted(photo), True
    words = " ".join(chance.choice(WORDS, 3)) + f" {number}"  # no two alike
    return f"GET /search?k=10&q={quote(words)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), False


def posted(picture: bytes) -> bytes:
    about = f"Content-Type: image/jpeg\r\nContent-Length: {len(picture)}"
    return f"POST /similar?k=10 HTTP/1.1\r\nHost: localhost\r\n{about}\r\n\r\n".encode() + picture


async def answer(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
    return head


async def client(port: int, number: int, until: float, seen: Seen, photo: bytes) -> None:
    """Asks, waits for the answer, asks the next."""
    chance = np.random.default_rng(number)
    local = (f"127.0.{1 + number // 200}.{1 + number % 200}", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=local)
    for count in itertools.count():
        if time.monotonic() > until:
            break
        sent, picture = request(1000 * number + count, chance, photo)
        started = time.monotonic()
        writer.write(sent)
        try:
            head = await asyncio.wait_for(answer(reader), PATIENCE)
        except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            seen.refused.append(f"{'picture' if picture else 'words'}: {type(error).__name__}")
            break
        (seen.pictures if picture else seen.words).append(time.monotonic() - started)
        if not head.startswith(b"HTTP/1.1 200"):
            seen.refused.append(head.split(b"\r\n")[0].decode())
    writer.close()


async def attacker(port: int, pictures: list[bytes]) -> None:
    """One address, one trouble after the other, and two that go on beside it."""

    async def connect() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.9.9", 0))

    async def send() -> None:
        for data in itertools.cycle(pictures):
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, IndexError):
                reader, writer = await connect()
                writer.write(posted(data))
                await answer(reader)
                writer.close()

    async def never_end(begin: bytes) -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await connect()
                writer.write(begin)
                await asyncio.sleep(3)
                writer.close()

    slow = b"GET /health HTTP/1.1\r\nX-Slow: "
    unread = b"GET /pictures/0?size=2048 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50
    await asyncio.gather(send(), never_end(slow), never_end(unread))


async def phase(port: int, clients: int, seconds: float, pictures: list[bytes], photo: bytes, seed: int) -> Seen:
    """So many clients for so long; he is there if he has pictures."""
    seen, until = Seen(), time.monotonic() + seconds
    harm = asyncio.ensure_future(attacker(port, pictures)) if pictures else None
    await asyncio.gather(*(client(port, seed + number, until, seen, photo) for number in range(clients)))
    if harm is not None:
        harm.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await harm
    return seen


def troubled(shop: Workshop, clients: int, seconds: float) -> Row:
    """Without him and with him, in turns; `seconds` is the time for all of them together."""
    row = Row("clients", f"{clients}, one attacker among them")
    photo = bombs.photograph(800, 600, quality=80)
    bad = [*bombs.costly().values(), *bombs.harmful().values()]
    calm, harmed = Seen(), Seen()
    with serving(shop) as port:
        asyncio.run(phase(port, clients, 2, [], photo, 0))  # processes are started, caches filled
        for turn in range(2):
            for seen, pictures in ((calm, []), (harmed, bad)):
                more = asyncio.run(phase(port, clients, seconds / 4, pictures, photo, 1000 * turn))
                seen.words += more.words
                seen.pictures += more.pictures
                seen.refused += more.refused
    ratio = harmed.p99() / calm.p99()
    row.figures = {"p99_calm_ms": 1000 * calm.p99(), "p99_attacked_ms": 1000 * harmed.p99(), "ratio": ratio}
    for name, one in (("calm", calm), ("attacked", harmed)):
        row.figures |= {
            f"answers_{name}": len(one.words) + len(one.pictures),
            f"words_p99_{name}_ms": 1000 * float(np.percentile(one.words, 99)),
            f"pictures_p99_{name}_ms": 1000 * float(np.percentile(one.pictures, 99)),
        }
    for seen in (calm, harmed):
        for problem in seen.refused:
            row.count(problem)
        answered = len(seen.words) + len(seen.pictures) - len(seen.refused)
        row.tried += max(0, answered)
        row.held += max(0, answered)
    row.count(None if ratio <= TWICE else f"p99 is {ratio:.2f} times what it is without him")
    row.note = (
        f"p99 {1000 * calm.p99():.0f} ms without him, {1000 * harmed.p99():.0f} ms with him: {ratio:.2f} times; "
        f"words alone {row.figures['words_p99_calm_ms']:.0f} and {row.figures['words_p99_attacked_ms']:.0f} ms"
    )
    return row
