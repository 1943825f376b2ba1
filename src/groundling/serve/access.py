"""Who may ask: a bearer token, a cookie for pages, and no page of another site.

A browser's `<img>` cannot send a token, so POST /session gives a cookie for it. The cookie is not the token, which
cannot be computed from it. It is made with the token as its key, so that all servers with the same token take it, on
whatever machine, and none does when the token has changed.

A page of another site can point a name of its own at this machine ("DNS rebinding") and would then be allowed to read
what it answers. Numbers cannot be rebound, so that only names which are known are answered to.
"""

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Receive, Scope, Send

from groundling.errors import UserError
from groundling.serve.problems import MISDIRECTED, Problem

COOKIE = "groundling-session"
SHORTEST_TOKEN = 16
OPEN = re.compile(r"/(health|ready|session|page/.*)?")  # what needs no token: the page that asks for it
SAFE = ("GET", "HEAD", "OPTIONS")
HERE = ("127.0.0.1", "::1")  # where a proxy of the same machine asks from
CLOSE = {"Connection": "close"}


@dataclass(frozen=True)
class Access:
    """Attributes:
    token: what a request must know; None where all may ask.
    names: hosts that requests may be addressed to, beside numbers and localhost; None for any.
    """

    token: str | None = None
    names: frozenset[str] | None = frozenset()

    def __post_init__(self) -> None:
        if self.token is not None and (len(self.token) < SHORTEST_TOKEN or not self.token.isascii()):
            raise UserError(
                f"the token must have at least {SHORTEST_TOKEN} plain letters and digits; "
                "make one with `openssl rand -hex 16`"
            )

    def is_token(self, given: str) -> bool:
        return self.token is None or _same(given, self.token)

    def cookie(self) -> str:
        """What a browser keeps instead of the token; only asked for where there is one."""
        return hmac.digest((self.token or "").encode("ascii"), COOKIE.encode("ascii"), "sha256").hex()

    def check(self, scope: Scope) -> None:
        """Raises the problem of a request that is not answered."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not self._known(host):
            raise Problem(
                MISDIRECTED,
                f'this server does not go by the name "{_name_of(host)[:100]}"; start it with --allow-host to add one',
            )
        if b"content-length" in headers and b"transfer-encoding" in headers:  # whoever reads the other one is misled
            raise Problem(400, "give the length of the body once: Content-Length or Transfer-Encoding", CLOSE)
        origin = headers.get(b"origin")
        if scope["method"] not in SAFE and origin is not None and _site_of(origin) != host.lower():
            raise Problem(403, "this request comes from a page of another site")
        if self.token is None or OPEN.fullmatch(scope["path"]) or self._let_in(headers):
            return
        raise Problem(
            401,
            "this server asks for a token: send it as `Authorization: Bearer TOKEN`, or POST it to /session",
            {"WWW-Authenticate": "Bearer"},
        )

    def _let_in(self, headers: dict[bytes, str]) -> bool:
        scheme, _, given = headers.get(b"authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.is_token(given.strip()):
            return True
        return _same(cookie_parser(headers.get(b"cookie", "")).get(COOKIE, ""), self.cookie())

    def _known(self, host: str) -> bool:
        name = _name_of(host)
        if self.names is None or name in self.names or name == "localhost" or name.endswith(".localhost"):
            return True
        return _is_number(name)


def allowed_names(host: str, more: Iterable[str], token: str | None) -> frozenset[str] | None:
    """The names of a server that listens at `host`; with a token, one that others can reach answers to all."""
    given = {name.lower().strip(".") for name in more}
    if not given and token is not None and not is_loopback(host):
        return None
    return frozenset(given | {host.lower()})


def believed_proxies(given: Sequence[str]) -> list[str]:
    """Addresses and networks whose `X-Forwarded-For` and `-Proto` are believed.

    uvicorn would take what is neither for a name, and believe nobody.
    """
    for one in given:
        try:
            ipaddress.ip_network(one)
        except ValueError:
            raise UserError(
                f"--proxy {one}: neither an address such as 10.0.0.5 nor a network such as 10.0.0.0/8"
            ) from None
    return list(given or HERE)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """ "Localhost:8000" → "localhost", "[::1]:8000" → "[::1]"."""
    name = host if host.endswith("]") else host.rsplit(":", 1)[0] if ":" in host else host
    return name.lower().rstrip(".")


def _site_of(origin: str) -> str | None:
    """The host that an Origin names; None for what is no address."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _same(given: str, wanted: str) -> bool:
    """Compared in a time that tells nothing of either, not even their lengths."""
    first, second = (hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in (given, wanted))
    return hmac.compare_digest(first, second)


class Gate:
    """ASGI: requests that may ask go on to `app`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self.access.check(scope)
            except Problem as problem:
                return await problem.response()(scope, receive, send)
        await self.app(scope, receive, send)
