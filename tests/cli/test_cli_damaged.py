"""Bad rows and unreadable pictures: named, counted and left out, or with --strict the end of it."""

import csv
from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call
from shapes import draw_shapes, write_table

own_ground = commands.own_ground  # each test in a folder of its own


BAD_ROWS = [
    ["png/rde-square-0.png", "en", "a red square", "train"],
    ["png/red-square-0.png", "en", "  ", "train"],
    ["png/red-square-0.png", "en", "a red square", "nope"],
]


@pytest.fixture
def damaged(own_ground: Path) -> Path:
    """Eight good pictures with sixteen captions, three bad rows, and a picture with two captions cut in half."""
    rows = draw_shapes(own_ground / "shapes")[:18]
    write_table(own_ground / "shapes", [*rows[:5], *BAD_ROWS, *rows[5:]])
    cut = own_ground / "shapes" / rows[17][0]
    cut.write_bytes(cut.read_bytes()[:-80])
    return own_ground / "shapes"


def test_bad_rows_and_pictures_are_listed_counted_and_left_out(damaged: Path) -> None:
    facts = call("corpus", "build", damaged, "--out", "corpus", "--json").json
    assert facts["skipped"] == {"rows": 3, "pictures": 1, "captions": 2}
    assert (facts["pictures"], facts["captions"]) == (8, 16)
    problems = facts["problems"]
    assert len(problems) == 4
    assert problems[0].startswith('captions.csv:7: no picture named "png/rde-square-0.png"')
    assert '(did you mean "png/red-square-0.png"?)' in problems[0]
    assert problems[1].startswith("captions.csv:8: ")
    assert problems[2].startswith("captions.csv:9: ")
    assert problems[3].startswith("png/black-square-0.png: unreadable picture")
    said = call("corpus", "build", damaged, "--out", "again")
    assert said.code == 0
    assert said.err.splitlines()[:5] == [*problems, "4 problems, left out"]
    assert "Written to again" in said.out
    assert "Left out when it was built" in call("corpus", "inspect", "again").out


def test_strict_stops_at_the_first_problem_and_writes_nothing(damaged: Path, own_ground: Path) -> None:
    said = call("corpus", "build", damaged, "--out", "corpus", "--strict")
    assert_one_sentence(said, 'captions.csv:7: no picture named "png/rde-square-0.png"')
    assert "3 more" in said.err or "2 more" in said.err
    assert not (own_ground / "corpus").exists()
    rows = [row for row in csv.reader((damaged / "captions.csv").open(encoding="utf-8")) if row not in BAD_ROWS][1:]
    write_table(damaged, rows)
    said = call("corpus", "build", damaged, "--out", "corpus", "--strict")
    assert_one_sentence(said, "png/black-square-0.png: unreadable picture")
    assert not (own_ground / "corpus").exists()


def test_a_picture_lost_after_the_corpus_was_built_is_counted_by_features(damaged: Path) -> None:
    call("corpus", "build", damaged, "--out", "corpus")
    (damaged / "png/red-circle-0.png").unlink()
    facts = call("features", "corpus", "--size", 32, "--out", "array", "--json").json
    assert facts["skipped"] == ["png/red-circle-0.png"]
    assert facts["pictures"] == 7
    assert np.load("array/features.npy").shape == (7, 1280)
    assert len(Path("array/names.txt").read_text().splitlines()) == 7
    said = call("features", "corpus", "--size", 32)
    assert "png/red-circle-0.png: cannot be read, skipped" in said.err
    assert "7 pictures × 1280 (efficientnet-lite0), 1 skipped" in said.out
    assert_one_sentence(call("features", "corpus", "--size", 32, "--strict"), "red-circle-0.png")
    for path in (damaged / "png").iterdir():
        path.unlink()
    said = call("features", "corpus", "--size", 32, "--out", "none")
    assert_one_sentence(said, "corpus: none of its 8 pictures can be read, the first of them png/")
    assert not Path("none").exists()


def test_why_pictures_at_an_address_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from groundling.vision.ray_features import Found

    refused = {f"{number}.jpg": "Unable to locate credentials" for number in range(6)}
    found = Found({"a.jpg": bytes(32)}, {**refused, "b.jpg": "not a picture"}, 1, Path("cache"), 1280)
    monkeypatch.setattr("groundling.vision.from_settings.source_features", lambda *_: found)
    said = call("features", "s3://bucket/photos", "--ray", "local")
    assert said.err.splitlines() == [
        "6 files such as 0.jpg: Unable to locate credentials, skipped",
        "b.jpg: not a picture, skipped",
    ]
    assert said.out.startswith("1 pictures × 1280 (efficientnet-lite0), 7 skipped")
    assert call("features", "s3://bucket/photos", "--ray", "local", "--json").json["reasons"] == found.failed
    for failed, words in (
        (refused, "none of its 6 pictures can be read, the first of them 0.jpg: Unable to locate credentials"),
        ({}, "no pictures in it"),
    ):
        found = Found({}, failed, 0, Path("cache"), 1280)
        assert_one_sentence(call("features", "s3://bucket/photos", "--ray", "local"), f"s3://bucket/photos: {words}")
