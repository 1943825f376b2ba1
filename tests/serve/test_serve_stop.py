"""The server in a process of its own: it says when it is ready, and stops without dropping what it has begun."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

import httpx
from fastapi import FastAPI

import groundling
from groundling.errors import UserError
from groundling.serve import server

# The command itself, with a model that takes a second to read the word "slow".
CHILD = """
import sys, time
sys.path[:0] = sys.argv[1:3]
from pathlib import Path
import served
from groundling.cli import main

class Slow(served.Held):
    def encode_text(self, texts, languages):
        time.sleep(1 if "slow" in texts else 0)
        return super().encode_text(texts, languages)

served.Held = Slow
with served.collection(Path(sys.argv[3]), pictures=3) as made:
    main(["--quiet", "serve", str(made.index), "--port", "0", "--json", *sys.argv[4:]])
"""


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    command = [sys.executable, "-c", CHILD, str(tests), str(tests.parent), str(folder), *options]
    process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def test_over_a_real_line_until_it_is_told_to_stop(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, told):
        assert told["pictures"] == 3
        strange_lines(told["url"])
        answers: list[httpx.Response] = []
        with httpx.Client(base_url=told["url"], timeout=30, trust_env=False) as client:
            assert client.get("/health").status_code == 200
            asking = threading.Thread(target=lambda: answers.append(client.get("/search", params={"q": "slow"})))
            asking.start()
            while "groundling_requests_in_flight 2.0" not in httpx.get(f"{told['url']}metrics", trust_env=False).text:
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            asking.join(30)
        assert [answer.status_code for answer in answers] == [200]  # it was in flight
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "", "")
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{told['url']}health", trust_env=False)


def strange_lines(url: str) -> None:
    """Bodies without a length, and lines that are no HTTP; the server goes on."""
    with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:

        def endless() -> Iterator[bytes]:
            for _ in range(200):
                yield bytes(2**17)

        try:
            answer = client.post("/similar", content=endless(), headers={"Content-Type": "image/png"})
            assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
        except httpx.WriteError:
            pass  # refused, and hung up before all was sent
        host, port = url.removeprefix("http://").strip("/").split(":")
        with socket.create_connection((host, int(port)), timeout=30) as line:
            line.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
            assert b"400" in line.recv(1000)
        assert client.get("/search", params={"q": "red"}).status_code == 200


def test_control_c_is_no_failure_either() -> None:
    before = signal.getsignal(signal.SIGINT)
    with server.listen("127.0.0.1", 0) as taken:
        server.run(FastAPI(), taken, lambda: os.kill(os.getpid(), signal.SIGINT))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_port_that_is_taken_is_said_before_anything_is_loaded() -> None:
    with server.listen("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(UserError, match="choose another --host or --port"):
            server.listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(UserError, match="cannot listen at no such host"):
        server.listen("no such host", 0)


def workers_of(process: "subprocess.Popen[str]") -> list[int]:
    """What it has forked; processes that decode pictures are commands of their own."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    own = Path(f"/proc/{process.pid}/cmdline").read_bytes()
    return [int(number) for number in listed if Path(f"/proc/{number}/cmdline").read_bytes() == own]


def until(process: "subprocess.Popen[str]", there: int, without: int = 0) -> list[int]:
    for _ in range(600):
        found = workers_of(process)
        if len(found) == there and without not in found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"there are {found}")


def test_several_processes_answer_and_one_that_is_killed_is_replaced(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (process, told):
        first = until(process, 2)
        assert httpx.get(f"{told['url']}health", trust_env=False).status_code == 200
        os.kill(first[0], signal.SIGKILL)
        now = until(process, 2, without=first[0])
        assert first[1] in now
        for _ in range(20):
            assert (
                httpx.get(f"{told['url']}search", params={"q": "a dog"}, trust_env=False, timeout=30).status_code == 200
            )
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")  # it had told the address once
        assert not any(Path(f"/proc/{number}").exists() for number in now)


def test_servers_end_with_the_process_that_watches_them(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (process, _):
        left = until(process, 2)
        process.kill()
        process.wait(timeout=30)
        for _ in range(600):
            if not any(Path(f"/proc/{number}").exists() for number in left):
                return
            time.sleep(0.05)
        raise AssertionError("they live on")


def test_what_is_wrong_is_said_once_however_many_processes_there_are(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "groundling", "serve", str(tmp_path / "none"), "--port", "0", "--workers", "3"]
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.count("no such index") == 1 and "Traceback" not in done.stderr
