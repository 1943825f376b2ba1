"""Pictures of your own data that cannot be read are named, and skipped with their captions."""

from pathlib import Path

import caption_tables
import pytest
from caption_tables import draw_picture, good, write_table
from PIL import Image

from groundling.corpus.formats import pictures
from groundling.corpus.formats.caption_table import read
from groundling.decoding.workers import DecodeLimits, Workers
from groundling.errors import UserError

photos = caption_tables.photos


@pytest.fixture
def damaged(photos: Path) -> Path:
    """Three of five pictures are damaged, each in its own way; two captions go with the first."""
    whole = (photos / "img_0024.jpg").read_bytes()
    (photos / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (photos / "text.png").write_text("not a picture", encoding="utf-8")
    (photos / "empty.png").touch()
    names = ["beach.png", "cut.jpg", "cut.jpg", "text.png", "empty.png", "img_0024.jpg"]
    write_table(photos / "captions.csv", [good(picture=name, text=f"{i}") for i, name in enumerate(names)])
    return photos


def test_unreadable_pictures_are_listed_and_skipped_with_their_captions(damaged: Path) -> None:
    corpus, report = read(damaged)
    assert corpus.pictures.tolist() == ["beach.png", "img_0024.jpg"]
    assert corpus.texts == ["0", "5"]
    assert corpus.owners.tolist() == [0, 1]
    assert (report.bad_rows, report.bad_pictures, report.lost_captions) == (0, 3, 4)
    assert report.problems[0].startswith("cut.jpg: unreadable picture (")
    assert "truncated" in report.problems[0]
    assert report.problems[1:] == [
        "text.png: unreadable picture (not a picture of a known format)",
        "empty.png: unreadable picture (the file is empty)",
    ]
    assert "3 pictures skipped with 4 captions" in report.summary()


def test_strict_stops_at_an_unreadable_picture(damaged: Path) -> None:
    with pytest.raises(UserError, match=r"^cut\.jpg: unreadable picture \(.*truncated.*\) \(and 2 more; "):
        read(damaged, strict=True)


def test_pictures_are_not_opened_when_not_asked_for(damaged: Path) -> None:
    corpus, report = read(damaged, strict=True, check_pictures=False)
    assert (len(corpus), report.bad) == (6, 0)


def test_a_table_of_damaged_pictures_only_is_an_error(photos: Path) -> None:
    (photos / "empty.png").touch()
    write_table(photos / "captions.csv", [good(picture="empty.png")])
    with pytest.raises(UserError, match=r"no picture can be read; the first problem is empty\.png: unreadable"):
        read(photos)


def test_a_decompression_bomb_is_refused(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_picture(photos / "small.png")
    Image.new("RGB", (200, 200)).save(photos / "huge.png")
    workers = Workers(DecodeLimits(pixels=48 * 48))
    monkeypatch.setattr(pictures, "shared", lambda: workers)
    write_table(photos / "captions.csv", [good(picture="small.png"), good(picture="huge.png")])
    corpus, report = read(photos)
    assert corpus.pictures.tolist() == ["small.png"]
    assert report.problems[0].startswith("huge.png: unreadable picture (has 200 × 200 pixels, more than 2,304")
    workers.close()
