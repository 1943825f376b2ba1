"""An index is whole, or an error says what is wrong with it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import colours
import pytest
from colours import Toy, paint_many

from groundling.checksums import sha256
from groundling.errors import UserError
from groundling.search import Index, index_pictures

pytest.importorskip("faiss")

toy = colours.toy  # a model that knows colours


@pytest.fixture
def out(toy: Toy, tmp_path: Path) -> Path:
    paint_many(tmp_path / "photos", 12)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    return tmp_path / "index"


def one(out: Path, start: str) -> Path:
    return next(path for path in out.iterdir() if path.name.startswith(start))


def edit(out: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((out / "manifest.json").read_text())
    change(manifest)
    manifest.pop("checksum", None)
    (out / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("start", ["vectors-", "entries-"])
def test_a_changed_shortened_or_missing_file_is_named(out: Path, start: str) -> None:
    path = one(out, start)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole[:40] + bytes([whole[40] ^ 1]) + whole[41:], b""):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=f"{path.name}: damaged .* build the index again"):
            Index.open(out)
    path.unlink()
    with pytest.raises(UserError, match=f"{path.name}: no such file; the index is not whole"):
        Index.open(out)


def test_a_damaged_manifest_is_named(out: Path) -> None:
    whole = (out / "manifest.json").read_text()
    for place in range(10, len(whole), 97):
        (out / "manifest.json").write_text(f"{whole[:place]}{chr(ord(whole[place]) ^ 1)}{whole[place + 1 :]}")
        with pytest.raises(UserError, match=r"manifest\.json: "):
            Index.open(out)
    (out / "manifest.json").write_text(whole)
    edit(out, lambda manifest: None)  # as of an index from before, whose manifest nothing vouches for
    text = (out / "manifest.json").read_text()
    for damaged, words in {
        text[:-20]: "manifest.json: not valid JSON",
        "[]": "manifest.json: ",
        text.replace('"count": 12', '"count": 13'): "the table has 12 entries, not 13",
        text.replace('"format": 1', '"format": 2'): "format 2, and this groundling reads 1",
        text.replace('"backbone"', '"backbones"'): "manifest.json: ",
        text.replace('"name": "vectors-', '"name": "../vectors-'): "manifest.json: vectors.name",
        text.replace(
            '"dimensions": 8', '"dimensions": 9'
        ): "12 vectors of 8 numbers, where the table has 12 entries of 9",
    }.items():
        assert damaged != text
        (out / "manifest.json").write_text(damaged)
        with pytest.raises(UserError, match=words):
            Index.open(out)
    (out / "manifest.json").unlink()
    with pytest.raises(UserError, match="not an index"):
        Index.open(out)
    with pytest.raises(UserError, match="no such index"):
        Index.open(out / "gone")


def test_vectors_of_another_index_are_not_taken_for_its_own(out: Path, toy: Toy, tmp_path: Path) -> None:
    paint_many(tmp_path / "others", 7)
    index_pictures(tmp_path / "others", tmp_path / "other", "toy")
    path = one(out, "vectors-")
    shutil.copy(one(tmp_path / "other", "vectors-"), path)
    edit(out, lambda manifest: manifest["vectors"].update(sha256=sha256(path)))  # even one that vouches for it
    with pytest.raises(UserError, match="7 vectors of 8 numbers, where the table has 12"):
        Index.open(out)
    path.write_bytes(b"no index at all")
    edit(out, lambda manifest: manifest["vectors"].update(sha256=sha256(path)))
    with pytest.raises(UserError, match="FAISS cannot read it"):
        Index.open(out)


def test_an_update_of_a_damaged_index_says_so(out: Path) -> None:
    one(out, "vectors-").write_bytes(b"x")
    with pytest.raises(UserError, match="build the index again"):
        index_pictures(None, out, update=True)


def test_what_arrow_says_of_a_table_is_one_sentence(out: Path) -> None:
    path = one(out, "entries-")
    whole = path.read_bytes()
    for place in range(4, len(whole) - 8, len(whole) // 40):
        path.write_bytes(whole[:place] + b"\xff\xff\xff\xff" + whole[place + 4 :])
        edit(out, lambda manifest: manifest["entries"].update(sha256=sha256(path)))
        try:
            Index.open(out)
        except UserError as error:
            assert "\n" not in str(error)
