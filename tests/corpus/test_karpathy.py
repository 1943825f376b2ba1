"""Karpathy's JSON files of Flickr30k and COCO."""

import json
from pathlib import Path
from typing import Any

import pytest

from groundling.corpus.formats.karpathy import read
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError


def image(filename: str, split: str, *texts: str, **more: Any) -> dict[str, Any]:
    return {"filename": filename, "split": split, "sentences": [{"raw": text, "tokens": []} for text in texts], **more}


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_flickr30k(tmp_path: Path) -> None:
    images = [
        image("1.jpg", "train", "A dog.", "Some dog."),
        image("2.jpg", "val", "A cat."),
        image("3.jpg", "test", "I."),
    ]
    write(tmp_path / "flickr30k" / "dataset_flickr30k.json", {"images": images, "dataset": "flickr30k"})
    corpus = read(tmp_path, "flickr30k")
    assert corpus.pictures.tolist() == ["1.jpg", "2.jpg", "3.jpg"]
    assert corpus.splits.tolist() == ["train", "dev", "test"]
    assert corpus.texts == ["A dog.", "Some dog.", "A cat.", "I."]
    assert corpus.owners.tolist() == [0, 0, 1, 2]
    assert (corpus.name, corpus.info, corpus.root) == ("flickr30k-karpathy", CorpusInfo(), None)


def test_coco_names_have_their_folder_and_restval_trains(tmp_path: Path) -> None:
    images = [
        image("9.jpg", "restval", "A dog.", " ", filepath="val2014"),
        image("9.jpg", "train", "A cat.", filepath="train2014"),
    ]
    write(tmp_path / "dataset_coco.json", {"images": images})
    (tmp_path / "val2014").mkdir()
    corpus = read(tmp_path, "coco")
    assert corpus.pictures.tolist() == ["val2014/9.jpg", "train2014/9.jpg"]
    assert corpus.splits.tolist() == ["train", "train"]
    assert corpus.texts == ["A dog.", "A cat."]
    assert corpus.info.skipped["rows"] == 1  # the blank caption
    assert corpus.root == tmp_path.resolve()


GOOD = image("1.jpg", "train", "A dog.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], r'dataset_coco\.json: no list "images"'),
        ({"images": []}, r"dataset_coco\.json: holds no caption"),
        ({"images": [GOOD, 7]}, r"dataset_coco\.json: image 2: not a JSON object"),
        ({"images": [GOOD, GOOD]}, r'image 2: "1\.jpg" is there twice'),
        ({"images": [{"filenam": "1.jpg"}]}, r'image 1: no field "filename" \(did you mean "filenam"\?\)'),
        ({"images": [{"filename": "1.jpg"}]}, r'image 1: no field "split"'),
        ({"images": [image("1.jpg", "restvel")]}, r'image 1: unknown split "restvel"'),
        ({"images": [{**GOOD, "sentences": "A dog."}]}, r'image 1: "sentences" must be a list'),
        ({"images": [{**GOOD, "sentences": [{"row": "x"}]}]}, r'image 1: no field "raw" \(there is: row\)'),
        ({"images": [image("../1.jpg", "train", "A dog.")]}, r"image 1: .* leads out of the folder"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: Any, message: str) -> None:
    write(tmp_path / "coco" / "dataset_coco.json", content)
    with pytest.raises(UserError, match=message):
        read(tmp_path, "coco")


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"coco/dataset_coco\.json: no such file"):
        read(tmp_path, "coco")
    write(tmp_path / "karpathy" / "dataset_coco.json", {})
    (tmp_path / "karpathy" / "dataset_coco.json").write_text('{"images": [', encoding="utf-8")
    with pytest.raises(UserError, match=r"karpathy/dataset_coco\.json: not valid JSON"):
        read(tmp_path, "coco")
