"""An index may name any Milvus; only one that the user has named is connected to, and nobody else gets the token."""

import json
from pathlib import Path
from typing import Any

import colours
import pytest
from colours import Toy, paint_many

from groundling.cli import main
from groundling.errors import UserError
from groundling.files import with_checksum
from groundling.search import Index, index_pictures, milvus_connection

pytest.importorskip("faiss")
pymilvus = pytest.importorskip("pymilvus")

toy = colours.toy  # a model that knows colours
EVIL, OWN = "http://evil.example:19530", "https://milvus.example:19530"


class Refused(Exception):
    """The Milvus of these tests answers nobody."""


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Whom a client was made for, with which token."""
    calls: list[tuple[str, str]] = []

    def client(uri: str, token: str = "") -> Any:
        calls.append((uri, token))
        raise Refused("nobody is here")

    monkeypatch.setattr(pymilvus, "MilvusClient", client)
    monkeypatch.setattr(milvus_connection, "_named", set())
    monkeypatch.setenv("MILVUS_TOKEN", "secret")
    monkeypatch.delenv("MILVUS_URI", raising=False)
    return calls


@pytest.fixture
def index(toy: Toy, tmp_path: Path, called: list[tuple[str, str]]) -> Path:
    """An index of somebody else, whose manifest is whole and names a Milvus of his."""
    paint_many(tmp_path / "photos", 3)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    names(tmp_path / "index", EVIL)
    return tmp_path / "index"


def names(index: Path, uri: str) -> None:
    manifest = json.loads((index / "manifest.json").read_text())
    manifest.pop("checksum")
    manifest["store"] = {"name": "milvus", "uri": uri, "collection": "theirs"}
    manifest["vectors"] = None
    (index / "manifest.json").write_text(json.dumps(with_checksum(manifest)))


def test_nobody_is_called_whom_the_user_has_not_named(index: Path, called: list[tuple[str, str]]) -> None:
    for store in (None, "faiss", f"milvus:{OWN}", f"milvus:{EVIL}/", f"milvus:{EVIL[:-1]}"):
        with pytest.raises(UserError, match=f"names a Milvus at {EVIL}, which you have not; .* --store milvus:{EVIL}"):
            Index.open(index, store=store)
    for update in ({}, {"store": f"milvus:{OWN}"}):
        with pytest.raises(UserError, match="which you have not"):
            index_pictures(None, index, update=True, **update)
    assert called == []


@pytest.mark.parametrize(
    "command", [["search", "INDEX", "red"], ["serve", "INDEX", "--port", "0"], ["index", "--update", "--out", "INDEX"]]
)
def test_every_command_that_opens_it_says_so_in_one_sentence(
    index: Path, called: list[tuple[str, str]], command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(index) if part == "INDEX" else part for part in command])
    assert ended.value.code == 2
    assert f"names a Milvus at {EVIL}" in capsys.readouterr().err
    assert called == []


def test_whom_the_user_has_named_gets_the_token(
    index: Path, called: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=f"Milvus at {EVIL} does not answer; check that"):
        Index.open(index, store=f"milvus:{EVIL}")
    assert called == [(EVIL, "secret")]
    monkeypatch.setattr(milvus_connection, "_named", set())
    monkeypatch.setenv("MILVUS_URI", f"{OWN}, {EVIL}")
    with pytest.raises(UserError, match=f"Milvus at {EVIL} does not answer; check that"):
        Index.open(index)
    assert called[1:] == [(EVIL, "secret")]
    names(index, "http://other.example:19530")
    with pytest.raises(UserError, match="which you have not"):
        Index.open(index)


def test_no_file_elsewhere_is_opened_or_made_for_an_index(
    index: Path, called: list[tuple[str, str]], tmp_path: Path
) -> None:
    elsewhere = tmp_path / "home" / "places.db"
    elsewhere.parent.mkdir()
    elsewhere.write_text("another program's")
    for uri in (str(elsewhere), "../home/places.db", "../new/made.db", "notes.txt"):
        (index / "notes.txt").touch()
        names(index, uri)
        with pytest.raises(UserError, match=r"which you have not|no such Milvus file"):
            Index.open(index)
        with pytest.raises(UserError, match="which you have not"):
            index_pictures(None, index, update=True)
    assert called == []
    assert not (tmp_path / "new").exists()
    names(index, "../home/places.db")
    with pytest.raises(UserError, match=r"cannot be opened as a Milvus file \(nobody is here\)"):
        Index.open(index, store=f"milvus:{elsewhere}")
    assert called == [(str(elsewhere), "")]  # and no file gets a token


def test_a_file_of_the_index_itself_needs_no_word(index: Path, called: list[tuple[str, str]]) -> None:
    names(index, "milvus.db")
    (index / "milvus.db").touch()
    with pytest.raises(UserError, match=r"cannot be opened as a Milvus file \(nobody is here\)"):
        Index.open(index)
    assert called == [(str((index / "milvus.db").resolve()), "")]
