"""COCO photos with captions in several languages, alone and together with F8K-7."""

import json
from pathlib import Path
from typing import Any

import pytest

from groundling.corpus import catalogue
from groundling.corpus.formats import coco_captions
from groundling.errors import UserError


def write(data: Path, folder: str, *photos: dict[str, Any]) -> None:
    (data / folder).mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(photo, ensure_ascii=False) for photo in photos]
    (data / folder / "captions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


COCO = {
    "image": "000000000009.jpg",
    "blob": "626d",
    "split": "dev",
    "captions": {"en": ["Bins of food."], "it": ["Contenitori."], "zh": ["食物"]},
    "origins": {"en": "human", "it": "machine-validated", "zh": "human-icap"},
}
FLICKR = {"image": "1_0a.jpg", "split": "train", "captions": {"en": ["A dog."], "fr": ["Un chien."]}}


def test_captions_origins_and_where_the_photos_are(tmp_path: Path) -> None:
    write(tmp_path, "coco", COCO)
    corpus = catalogue.load("coco-captions", tmp_path)
    assert corpus.pictures.tolist() == ["000000000009.jpg"] and corpus.splits.tolist() == ["dev"]
    told = dict(zip(corpus.languages.tolist(), corpus.origins.tolist(), strict=True))
    assert told == {"en": "human", "it": "machine", "zh": "human"}
    assert corpus.root is None
    (tmp_path / "coco" / "photos").mkdir()
    assert catalogue.load("coco-captions", tmp_path).root == (tmp_path / "coco" / "photos").resolve()


def test_both_corpora_as_one_have_pictures_below_one_folder(tmp_path: Path) -> None:
    write(tmp_path, "coco", COCO)
    write(tmp_path, "f8k7", FLICKR)
    (tmp_path / "coco" / "photos").mkdir()
    assert catalogue.load("photos", tmp_path).root is None  # Flickr8k's are missing
    (tmp_path / "flickr8k" / "Flicker8k_Dataset").mkdir(parents=True)
    corpus = catalogue.load("photos", tmp_path)
    assert corpus.pictures.tolist() == ["flickr8k/Flicker8k_Dataset/1_0a.jpg", "coco/photos/000000000009.jpg"]
    assert corpus.root == tmp_path.resolve()
    assert corpus.all_languages() == ["en", "fr", "it", "zh"]
    assert corpus.origins.tolist() == ["human", "translation", "human", "machine", "human"]


def test_mistakes_are_named_by_their_line(tmp_path: Path) -> None:
    write(tmp_path, "coco", COCO, {**COCO, "image": "2.jpg", "origins": ["human"]})
    with pytest.raises(UserError, match=r'captions\.jsonl:2: "origins" must name the origin'):
        catalogue.load("coco-captions", tmp_path)


def test_english_and_chinese_with_chinese_dev_photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of the training photos that have Chinese captions are dev photos; other languages and their photos go."""
    monkeypatch.setattr(coco_captions, "CHINESE_DEV", 2)
    chinese = {"captions": {"zh": ["食物"]}, "origins": {"zh": "human"}, "split": "train"}
    photos = [{**COCO, **chinese, "image": f"{number}.jpg"} for number in range(5)]
    italian = {**COCO, "image": "it.jpg", "captions": {"it": ["Uno."]}, "origins": {"it": "human"}, "split": "train"}
    english = {**COCO, "image": "en.jpg", "captions": {"en": ["One."]}, "origins": {"en": "human"}, "split": "train"}
    write(tmp_path, "coco", COCO, *photos, italian, english, {**COCO, "image": "test.jpg", "split": "test"})
    corpus = catalogue.load("coco-en-zh", tmp_path)
    splits = dict(zip(corpus.pictures.tolist(), corpus.splits.tolist(), strict=True))
    assert sorted(splits.values()) == ["dev"] * 3 + ["test"] + ["train"] * 4
    assert (splits["000000000009.jpg"], splits["en.jpg"], splits["test.jpg"]) == ("dev", "train", "test")
    assert "it.jpg" not in splits and sorted(corpus.all_languages()) == ["en", "zh"]
    write(tmp_path, "coco", *reversed(photos))  # the order of the file does not matter
    again = catalogue.load("coco-en-zh", tmp_path)
    both = dict(zip(again.pictures.tolist(), again.splits.tolist(), strict=True))
    assert both == {name: split for name, split in splits.items() if name in both}
