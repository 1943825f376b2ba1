"""A stand-in for the service: the page's files as they are, and answers a test can foresee.

Words make it behave: "slow …" waits, "broken" fails, "none" finds nothing. Runs by itself, too, to work on the page:
`python tests/serve/fake_service.py` and open http://127.0.0.1:8765.
"""

import contextlib
import functools
import json
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlsplit

POLICY = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'"
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
LANGUAGES = [("ar", "Arabic", "rtl"), ("de", "German", "ltr"), ("en", "English", "ltr"), ("ja", "Japanese", "ltr")]
PICTURES = 500


@functools.cache
def png(side: int, red: int, green: int, blue: int) -> bytes:
    """A picture of one colour."""
    row = b"\0" + bytes((red, green, blue)) * side

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * side)) + chunk(b"IEND", b"")


def language_of(text: str) -> str:
    for code, first, last in (("ar", "\u0600", "\u06ff"), ("ja", "\u3040", "\u9fff")):
        if any(first <= letter <= last for letter in text):
            return code
    return "de" if "hund" in text.lower() else "en"


def language(code: str, detected: bool) -> dict[str, Any]:
    for known, name, direction in LANGUAGES:
        if known == code:
            return {"code": code, "name": name, "direction": direction, "detected": detected}
    raise LookupError(code)


def picture(row: int) -> dict[str, Any]:
    return {"id": row, "name": f"album/picture_{row}.png", "url": f"/pictures/{row}"}


def results(start: int, k: int, offset: int = 0, group: bool = False) -> list[dict[str, Any]]:
    """Pictures in a row from `start`, so that a test can tell which question an answer is for; never one twice.

    Of those that are grouped, the second has two that look the same.
    """
    places = range(offset, min(offset + k, PICTURES))
    return [
        {
            **picture((start + place) % PICTURES),
            "score": 0.9 - 0.001 * place,
            "duplicates": [3, 4] if group and place == 1 else [],
        }
        for place in places
    ]


def start_of(text: str) -> int:
    return zlib.crc32(text.encode()) % PICTURES


class Trouble(Exception):
    def __init__(self, status: int, detail: str) -> None:
        self.status, self.detail = status, detail


class Service(ThreadingHTTPServer):
    """Attributes: `asked` and `received`: addresses, and sizes of bodies; a `token` guards all but the page."""

    daemon_threads = True

    def __init__(self, token: str | None = None, check: bool = True, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.token, self.check = token, check
        self.asked: list[str] = []
        self.received: list[int] = []
        self.delay = 0.8

    def handle_error(self, *_: object) -> None:
        """A browser that hangs up is no error."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self.handle_request(b"")

    def do_POST(self) -> None:
        self.handle_request(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def handle_request(self, body: bytes) -> None:
        url = urlsplit(self.path)
        given = {name: values[0] for name, values in parse_qs(url.query).items()}
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            try:
                self.route(url.path, given, body)
            except Trouble as trouble:
                about = {"type": "about:blank", "title": "Trouble", "status": trouble.status, "detail": trouble.detail}
                self.send(json.dumps(about).encode(), "application/problem+json", trouble.status)

    def route(self, path: str, given: dict[str, str], body: bytes) -> None:
        page = resources.files("groundling.serve") / "page"
        if path == "/" or path.startswith("/page/"):
            file = page / (path.removeprefix("/page/").strip("/") or "index.html")
            return self.send(file.read_bytes(), TYPES[file.name.rpartition(".")[2]])
        self.server.asked.append(self.path)
        self.server.received.append(len(body))
        if path == "/session":
            if json.loads(body)["token"] != self.server.token:
                raise Trouble(401, "this is not the token")
            return self.send(b"{}", "application/json", cookie="session=yes; HttpOnly; SameSite=Strict; Path=/")
        if self.server.token and "session=yes" not in self.headers.get("Cookie", ""):
            raise Trouble(401, "this server asks for a token")
        if path.startswith("/pictures/") and path.endswith("/about"):
            row = int(path.split("/")[2])
            named = {**picture(row), "taken": "2019-07-31T18:05:00", "size": 2_345_678}
            return self.send(json.dumps(named).encode(), "application/json")
        if path.startswith("/pictures/"):
            row = int(path.rsplit("/")[-1])
            if row == 13:
                raise Trouble(410, "it has changed since it was indexed")
            side = 64 if int(given.get("size", 0)) <= 512 else 700
            return self.send(png(side, 60 + row * 37 % 180, 60 + row * 59 % 180, 60 + row * 83 % 180), "image/png")
        answer = getattr(self, "answer_" + path.strip("/"))(given, body)
        self.send(json.dumps(answer).encode(), "application/json")

    def answer_about(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        languages = [{"code": code, "name": name, "direction": direction} for code, name, direction in LANGUAGES]
        about = {"name": "fake", "pictures": PICTURES, "languages": languages, "model": {"name": "fake"}}
        return {**about, "captions": True, "check": self.server.check, "root": "/photos"}

    def answer_search(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        query = given["q"]
        if query.startswith("slow"):
            time.sleep(self.server.delay)
        if query == "broken":
            raise Trouble(500, "something went wrong here")
        if query == "wrong":
            raise Trouble(422, "q: this cannot be asked")
        chosen = given.get("language", "")
        k = 0 if query == "none" or given.get("folder") == "nowhere" else int(given["k"])
        found = language(chosen or language_of(query), not chosen)
        part = (k, int(given.get("offset", 0)), given.get("group") == "true")
        said = "the query looks like Spanish: the results are a guess" if query == "foreign" else ""
        return {"query": query, "language": found, "notice": said, "results": results(start_of(query), *part)}

    def answer_sample(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        return {"pictures": [picture(row) for row in range(int(given["k"]))]}

    def answer_examples(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        words = [("ar", "قطة"), ("de", "Katze"), ("en", "red heart"), ("ja", "ネコ")]
        return {
            "examples": [
                {"text": text, "language": language(code, False), "picture": picture(9)} for code, text in words
            ]
        }

    def answer_fit(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        """The longer a word, the more pictures fit it better."""
        text, name = given["text"], given.get("name", "")
        if name == "nowhere.png":
            raise Trouble(404, "no picture here is called nowhere.png")
        better = 0 if text == "dog" else 40 if "wrong" in text else 3
        best = {**picture(8), "score": 0.5, "duplicates": []} if better else None
        about = {"score": 0.4, "better": better, "best": best, "language": language(language_of(text), True)}
        return {"picture": None if body else picture(7), **about}

    def answer_similar(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        start = int(given["id"]) if "id" in given else len(body)
        return {"results": results(start, int(given["k"]), int(given.get("offset", 0)))}

    def answer_captions(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        lines = [("de", f"ein Hund, Nummer {number}", "ltr") for number in range(5)]
        lines += [("ar", "كلب على الشاطئ", "rtl"), ("ja", "浜辺の犬", "ltr")]
        return {
            "captions": [
                {"language": code, "text": text, "direction": direction, "score": 0.7 - 0.02 * place}
                for place, (code, text, direction) in enumerate(lines)
            ]
        }

    def answer_check(self, given: dict[str, str], body: bytes) -> dict[str, Any]:
        label = "contradiction" if "cat" in given["text"] else "entailment"
        shares = {"entailment": 0.1, "neutral": 0.2, "contradiction": 0.1, label: 0.7}
        return {"verdict": label, "probabilities": shares, "language": language(language_of(given["text"]), True)}

    def send(self, data: bytes, kind: str, status: int = 200, cookie: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(data)


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[Service]:
    service = Service(**options)
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        Service(port=8765).serve_forever()
