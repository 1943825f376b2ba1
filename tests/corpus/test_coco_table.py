"""Captions of one's own in COCO's layout: what the file does not say is found, and its mistakes are named."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from groundling.corpus.formats import caption_table
from groundling.errors import UserError


def write(path: Path, captions: list[dict[str, Any]], names: dict[int, str], **info: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    images = [{"id": number, "file_name": name, "height": 8, "width": 8} for number, name in names.items()]
    path.write_text(json.dumps({"info": info, "images": images, "annotations": captions}), encoding="utf-8")
    return path


def paint(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), "red").save(path)


def captions(*pairs: tuple[int, str]) -> list[dict[str, Any]]:
    return [{"id": at, "image_id": number, "caption": text} for at, (number, text) in enumerate(pairs)]


def test_the_layout_of_the_published_files(tmp_path: Path) -> None:
    for name in ("1.png", "2.png"):
        paint(tmp_path / "val2017" / name)
    said = captions((1, "a dog"), (1, "one dog"), (2, "a cat"))
    file = write(tmp_path / "annotations" / "captions_val2017.json", said, {1: "1.png", 2: "2.png"})
    corpus, report = caption_table.read(file)
    assert corpus.pictures.tolist() == ["val2017/1.png", "val2017/2.png"]
    assert corpus.root == tmp_path.resolve()
    assert set(corpus.splits.tolist()) == {"dev"}
    assert corpus.texts == ["a dog", "one dog", "a cat"]
    assert report.bad == 0
    assert "read as English" in corpus.info.note


@pytest.mark.parametrize(("name", "info"), [("captions.de.json", {}), ("captions.json", {"language": "de"})])
def test_the_language_is_in_the_name_or_in_the_file(tmp_path: Path, name: str, info: dict[str, str]) -> None:
    paint(tmp_path / "images" / "a.png")
    said = [*captions((1, "ein Hund")), {"id": 9, "image_id": 1, "caption": "un chien", "language": "fr"}]
    write(tmp_path / name, said, {1: "a.png"}, **info)
    corpus, _ = caption_table.read(tmp_path if name == "captions.json" else tmp_path / name)
    assert dict(zip(corpus.texts, corpus.languages.tolist(), strict=True)) == {"ein Hund": "de", "un chien": "fr"}
    assert corpus.info.note is None


def test_every_mistake_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    paint(tmp_path / "a.png")
    said = [*captions((1, "a dog"), (7, "nobody"), (2, "lost"), (1, "  ")), "text"]
    file = write(tmp_path / "mine.json", said, {1: "a.png", 2: "b.png"})
    corpus, report = caption_table.read(file)
    assert corpus.texts == ["a dog"]
    assert [problem.split(":")[1] for problem in report.problems] == ["2", "3", "4", "5"]
    assert 'no picture with the "id" 7' in report.problems[0]
    assert 'no picture named "b.png"' in report.problems[1]
    (tmp_path / "other.json").write_text('{"images": []}')
    with pytest.raises(UserError, match=r'no lists "images" and "annotations"'):
        caption_table.read(tmp_path / "other.json")
