"""Walking a folder never leaves it, and reading has limits."""

import os
from pathlib import Path

import pytest
from colours import paint

from groundling.errors import UserError
from groundling.search import walk as walking
from groundling.search.walk import Unreadable, read, walk


def test_pictures_are_found_in_order_and_hidden_and_other_files_are_not(tmp_path: Path) -> None:
    for name in ("b.png", "a/z.jpg", "a/c.JPEG", ".hidden.png", ".thumbs/x.png", "a.webp", "z.gif"):
        paint(tmp_path / name, (1, 2, 3), format="PNG")
    for name in ("notes.txt", "a/more.TXT", "a/film.mov", "README"):
        (tmp_path / name).write_text("no picture")
    for name in ("old.bmp", "scan.TIF", "raw.NEF"):
        (tmp_path / name).write_bytes(b"like a picture by its name")
    found = walk(tmp_path)
    ours = ["a.webp", "b.png", "old.bmp", "raw.NEF", "scan.TIF", "z.gif", "a/c.JPEG", "a/z.jpg"]
    assert list(found.pictures) == ours
    assert found.skipped == {}
    assert found.others == {".txt": 2, ".mov": 1, "": 1}
    assert walking.named_counts(found.others) == "2 .txt, 1 without an ending, 1 .mov"
    assert walking.named_counts(found.others, most=1) == "2 .txt, 2 others"
    assert found.pictures["b.png"].size == (tmp_path / "b.png").stat().st_size


def test_links_are_not_followed_wherever_they_lead(tmp_path: Path) -> None:
    photos, outside = tmp_path / "photos", tmp_path / "outside"
    paint(photos / "mine.png", (1, 2, 3))
    secret = paint(outside / "secret.png", (9, 9, 9))
    (photos / "stolen.png").symlink_to(secret)
    (photos / "way-out").symlink_to(outside)
    (photos / "round").symlink_to(photos)  # would never end
    (photos / "again.png").symlink_to(photos / "mine.png")
    (photos / "nowhere.png").symlink_to(photos / "gone.png")
    found = walk(photos)
    assert list(found.pictures) == ["mine.png"]
    assert found.links == 5


def test_what_becomes_a_link_after_the_walk_is_not_read_either(tmp_path: Path) -> None:
    photos, outside = tmp_path / "photos", tmp_path / "outside"
    paint(photos / "sub" / "a.png", (1, 2, 3))
    paint(photos / "b.png", (1, 2, 3))
    secret = paint(outside / "a.png", (9, 9, 9))
    assert read(photos, "sub/a.png")[0] == (photos / "sub" / "a.png").read_bytes()
    (photos / "sub" / "a.png").unlink()
    (photos / "sub").rmdir()
    (photos / "sub").symlink_to(outside)
    (photos / "b.png").unlink()
    (photos / "b.png").symlink_to(secret)
    for path in ("sub/a.png", "b.png", "../outside/a.png", str(secret)):
        with pytest.raises(Unreadable):
            read(photos, path)


def test_a_root_that_is_itself_reached_by_a_link_is_fine(tmp_path: Path) -> None:
    paint(tmp_path / "disk" / "a.png", (1, 2, 3))
    (tmp_path / "photos").symlink_to(tmp_path / "disk")
    assert list(walk(tmp_path / "photos").pictures) == ["a.png"]
    assert read(tmp_path / "photos", "a.png")[0] == (tmp_path / "disk" / "a.png").read_bytes()


def test_a_pipe_named_like_a_picture_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert walk(tmp_path).skipped == {"pipe.png": "not a regular file"}
    with pytest.raises(Unreadable, match="not a regular file"):
        read(tmp_path, "pipe.png")


def test_limits_and_names_that_cannot_be_written_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint(tmp_path / "a.png", (1, 2, 3))
    (tmp_path / "empty.png").touch()
    with pytest.raises(Unreadable, match="empty"):
        read(tmp_path, "empty.png")
    monkeypatch.setattr(walking, "LARGEST", 10)
    with pytest.raises(Unreadable, match="larger than"):
        read(tmp_path, "a.png")
    (tmp_path / "empty.png").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.png"))
    found = walk(tmp_path)
    assert list(found.pictures) == ["a.png"]
    assert list(found.skipped.values()) == ["its name is not UTF-8; rename it"]
    with pytest.raises(UserError, match="no such folder"):
        walk(tmp_path / "gone")
