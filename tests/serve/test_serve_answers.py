"""What is asked over HTTP is what the index answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

from served import Collection, collection, problem, red_checker, square
from starlette.testclient import TestClient

from groundling.search import Index


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(scope="module")
def client(squares: Collection) -> Iterator[TestClient]:
    with squares.client(checker=red_checker()) as made:
        yield made


@pytest.mark.parametrize("asked", [{}, {"folder": "a"}, {"folder": "a/b/", "k": 2}, {"since": "1990", "until": "2000"}])
def test_search_finds_what_the_index_finds(client: TestClient, squares: Collection, asked: dict[str, str]) -> None:
    answer = client.get("/search", params={"q": "red green", **asked}).json()
    own = {name: value for name, value in asked.items() if name != "k"}
    expected = Index.open(squares.index).search("red green", int(asked.get("k", 24)), **own)  # type: ignore[arg-type]
    assert [one["name"] for one in answer["results"]] == [one.path for one in expected]  # type: ignore[union-attr]
    assert [one["score"] for one in answer["results"]] == pytest.approx([one.score for one in expected], abs=1e-6)
    assert answer["query"] == "red green"


def test_a_query_that_the_model_cannot_read_is_a_guess(
    client: TestClient, squares: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(squares.toy, "languages", ["en", "de"])
    plain = client.get("/search", params={"q": "it is red", "language": "en"}).json()
    assert (plain["guess"], plain["unknown_words"], plain["notice"]) == (False, [], "")
    foreign = client.get("/search", params={"q": "красный"}).json()
    assert foreign["language"]["code"] == "ru"
    assert foreign["guess"]
    assert "looks like Russian (ru), and the model reads" in foreign["notice"]
    assert len(foreign["results"]) == len(plain["results"])
    problem(client.get("/search", params={"q": "rouge", "language": "fr"}), 404, '"fr" is unknown to the model')


def test_the_language_is_told_with_its_direction(client: TestClient) -> None:
    guessed = client.get("/search", params={"q": "كلب على الشاطئ"}).json()["language"]
    assert guessed == {"code": "ar", "name": "Arabic", "direction": "rtl", "detected": True}
    given = client.get("/search", params={"q": "gift", "language": "DE"}).json()["language"]
    assert given == {"code": "de", "name": "German", "direction": "ltr", "detected": False}


@pytest.mark.parametrize("blank", ["", "   ", "\t\n", "\u3000"])
def test_no_words_find_nothing(client: TestClient, blank: str) -> None:
    assert client.get("/search", params={"q": blank}).json()["results"] == []


@pytest.mark.parametrize("odd", ["\x00", "\x1b[31m", "🦄", "a" * 500, "%s%n", "'; DROP TABLE", "\ufeff", "\u202e"])
def test_odd_words_are_words(client: TestClient, odd: str) -> None:
    answer = client.get("/search", params={"q": odd, "k": 3}).json()
    assert answer["query"] == odd
    assert len(answer["results"]) == 3


def test_the_id_of_a_result_leads_to_its_picture(client: TestClient, squares: Collection) -> None:
    for one in client.get("/search", params={"q": "blue", "k": 5}).json()["results"]:
        assert one["url"] == f"/pictures/{one['id']}"
        assert client.get(one["url"]).content == (squares.folder / one["name"]).read_bytes()


def test_a_picture_is_not_similar_to_itself_but_a_copy_that_is_sent_is(client: TestClient) -> None:
    first = client.get("/search", params={"q": "red", "k": 1}).json()["results"][0]
    near = client.get("/similar", params={"id": first["id"], "k": 4}).json()["results"]
    sent = client.post("/similar?k=5", content=client.get(first["url"]).content, headers={"Content-Type": "image/png"})
    assert len(near) == 4
    assert sent.json()["results"][0]["id"] == first["id"]
    assert [one["id"] for one in sent.json()["results"][1:]] == [one["id"] for one in near]


@pytest.mark.parametrize(("kind", "media"), [("PNG", "png"), ("JPEG", "jpeg"), ("WEBP", "webp"), ("GIF", "gif")])
def test_captions_of_a_picture_that_is_sent(client: TestClient, kind: str, media: str) -> None:
    data = square((255, 0, 0), kind=kind)
    found = client.post("/captions?k=2", content=data, headers={"Content-Type": f"image/{media}"}).json()["captions"]
    assert {(one["text"], one["language"], one["direction"]) for one in found} == {
        ("red", "en", "ltr"),
        ("rot", "de", "ltr"),
    }
    assert found[0]["score"] == pytest.approx(1, abs=0.01)


def test_captions_of_a_picture_of_the_index_are_those_of_its_bytes(client: TestClient) -> None:
    by_id = client.get("/captions", params={"id": 3, "k": 6}).json()["captions"]
    sent = client.post(
        "/captions?k=6", content=client.get("/pictures/3").content, headers={"Content-Type": "image/png"}
    )
    assert by_id == sent.json()["captions"]
    assert next(one for one in by_id if one["language"] == "ar")["direction"] == "rtl"


def test_check_judges_pictures_sent_and_pictures_of_the_index(client: TestClient) -> None:
    headers = {"Content-Type": "image/png"}
    asked = {"text": "it is red", "language": "en"}
    red = client.post("/check", params=asked, content=square((255, 0, 0)), headers=headers).json()
    assert red["verdict"] == "entailment"
    assert red["probabilities"] == pytest.approx({"contradiction": 0.1, "neutral": 0.2, "entailment": 0.7})
    assert red["language"] == {"code": "en", "name": "English", "direction": "ltr", "detected": False}
    blue = client.post("/check", params=asked, content=square((0, 0, 255)), headers=headers).json()
    assert blue["verdict"] == "contradiction"
    reddest = client.get("/search", params={"q": "red", "k": 1}).json()["results"][0]["id"]
    by_id = client.get("/check", params={"id": reddest, "text": "it is red"}).json()
    assert (by_id["verdict"], by_id["language"]["detected"]) == ("entailment", True)
    problem(client.get("/check", params={"id": 0, "text": "это", "language": "ru"}), 422, "ru")


def test_what_is_not_served_is_said(squares: Collection) -> None:
    with squares.client(captions=False) as client:
        about = client.get("/about").json()
        assert (about["captions"], about["check"]) == (False, False)
        headers = {"Content-Type": "image/png"}
        problem(client.get("/captions", params={"id": 0}), 404, "--captions")
        problem(client.post("/captions", content=square(), headers=headers), 404, "--captions")
        problem(client.get("/check", params={"id": 0, "text": "x"}), 404, "--check")
        problem(client.post("/check", params={"text": "x"}, content=square(), headers=headers), 404, "--check")


def test_about_health_and_metrics(squares: Collection) -> None:
    with squares.client() as client:
        about = client.get("/about").json()
        assert (about["name"], about["pictures"], about["captions"]) == ("squares", 30, True)
        assert client.get("/health").json() == {"status": "ok"}
        for _ in range(3):
            client.get("/search", params={"q": "red"})
        client.get("/no/such/1")
        client.get("/no/such/2")
        lines = client.get("/metrics").text.splitlines()
        assert 'groundling_requests_total{method="GET",route="/search",status="200"} 3.0' in lines
        assert 'groundling_requests_total{method="GET",route="other",status="404"} 2.0' in lines
        assert 'groundling_batch_size_count{queue="words"} 1.0' in lines  # the other two were remembered
        assert 'groundling_waiting{queue="words"} 0.0' in lines
        assert "groundling_pictures 30.0" in lines


@pytest.mark.parametrize(
    ("method", "path", "status", "words"),
    [
        ("GET", "/search", 422, "q: Field required"),
        ("GET", "/search?q=red&k=0", 422, "k: "),
        ("GET", "/search?q=red&k=201", 422, "k: "),
        ("GET", "/search?q=red&k=many", 422, "k: "),
        ("GET", f"/search?q={'x' * 501}", 422, "q: "),
        ("GET", "/search?q=red&language=not+a+code", 422, "language: "),
        ("GET", "/search?q=red&since=yesterday", 422, "since: "),
        ("GET", "/similar?id=30", 404, "there is no picture 30"),
        ("GET", "/similar?id=-1", 422, "id: "),
        ("GET", "/captions?id=99999999999999999999", 422, "id: "),
        ("GET", "/pictures/30", 404, "there is no picture 30"),
        ("GET", "/pictures/1.5", 422, "id: "),
        ("GET", "/pictures/30/about", 404, "there is no picture 30"),
        ("GET", "/pictures/-1/about", 422, "id: "),
        ("GET", "/pictures/0?size=100000", 422, "size: "),
        ("GET", "/nothing", 404, "/openapi.json"),
        ("GET", "/search/", 404, "/openapi.json"),
        ("GET", "/docs", 404, "/openapi.json"),
        ("PUT", "/similar", 405, "GET, HEAD, POST"),
        ("DELETE", "/search", 405, "GET, HEAD"),
        ("GET", "/page/nothing.js", 404, "no such part"),
    ],
)
def test_mistakes_are_problems(client: TestClient, method: str, path: str, status: int, words: str) -> None:
    response = client.request(method, path)
    problem(response, status, words)
    if status == 405:
        assert response.headers["allow"] == words


@pytest.mark.parametrize(
    "path", ["/health", "/search?q=red", "/pictures/0?size=64", "/", "/about", "/nothing", "/session"]
)
def test_a_head_is_that_of_the_whole_answer(client: TestClient, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    assert (head.status_code, dict(head.headers)) == (whole.status_code, dict(whole.headers))
    assert int(whole.headers["content-length"]) == len(whole.content) > 0
    assert head.content == b""


def test_a_picture_is_named_by_its_id(client: TestClient) -> None:
    found = client.get("/search", params={"q": "red", "k": 30}).json()["results"]
    for one in found:
        about = client.get(f"/pictures/{one['id']}/about").json()
        assert {name: about[name] for name in ("id", "name", "url")} == {
            name: one[name] for name in ("id", "name", "url")
        }


def test_what_breaks_inside_is_a_problem_that_tells_nothing(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    told = problem(client.get("/search", params={"q": "poison"}), 500)
    assert "cannot be encoded" not in told["detail"]
    assert "this word cannot be encoded" in caplog.text


def test_the_page_comes_with_a_strict_policy_and_from_here_only(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy
    for response in (page, client.get("/search?q=red"), client.get("/nothing"), client.get("/pictures/0")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "content-security-policy" in response.headers
    assert "http" not in client.get("/openapi.json").json().get("servers", [{}])[0].get("url", "")
    again = client.get("/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_every_part_that_the_page_names_is_there(client: TestClient) -> None:
    from groundling.serve.page_files import page_files

    for name in page_files():
        assert client.get(f"/page/{name}").status_code == 200


def test_captions_of_another_model_are_refused(squares: Collection, tmp_path: Path) -> None:
    from groundling.errors import UserError
    from groundling.search import index_captions
    from groundling.serve.service import Service

    squares.toy.fingerprint = "another"
    try:
        index_captions([("red", "en")], tmp_path / "captions", "toy")
    finally:
        squares.toy.fingerprint = "toy"
    with pytest.raises(UserError, match="another model"):
        Service(Index.open(squares.index), Index.open(tmp_path / "captions"))
    with pytest.raises(UserError, match="captions is needed"):
        Service(Index.open(squares.index), Index.open(squares.index))
