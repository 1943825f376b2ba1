"""Pictures in tar shards and at addresses: which they are, and their bytes, without a Ray."""

import io
import re
import tarfile
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from groundling.distributed import sources
from groundling.distributed.sources import Item, files_below, members, read, shards
from groundling.errors import UserError


def write_tar(path: str, contents: dict[str, bytes]) -> None:
    with fsspec.open(path, "wb") as file, tarfile.open(fileobj=file, mode="w") as tar:
        for name, data in contents.items():
            facts = tarfile.TarInfo(name)
            facts.size = len(data)
            tar.addfile(facts, io.BytesIO(data))


CONTENTS = {"a/1.jpg": b"one" * 100, "a/1.txt": b"a caption", "b/2.PNG": b"two", "c/3.jpg": b"three" * 700}


def test_numbers_and_stars_are_filled_in(tmp_path: Path) -> None:
    assert shards("x/{08..10}.tar") == ["x/08.tar", "x/09.tar", "x/10.tar"]
    assert shards("{0..1}-{2..3}.tar") == ["0-2.tar", "0-3.tar", "1-2.tar", "1-3.tar"]
    assert shards("photos") == []
    for name in ("b.tar", "a.tar", "c.txt"):
        (tmp_path / name).touch()
    assert shards(f"{tmp_path}/*.tar") == [f"{tmp_path}/a.tar", f"{tmp_path}/b.tar"]
    for wrong, words in ((f"{tmp_path}/x*.tar", "no such shards"), ("{5..2}.tar", "not a range of shards")):
        with pytest.raises(UserError, match=words):
            shards(wrong)


@pytest.mark.parametrize("place", ["memory://bucket/s-000.tar", "FOLDER/s-000.tar", "file://FOLDER/s-000.tar"])
def test_members_are_read_as_they_were_written(place: str, tmp_path: Path) -> None:
    address = place.replace("FOLDER", str(tmp_path))
    write_tar(address, CONTENTS)
    found = members(address)
    assert [item.name for item in found] == ["s-000.tar/a/1.jpg", "s-000.tar/b/2.PNG", "s-000.tar/c/3.jpg"]
    expected = [CONTENTS[item.name.partition("/")[2]] for item in found]
    assert [data for _, data in read(found)] == expected
    assert [data for _, data in read(found[::-1])] == expected[::-1]  # in any order


def test_members_that_lie_together_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tar("memory://bucket/t.tar", {f"{number}.jpg": bytes([65 + number]) * 10 for number in range(6)})
    found = members("memory://bucket/t.tar")
    system, asked = fsspec.filesystem("memory"), []
    plain = type(system).cat_file

    def cat_file(self: object, path: str, **part: int) -> bytes:
        asked.append(part)
        return plain(self, path, **part)

    monkeypatch.setattr(type(system), "cat_file", cat_file)
    assert [data for _, data in read([*found[:3], *found[5:]])] == [b"A" * 10, b"B" * 10, b"C" * 10, b"F" * 10]
    assert len(asked) == 1
    monkeypatch.setattr(sources, "GAP", 600)  # a header and what fills up the last block, and not one member more
    list(read([*found[:3], *found[5:]]))
    assert len(asked) == 1 + 4  # content, filling (502) and header (512) are further apart than that


class VersionedFiles(MemoryFileSystem):
    """What s3fs is to fsspec: the version of an object comes before the first byte that is asked for."""

    protocol = "versioned"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace("versioned://", "memory://")))

    def cat_file(
        self, path: str, version_id: str | None = None, start: int | None = None, end: int | None = None
    ) -> bytes:
        assert version_id is None, "there are no versions here"
        return super().cat_file(path, start, end)


def test_a_store_whose_calls_have_another_order_is_read() -> None:
    fsspec.register_implementation("versioned", VersionedFiles, clobber=True)
    write_tar("versioned://bucket/v.tar", CONTENTS)
    fsspec.filesystem("versioned").pipe_file("/bucket/photos/1.jpg", b"whole")
    found = [*members("versioned://bucket/v.tar"), *files_below("versioned://bucket/photos")]
    expected = [CONTENTS[name] for name in ("a/1.jpg", "b/2.PNG", "c/3.jpg")]
    assert [data for _, data in read(found)] == [*expected, b"whole"]


def test_what_is_no_picture_or_hides_or_would_command_a_terminal_is_left_alone(tmp_path: Path) -> None:
    odd = {".x/1.jpg": b"x", "d/.2.jpg": b"x", "3.jpg\n4.jpg": b"x", "5.exe": b"x", "../6.jpg": b"kept"}
    write_tar(f"{tmp_path}/odd.tar", odd)
    with tarfile.open(tmp_path / "odd.tar", "a") as tar:
        link = tarfile.TarInfo("7.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    assert [item.name for item in members(f"{tmp_path}/odd.tar")] == []


def test_files_below_an_address() -> None:
    system = fsspec.filesystem("memory")
    for name in ("x/1.jpg", "x/deep/2.png", "x/.hidden/3.jpg", "x/4.txt"):
        system.pipe_file(f"/photos-here/{name}", name.encode())
    found = files_below("memory://photos-here/x")
    assert [(item.name, item.size) for item in found] == [("1.jpg", 7), ("deep/2.png", 12)]
    assert [data for _, data in read(found)] == [b"x/1.jpg", b"x/deep/2.png"]
    with pytest.raises(UserError, match="no pictures in it"):
        files_below("memory://photos-here/nothing")
    with pytest.raises(UserError, match="cannot be read here"):
        files_below("nosuch://bucket/x")


def test_what_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "grown.jpg").write_bytes(b"12345")
    (tmp_path / "large.jpg").write_bytes(b"123456789")
    monkeypatch.setattr(sources, "LARGEST", 8)
    names = {"empty.jpg": -1, "grown.jpg": 4, "gone.jpg": -1, "large.jpg": -1}
    items = [Item(name, str(tmp_path / name), size=size) for name, size in names.items()]
    said = {item.name: data for item, data in read(items)}
    assert said["empty.jpg"] == "the file is empty"
    assert said["grown.jpg"] == "changed while it was being read"
    assert "No such file" in said["gone.jpg"]
    assert said["large.jpg"] == "larger than 0 MB"
    (tmp_path / "cut.tar").write_bytes(b"no tar file at all" * 100)
    with pytest.raises(UserError, match=r"cut.tar: not a readable tar file"):
        members(str(tmp_path / "cut.tar"))


def test_what_an_object_store_says_in_its_own_way_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore's errors, for one, are no OSError: without credentials there was a traceback."""

    class NoCredentials(Exception):
        pass

    def refuses(*_: object, **__: object) -> None:
        raise NoCredentials("Unable to locate credentials\nand more")

    write_tar("memory://bucket/u.tar", CONTENTS)
    found = members("memory://bucket/u.tar")
    for name in ("find", "info", "glob", "cat_file"):
        monkeypatch.setattr(type(fsspec.filesystem("memory")), name, refuses)
    for ask, address in ((files_below, "bucket/photos"), (members, "bucket/u.tar"), (shards, "bucket/*.tar")):
        with pytest.raises(UserError, match=rf"^memory://{re.escape(address)}: .*\(Unable to locate credentials\)"):
            ask(f"memory://{address}")
    assert {why for _, why in read(found)} == {"Unable to locate credentials"}
