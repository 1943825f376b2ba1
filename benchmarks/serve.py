"""Text queries over HTTP, end to end, beside `Index.search` in the same run.

    python benchmarks/serve.py [--seconds 60] [--clients 32] [--vectors 100000] [--system bag] [--json]

The server runs in a process of its own: an exact index of random 512-d vectors, and a text encoder with random weights,
which do not change the speed. Each client asks, waits for its answer, and asks the next; no two queries are alike, so
that nothing is answered from memory. The clients share the cores with the server: on a machine of their own they would
leave it more. Beside it, in one process and one after the other, `Index.search` answers queries of the same kind.
Memory is that of the server, after a second of asking and at the end.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import torch

import encoding
import search
from groundling.model import Model, Vectors
from groundling.search import Index
from groundling.serve import server
from groundling.serve.app import make_app
from groundling.serve.service import Service

DIMENSIONS = 512
K = 24  # what the page asks for


class Words(Model):
    """A text encoder as the model of an index."""

    kind, backbone, fingerprint, dimensions = "run", "none", "none", DIMENSIONS
    text_fingerprint = picture_fingerprint = preparation = None
    languages = ["en", "de", "fr"]  # noqa: RUF012

    def __init__(self, model: Model) -> None:
        self.model = model

    def load_picture_side(self) -> None: ...

    def encode_prepared(self, prepared: Sequence[Any]) -> Vectors:
        raise NotImplementedError

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        return self.model.encode_text(texts, languages)


def opened(folder: Path, system: str) -> Index:
    """The index with its model."""
    index = Index.open(folder)
    index.root = folder  # there are no pictures, and none are asked for
    model = encoding.build({"name": system, "dimensions": DIMENSIONS}, encoding.random_corpus(5000))
    index.__dict__["model"] = Words(model)
    index.manifest.model.languages.extend(Words.languages)
    return index


def serve(folder: Path, system: str, pipe: Connection) -> None:
    service = Service(opened(folder, system))
    service.warm_up()
    with server.listen("127.0.0.1", 0) as taken:
        server.run(make_app(service), taken, lambda: pipe.send(taken.getsockname()[1]))
    service.close()


@cache
def vocabulary() -> list[str]:
    return sorted({word for text in encoding.random_corpus(2000).texts for word in text.split()})


def queries(seed: int) -> Iterator[str]:
    """Three to eight words each, without end, no two alike."""
    words, draw = vocabulary(), np.random.default_rng(seed)
    while True:
        yield " ".join(words[row] for row in draw.integers(0, len(words), draw.integers(3, 9)))


async def client(port: int, seed: int, until: float, times: list[float], errors: list[str]) -> None:
    """One connection, one question at a time, by hand: a library would take more time than the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    asked = queries(seed)
    while time.perf_counter() < until:
        line = f"GET /search?k={K}&q={quote(next(asked))} HTTP/1.1\r\nHost: localhost\r\n\r\n"
        started = time.perf_counter()
        writer.write(line.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        times.append(time.perf_counter() - started)
        if not head.startswith(b"HTTP/1.1 200") or len(json.loads(body)["results"]) != K:
            errors.append(head.split(b"\r\n")[0].decode())
    writer.close()


async def ask(port: int, clients: int, seconds: float, seed: int) -> tuple[list[float], list[str]]:
    times: list[float] = []
    errors: list[str] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(client(port, seed + number, until, times, errors) for number in range(clients)))
    return times, errors


def memory_of(process: int) -> float:
    """Resident megabytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def in_process(index: Index, seconds: float) -> list[float]:
    asked, times = queries(10**6), []
    index.search(next(asked), K)  # loads what is loaded with the first question
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        text = next(asked)
        started = time.perf_counter()
        index.search(text, K)
        times.append(time.perf_counter() - started)
    return times


def measure(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        search.build(folder, search.unit_vectors(options.vectors, DIMENSIONS, seed=0), "exact")
        index = opened(folder, options.system)
        alone = in_process(index, min(options.seconds, 10) / 2)
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=serve, args=(folder, options.system, there))
        process.start()
        try:
            port = here.recv()
            asyncio.run(ask(port, options.clients, 1, seed=5 * 10**5))
            before = memory_of(process.pid or 0)
            one = asyncio.run(ask(port, 1, min(options.seconds, 5), seed=6 * 10**5))[0]
            times, errors = asyncio.run(ask(port, options.clients, options.seconds, seed=0))
            after = memory_of(process.pid or 0)
        finally:
            process.terminate()
            process.join(30)
        alone += in_process(index, min(options.seconds, 10) / 2)
    asked, direct = np.array(times), statistics.median(alone)
    return {
        "vectors": options.vectors,
        "dimensions": DIMENSIONS,
        "system": options.system,
        "cores": os.cpu_count(),
        "clients": options.clients,
        "seconds": options.seconds,
        "requests": len(times),
        "errors": len(errors),
        "first_error": errors[0] if errors else None,
        "requests_per_second": len(times) / options.seconds,
        "p50_ms": 1000 * float(np.percentile(asked, 50)),
        "p99_ms": 1000 * float(np.percentile(asked, 99)),
        "one_client_p50_ms": 1000 * statistics.median(one),
        "in_process_p50_ms": 1000 * direct,
        "in_process_per_second": len(alone) / sum(alone),
        "latency_ratio": statistics.median(one) / direct,
        "throughput_ratio": len(times) / options.seconds / (len(alone) / sum(alone)),
        "memory_start_mb": before,
        "memory_end_mb": after,
        "exit_code": process.exitcode,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="End-to-end text queries over HTTP beside Index.search.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--system", default="bag", help="whose text encoder: bag, lessons, clmr, …")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count() or 1)
    found = measure(options)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    print(
        f"{found['clients']} clients, {found['seconds']:g} s, {found['vectors']:,} × {DIMENSIONS} vectors: "
        f"{found['requests_per_second']:,.0f} requests/s, p50 {found['p50_ms']:.1f} ms, p99 {found['p99_ms']:.1f} ms, "
        f"{found['errors']} errors in {found['requests']:,}; memory {found['memory_start_mb']:,.0f} MB at the start, "
        f"{found['memory_end_mb']:,.0f} MB at the end\n"
        f"one client: p50 {found['one_client_p50_ms']:.1f} ms, {found['latency_ratio']:.2f} of Index.search in process "
        f"({found['in_process_p50_ms']:.1f} ms); all clients: {found['throughput_ratio']:.2f} of its throughput "
        f"({found['in_process_per_second']:,.0f}/s)"
    )


if __name__ == "__main__":
    main()
