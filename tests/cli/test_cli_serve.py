"""`groundling serve`: what it refuses before it listens, and the demo that it serves without being told more."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

sys.path.append(str(Path(__file__).parent.parent / "search"))

from colours import Toy, paint, paint_many

from groundling.corpus import Corpus
from groundling.search import Index, index, index_captions, index_pictures, index_request
from groundling.serve import demo, server

own_ground = commands.own_ground  # each test in a folder of its own


@pytest.fixture
def toy(own_ground: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    made = Toy(own_ground / "encoded.log")
    for module in (index, index_request):
        monkeypatch.setattr(module, "load", lambda *_, **__: made)
    monkeypatch.delenv("GROUNDLING_TOKEN", raising=False)
    return made


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The applications that would have been served."""
    apps: list[Any] = []

    def run(app: Any, taken: Any, ready: Any, limits: Any, proxies: Any) -> None:
        apps.append(app)
        ready()

    monkeypatch.setattr(server, "run", run)
    yield apps


@pytest.fixture
def squares(own_ground: Path, toy: Toy) -> Path:
    paint_many(own_ground / "squares", 4)
    index_pictures(own_ground / "squares", own_ground / "index", "toy")
    index_captions([("red", "en")], own_ground / "captions", "toy")
    return own_ground


def test_an_index_is_served_on_this_machine(squares: Path, served: list[Any]) -> None:
    said = call("serve", "index", "--port", 0)
    assert said.code == 0
    assert said.out.startswith("4 pictures can be searched at http://127.0.0.1:")
    told = call("serve", "index", "--captions", "captions", "--port", 0, "--json").json
    assert told["url"].startswith("http://127.0.0.1:")
    assert (told["pictures"], told["token"]) == (4, False)
    assert len(served) == 2


def test_mistakes_are_one_sentence(squares: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(squares)
    serve = ("serve", "index", "--port", 0)
    assert_one_sentence(call("serve", "nowhere", "--port", 0), "nowhere: no such index")
    assert_one_sentence(call("serve", "captions", "--port", 0), "name one of pictures")
    assert_one_sentence(call(*serve, "--captions", "index"), "where one of captions is needed")
    assert_one_sentence(call("serve", "--port", 0), "run `groundling demo` first")
    assert_one_sentence(call("serve", "--captions", "captions", "--port", 0), "--captions goes with an index")
    assert_one_sentence(call(*serve, "--host", "0.0.0.0"), "give a token")  # noqa: S104
    assert_one_sentence(call(*serve, "--token-file", "nowhere"), "nowhere: cannot be read")
    (squares / "token").write_text("\n")
    assert_one_sentence(call(*serve, "--token-file", "token"), "token: is empty")
    (squares / "token").write_text("short")
    assert_one_sentence(call(*serve, "--token-file", "token"), "at least 16")
    (squares / "token").unlink()
    assert_one_sentence(call(*serve, "--check", "nowhere"), "nowhere")
    for wrong in ("*", "nginx", "10.0.0.5/8", "10.0.0.1,10.0.0.2"):
        words = f"--proxy {wrong}: neither an address such as 10.0.0.5 nor a network such as 10.0.0.0/8"
        assert_one_sentence(call(*serve, "--proxy", wrong), words)
    monkeypatch.setenv("GROUNDLING_PROXY", "10.0.0.5 nginx")
    assert_one_sentence(call(*serve), "--proxy nginx: neither")
    monkeypatch.delenv("GROUNDLING_PROXY")
    with server.listen("127.0.0.1", 0) as taken:
        taken.listen()
        assert_one_sentence(call("serve", "index", "--port", taken.getsockname()[1]), "choose another --host or --port")
    assert served == []
    assert content(squares) == before


@pytest.mark.filterwarnings("ignore")
def test_a_file_for_one_process_is_not_served_by_several(squares: Path, served: list[Any]) -> None:
    """Before, each of them but the first died of it, again and again."""
    pytest.importorskip("milvus_lite")
    index_pictures(squares / "squares", squares / "lite", "toy", store="milvus:")
    words = "--workers 2: lite is in a Milvus Lite file, which one process at a time can open"
    assert_one_sentence(call("serve", "lite", "--port", 0, "--workers", 2), words)
    assert call("serve", "lite", "--port", 0).code == 0 and len(served) == 1


def test_others_are_let_in_with_a_token_or_when_one_says_so(
    squares: Path, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    everywhere = ("serve", "index", "--port", 0, "--host", "0.0.0.0")  # noqa: S104
    assert call(*everywhere, "--no-token").code == 0
    monkeypatch.setenv("GROUNDLING_TOKEN", "correct-horse-battery")
    assert call(*everywhere, "--json").json["token"] is True
    monkeypatch.delenv("GROUNDLING_TOKEN")
    (squares / "token").write_text("correct-horse-battery\n")
    assert call(*everywhere, "--token-file", "token", "--json").json["token"] is True
    assert len(served) == 3


def test_the_demo_is_indexed_once(
    own_ground: Path, toy: Toy, served: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = paint_many(own_ground / "emoji", 5)
    corpus = Corpus(
        name="emoji",
        pictures=np.array(names),
        splits=np.array(["train"] * 5),
        owners=np.arange(5).repeat(2),
        languages=np.array(["en", "de"] * 5),
        texts=[f"{word} {row}" for row in range(5) for word in ("red", "rot")],
        origins=np.array(["human"] * 10),
        root=own_ground / "emoji",
    )
    run = own_ground / "runs" / "demo"
    run.mkdir(parents=True)
    (run / "recipe.json").write_text('{"name": "demo", "corpus": {"name": "emoji"}, "system": {"name": "bag"}}')
    (run / "best.safetensors").write_bytes(b"")
    drawn: list[object] = []
    monkeypatch.setattr(demo, "load_corpus", lambda settings: drawn.append(settings) or corpus)
    monkeypatch.setattr(demo, "load", lambda *_, **__: toy)
    assert call("serve", "--port", 0).out.startswith("5 pictures")
    assert (toy.encoded, len(drawn)) == (5, 1)
    assert len(Index.open(run / demo.CAPTIONS)) == 10
    assert call("serve", "--port", 0).code == 0
    assert (toy.encoded, len(drawn), len(served)) == (5, 1, 2)  # all was there
    (run / demo.CAPTIONS / "manifest.json").unlink()  # as after a kill between the two
    paint(own_ground / "emoji" / "new.png", (1, 2, 3))
    assert call("serve", "--port", 0).out.startswith("6 pictures")
    assert toy.encoded == 6


def test_the_demo_describes_pictures_by_their_names() -> None:
    corpus = Corpus(
        name="emoji",
        pictures=np.array(["a.png", "b.png"]),
        splits=np.array(["train"] * 2),
        owners=np.array([0, 0, 0, 1, 1]),
        languages=np.array(["en", "de", "en", "en", "en"]),
        texts=["red heart", "rotes Herz", "love", "dog", "pet"],
        origins=np.array(["human"] * 5),
    )
    assert demo.names(corpus) == [("red heart", "en"), ("rotes Herz", "de"), ("dog", "en")]
