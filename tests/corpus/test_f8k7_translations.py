"""F8K-7's photos with Multi30K's translations, here with few photos."""

import json
from pathlib import Path

import pytest

from groundling.corpus import catalogue
from groundling.corpus.formats import f8k7, multi30k
from groundling.corpus.formats.f8k7_translations import flickr30k_name, read
from groundling.errors import UserError

SIZES = {"train": 3, "dev": 2, "test": 2}
FILES = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
# F8K-7's photo → its split there, and the split and line of the same photo in Multi30K.
PHOTOS = {
    "30_c.jpg": ("test", "train", 2),
    "10_a.jpg": ("train", "train", 0),
    "41_d_e.jpg": ("dev", "test", 1),
    "20_b.jpg": ("train", "dev", 0),
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Multi30K with seven photos, each caption saying which file and line it is; F8K-7 with four of them."""
    monkeypatch.setattr(multi30k, "PHOTOS", SIZES)
    names = {"train": ["10.jpg", "11.jpg", "30.jpg"], "dev": ["20.jpg", "21.jpg"], "test": ["40.jpg", "41.jpg"]}
    task = tmp_path / "multi30k" / "task1"
    for folder in ("image_splits", "raw", "tok"):
        (task / folder).mkdir(parents=True)
    for split, file in FILES.items():
        (task / "image_splits" / f"{file}.txt").write_text("".join(f"{name}\n" for name in names[split]))
        for language in ("en", "de", "fr", "cs"):
            lines = "".join(f"{split} {language} {line}\n" for line in range(SIZES[split]))
            (task / "raw" / f"{file}.{language}").write_text(lines)
    photos = [
        {"image": name, "split": split, "captions": {"en": ["A dog.", "Some dog."], "zh": ["狗。"]}}
        for name, (split, _, _) in PHOTOS.items()
    ]
    (tmp_path / "f8k7").mkdir()
    write_photos(tmp_path, photos)
    (tmp_path / "flickr8k").mkdir()
    for name in ("features.npy", "images.tsv"):
        (tmp_path / "flickr8k" / name).touch()
    return tmp_path


def write_photos(data: Path, photos: list[dict[str, object]]) -> None:
    text = "".join(json.dumps(photo) + "\n" for photo in photos)
    (data / "f8k7" / "captions.jsonl").write_text(text, encoding="utf-8")


def test_photos_and_splits_of_f8k7_with_captions_of_multi30k(data: Path) -> None:
    corpus, photos = read(data), f8k7.read(data)
    assert corpus.name == "f8k7-translations"
    assert corpus.pictures.tolist() == photos.pictures.tolist() == list(PHOTOS)
    assert corpus.splits.tolist() == photos.splits.tolist()
    assert (corpus.root, corpus.info) == (photos.root, photos.info)
    assert corpus.info.features.array.endswith("features.npy")  # Flickr8k's
    found = [
        (str(corpus.pictures[owner]), str(language), text)
        for owner, language, text in zip(corpus.owners, corpus.languages, corpus.texts, strict=True)
    ]
    assert found == [
        (name, language, f"{split} {language} {line}")  # as Multi30K has it, whatever split F8K-7 puts it in
        for name, (_, split, line) in PHOTOS.items()
        for language in ("en", "de", "fr", "cs")
    ]
    origins = set(zip(corpus.languages.tolist(), corpus.origins.tolist(), strict=True))
    assert origins == {("en", "human"), ("de", "translation"), ("fr", "translation"), ("cs", "translation")}
    assert catalogue.load("f8k7-translations", data=data).texts == corpus.texts


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("1000268201_693b08cb0e.jpg", "1000268201.jpg"),
        ("41_d_e.jpg", "41.jpg"),
        ("1000268201.jpg", "1000268201.jpg"),
    ],
)
def test_a_photo_has_another_name_in_flickr30k(here: str, there: str) -> None:
    assert flickr30k_name(here) == there


def test_a_photo_that_multi30k_lacks_is_named(data: Path) -> None:
    write_photos(data, [{"image": "99_x.jpg", "split": "train", "captions": {"en": ["A dog."]}}])
    with pytest.raises(UserError, match=r'no photo "99\.jpg" for "99_x\.jpg"'):
        read(data)


def test_missing_files_of_either_corpus_are_named(data: Path) -> None:
    (data / "multi30k/task1/raw/val.cs").unlink()
    with pytest.raises(UserError, match=r"raw/val\.cs: no such file"):
        read(data)
    (data / "f8k7/captions.jsonl").unlink()
    with pytest.raises(UserError, match=r"f8k7/captions\.jsonl: no such file"):
        read(data)
