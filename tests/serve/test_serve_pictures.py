"""Pictures are given out by number, as long as they are what was indexed; nothing else ever is."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

from colours import paint
from PIL import Image
from served import Collection, collection, problem
from starlette.testclient import TestClient

from groundling.search import Index, index_pictures


@pytest.fixture
def squares(tmp_path: Path) -> Iterator[Collection]:
    with collection(tmp_path, pictures=6) as made:
        yield made


def row_of(squares: Collection, name: str) -> int:
    return Index.open(squares.index).entries.table["name"].to_pylist().index(name)


def test_the_file_itself_and_a_small_copy(squares: Collection) -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    exif[0x0112] = 6  # lies on its side
    Image.new("RGB", (400, 200), "red").save(squares.folder / "wide.jpg", exif=exif)
    Image.new("RGBA", (300, 300), (0, 0, 255, 100)).save(squares.folder / "clear.png")
    index_pictures(squares.folder, squares.index, update=True)
    with squares.client() as client:
        row = row_of(squares, "wide.jpg")
        whole = client.get(f"/pictures/{row}")
        assert whole.headers["content-type"] == "image/jpeg"
        assert whole.content == (squares.folder / "wide.jpg").read_bytes()
        small = client.get(f"/pictures/{row}?size=64")
        assert small.headers["content-type"] == "image/webp"
        with Image.open(io.BytesIO(small.content)) as image:
            assert image.size == (32, 64)
            assert not image.getexif()
        with Image.open(io.BytesIO(client.get(f"/pictures/{row_of(squares, 'clear.png')}?size=64").content)) as image:
            assert image.mode == "RGBA"
        with Image.open(io.BytesIO(client.get("/pictures/0?size=64").content)) as image:
            assert image.size == (8, 8)  # never made larger


def test_what_a_file_is_is_told_by_its_content_not_its_name(squares: Collection) -> None:
    Image.new("RGB", (5, 5)).save(squares.folder / "gif.png", "GIF")
    (squares.folder / "svg.png").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    built = index_pictures(squares.folder, squares.index, update=True)
    assert "svg.png" in built.skipped
    with squares.client() as client:
        answer = client.get(f"/pictures/{row_of(squares, 'gif.png')}")
    assert answer.headers["content-type"] == "image/gif"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


def test_a_browser_that_has_it_is_told_so_until_it_changes(squares: Collection) -> None:
    with squares.client() as client:
        for path in ("/pictures/1", "/pictures/1?size=64"):
            first = client.get(path)
            again = client.get(path, headers={"If-None-Match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["cache-control"] == "private, no-cache"
        assert client.get("/pictures/1").headers["etag"] != client.get("/pictures/1?size=64").headers["etag"]
        tag = client.get("/pictures/1").headers["etag"]
        os.utime(squares.folder / Index.open(squares.index).entries.value("name", 1))
        assert client.get("/pictures/1", headers={"If-None-Match": tag}).status_code == 200  # looked at again
        paint(squares.folder / Index.open(squares.index).entries.value("name", 1), (1, 2, 3))
        problem(client.get("/pictures/1", headers={"If-None-Match": tag}), 410, "changed")


def gone(client: TestClient, row: int) -> None:
    for path in (f"/pictures/{row}", f"/pictures/{row}?size=32"):
        problem(client.get(path), 410, "--update")


@pytest.mark.parametrize("before", [False, True], ids=["first", "after it was shown"])
def test_changed_removed_or_exchanged_files_are_gone(squares: Collection, tmp_path: Path, before: bool) -> None:
    secret = paint(tmp_path / "secret.png", (9, 9, 9))
    names = Index.open(squares.index).entries.table["name"].to_pylist()
    with squares.client() as client:
        for row in range(len(names)) if before else ():
            assert client.get(f"/pictures/{row}?size=32").status_code == 200
            assert client.get(f"/pictures/{row}").status_code == 200
        paint(squares.folder / names[0], (1, 2, 3))
        (squares.folder / names[1]).unlink()
        (squares.folder / names[2]).unlink()
        (squares.folder / names[2]).symlink_to(secret)
        copy = tmp_path / "copy.png"
        (squares.folder / names[3]).rename(copy)  # the same content, but outside
        (squares.folder / names[3]).symlink_to(copy)
        for row in range(4):
            gone(client, row)
        folder = squares.folder / "a"
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
        for row, name in enumerate(names):
            if name.startswith("a/"):
                gone(client, row)


@pytest.mark.parametrize(
    "path",
    [
        "/pictures/../secret.png",
        "/pictures/..%2Fsecret.png",
        "/pictures/%2e%2e%2fsecret.png",
        "/pictures/%2Fetc%2Fpasswd",
        "/pictures/000.png",
        "/pictures/0%00",
        "/pictures/0/../../secret.png",
        "/page/../app.py",
        "/page/..%2Fapp.py",
        "/page/%2e%2e/app.py",
        "/page/....//app.py",
    ],
)
def test_no_path_leads_to_a_file(squares: Collection, tmp_path: Path, path: str) -> None:
    paint(tmp_path / "secret.png", (9, 9, 9))
    with squares.client() as client:
        answer = client.get(path)
        assert answer.status_code in (404, 422)
        problem(answer, answer.status_code)


def test_a_folder_that_is_asked_for_is_only_compared(squares: Collection) -> None:
    with squares.client() as client:
        for folder in ("../etc", "/etc", "a/../..", "\x00"):
            assert client.get("/search", params={"q": "red", "folder": folder}).json()["results"] == []
