"""F8K-7: one JSON line per photo, captions in several languages, features beside it."""

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from groundling.corpus.formats.f8k7 import read
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError


def photo(**changes: Any) -> dict[str, Any]:
    captions = {"en": ["A dog.", "Some dog."], "fr": ["Un chien."], "zh": ["狗。"], "ar": ["كلب"], "cs": ["Pes."]}
    return {"image": "a.jpg", "flickr30k_id": "1.jpg", "split": "train", "captions": captions, **changes}


def write(data: Path, *lines: str) -> None:
    (data / "f8k7").mkdir()
    (data / "f8k7" / "captions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_photos_captions_origins_and_splits(tmp_path: Path) -> None:
    second = photo(image="b.jpg", split="test", captions={"de": ["Ein Hund."]})
    write(tmp_path, json.dumps(photo()), json.dumps(second))
    corpus = read(tmp_path)
    assert corpus.pictures.tolist() == ["a.jpg", "b.jpg"]
    assert corpus.splits.tolist() == ["train", "test"]
    assert corpus.texts == ["A dog.", "Some dog.", "Un chien.", "狗。", "كلب", "Pes.", "Ein Hund."]
    assert corpus.owners.tolist() == [0, 0, 0, 0, 0, 0, 1]
    origins = dict(zip(corpus.languages.tolist(), corpus.origins.tolist(), strict=True))
    assert {language for language, origin in origins.items() if origin == "translation"} == {"fr", "ar", "cs"}
    assert (corpus.root, corpus.info) == (None, CorpusInfo())


def test_the_gzipped_file_reads_the_same(tmp_path: Path) -> None:
    write(tmp_path, json.dumps(photo()))
    plain = tmp_path / "f8k7" / "captions.jsonl"
    corpus = read(tmp_path)
    (tmp_path / "f8k7" / "captions.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert read(tmp_path).texts == corpus.texts


def test_features_and_photos_are_found_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, json.dumps(photo()))
    flickr8k = tmp_path / "flickr8k"
    (flickr8k / "images").mkdir(parents=True)
    for name in ("features.npy", "images.tsv"):
        (flickr8k / name).touch()
    monkeypatch.chdir(tmp_path)
    corpus = read(Path())  # a relative folder: the paths must hold from anywhere
    features = {"array": str(flickr8k.resolve() / "features.npy"), "names": str(flickr8k.resolve() / "images.tsv")}
    assert asdict(corpus.info.features) == features
    assert corpus.root == (flickr8k / "images").resolve()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"captions\.jsonl:2: broken JSON"),
        ("[]", r"captions\.jsonl:2: not a JSON object"),
        (json.dumps({"imgae": "b.jpg"}), r'captions\.jsonl:2: no field "image" \(did you mean "imgae"\?\)'),
        (json.dumps(photo()), r'captions\.jsonl:2: the photo "a\.jpg" is there twice'),
        (json.dumps(photo(image="b", split="tran")), r':2: unknown split "tran" \(did you mean "train"\?\)'),
        (json.dumps(photo(image="b", captions=["A dog."])), r':2: "captions" must hold a list'),
        (json.dumps(photo(image="b", captions={"en": [7]})), r':2: a caption in "en" is not text'),
        (json.dumps(photo(image="b", captions={"en": [" "]})), r":2: the text is empty"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    write(tmp_path, json.dumps(photo()), line)
    with pytest.raises(UserError, match=message):
        read(tmp_path)


def test_a_missing_or_empty_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"f8k7/captions\.jsonl: no such file \(nor captions\.jsonl\.gz\)"):
        read(tmp_path)
    write(tmp_path)
    with pytest.raises(UserError, match=r"captions\.jsonl: holds no caption"):
        read(tmp_path)
