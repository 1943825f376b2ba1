"""Who is let in, and who is not."""

from collections.abc import Iterator

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

from served import Collection, collection, problem, square

from groundling.errors import UserError
from groundling.serve.access import COOKIE, Access, allowed_names, is_loopback

TOKEN = "correct-horse-battery-staple"  # noqa: S105
PNG = {"Content-Type": "image/png"}


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("access"), pictures=3) as made:
        yield made


CLOSED = [
    "/search?q=red",
    "/similar?id=0",
    "/captions?id=0",
    "/pictures/0",
    "/about",
    "/metrics",
    "/openapi.json",
    "/x",
]


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer é"},
        {"Cookie": f"{COOKIE}={TOKEN}"},
        {"Cookie": f"{COOKIE}="},
    ],
)
def test_without_the_token_nothing_is_answered(squares: Collection, path: str, headers: dict[str, str]) -> None:
    with squares.client(Access(TOKEN)) as client:
        raw = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = client.get(path, headers=raw)  # type: ignore[arg-type]
        problem(answer, 401, "token")
        assert answer.headers["www-authenticate"] == "Bearer"


def test_the_page_and_the_health_need_no_token(squares: Collection) -> None:
    with squares.client(Access(TOKEN)) as client:
        for path in ("/", "/health", "/ready", "/page/index.html"):
            assert client.get(path).status_code == 200


def test_the_token_opens_everything(squares: Collection) -> None:
    with squares.client(Access(TOKEN)) as client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get("/search?q=red", headers=headers).status_code == 200
        assert client.get("/search?q=red", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200
        assert client.get("/x", headers=headers).status_code == 404


def test_a_page_gets_a_cookie_for_the_token(squares: Collection) -> None:
    with squares.client(Access(TOKEN)) as client:
        problem(client.post("/session", json={"token": "wrong"}), 401)
        for wrong in (b"", b"[]", b'{"token": 3}', b"{", b'"token"', b"\xff"):
            problem(client.post("/session", content=wrong), 422, "JSON")
        problem(client.get("/pictures/0"), 401)
        answer = client.post("/session", json={"token": TOKEN})
        assert answer.status_code == 204
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert TOKEN not in cookie
        assert client.get("/pictures/0").status_code == 200  # the client has kept it
        assert client.post("/similar", content=square(), headers=PNG).status_code == 200
    kept = {"Cookie": cookie.split(";")[0]}
    with squares.client(Access(TOKEN)) as another:  # as behind a balancer, or after a restart
        assert another.get("/pictures/0", headers=kept).status_code == 200
        problem(another.get("/pictures/0", headers={"Cookie": kept["Cookie"][:-1] + "x"}), 401)
    with squares.client(Access(TOKEN + "0")) as changed:
        problem(changed.get("/pictures/0", headers=kept), 401)


def test_where_no_token_is_asked_for_any_is_fine(squares: Collection) -> None:
    with squares.client() as client:
        answer = client.post("/session", json={"token": "whatever"})
        assert answer.status_code == 204
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "LocalHost.", "127.0.0.1:1", "[::1]:8000", "192.168.1.7"]
)
def test_numbers_and_localhost_cannot_be_rebound(squares: Collection, host: str) -> None:
    with squares.client() as client:
        assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", ""]
)
def test_names_of_others_are_not_answered_to(squares: Collection, host: str) -> None:
    with squares.client() as client:
        for path in ("/search?q=red", "/health", "/"):
            problem(client.get(path, headers={"Host": host}), 421, "--allow-host")
    with squares.client(Access(names=frozenset({"evil.example"}))) as client:
        answer = client.get("/health", headers={"Host": host})
        assert answer.status_code == (200 if host.startswith("evil") else 421)


def test_names_of_a_server_that_others_can_reach() -> None:
    assert allowed_names("127.0.0.1", [], None) == {"127.0.0.1"}
    assert allowed_names("127.0.0.1", ["Photos.Example."], TOKEN) == {"127.0.0.1", "photos.example"}
    assert allowed_names("0.0.0.0", [], TOKEN) is None  # noqa: S104  # the token is what keeps others out
    assert allowed_names("0.0.0.0", [], None) == {"0.0.0.0"}  # noqa: S104
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "photos")] == [False] * 4  # noqa: S104


def test_pages_of_other_sites_cannot_send(squares: Collection) -> None:
    with squares.client() as client:
        for origin in ("http://evil.example", "null", "http://localhost:9999", "http://localhost.evil.example"):
            answer = client.post("/similar", content=square(), headers={**PNG, "Origin": origin})
            problem(answer, 403, "another site")
        assert (
            client.post("/similar", content=square(), headers={**PNG, "Origin": "http://localhost"}).status_code == 200
        )
        answer = client.get("/search?q=red", headers={"Origin": "http://evil.example"})
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("token", ["", "short", "ümlaut-and-long-enough"])
def test_a_poor_token_is_refused(token: str) -> None:
    with pytest.raises(UserError, match="at least 16"):
        Access(token)
