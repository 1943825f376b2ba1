"""Hugging Face's imagefolder: a table beside the pictures, or one in the folder of each split."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from shard_files import picture, write_parquet
from test_shards import made, said

from groundling.errors import UserError


def put(folder: Path, *names: str) -> None:
    """Pictures, each of them another one."""
    for number, name in enumerate(names, start=1):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(picture(number))


def lines(*rows: object) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_a_table_in_the_folder_of_each_split(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    put(folder, "train/1.png", "train/deep/2.png", "validation/1.png", "test/1.png")
    rows = [
        {"file_name": "1.png", "text": "a dog", "text_de": "ein Hund"},
        {"file_name": "deep/2.png", "text": "a cat"},
    ]
    (folder / "train/metadata.jsonl").write_text(lines(*rows))
    (folder / "validation/metadata.csv").write_text('file_name,caption,width\n1.png,"a tree, a house",7\n')
    write_parquet(
        folder / "test/metadata.parquet", pa.table({"file_name": ["1.png"], "captions": [["a boat", "a ship"]]})
    )
    corpus, report = made(folder, out=tmp_path / "c", language="en")
    assert report.problems == [] and corpus.name == "photos" and corpus.root == folder
    assert said(corpus) == {
        picture(1): [("de", "ein Hund", "train"), ("en", "a dog", "train")],
        picture(2): [("en", "a cat", "train")],
        picture(3): [("en", "a tree, a house", "dev")],
        picture(4): [("en", "a boat", "test"), ("en", "a ship", "test")],
    }
    assert sorted(corpus.pictures.tolist()) == ["test/1.png", "train/1.png", "train/deep/2.png", "validation/1.png"]


def test_one_table_for_all(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    put(folder, "train/1.png", "test/1.png", "test-chart.png")
    names = ["train/1.png", "test/1.png", "test-chart.png"]
    (folder / "metadata.jsonl").write_text(
        lines(*({"file_name": name, "caption": name, "lang": "en"} for name in names))
    )
    for given in (folder, folder / "metadata.jsonl"):
        corpus, _ = made(given, out=tmp_path / "c")
        found = dict(zip(corpus.texts, corpus.splits[corpus.owners].tolist(), strict=True))
        assert found["train/1.png"] == "train" and found["test/1.png"] == "test"
        assert found["test-chart.png"] == "train"  # by a hash: files are not what splits are named by


def test_what_is_wrong_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    put(folder, "1.png")
    table = folder / "metadata.jsonl"
    good = {"file_name": "1.png", "text": "a dog"}
    table.write_text(
        lines(good, {"file_name": "../2.png", "text": "out"}, {"text": "none"}, {"file_name": "1.png"}) + "{\n"
    )
    _, report = made(folder, out=tmp_path / "c", language="en")
    assert [problem.partition(" (")[0].partition(";")[0] for problem in report.problems] == [
        'photos/metadata.jsonl:2: picture "../2.png" leads out of the folder',
        'photos/metadata.jsonl:3: no "file_name"',
        "photos/metadata.jsonl:4: no caption",
        "photos/metadata.jsonl:5: broken JSON",
    ]
    with pytest.raises(
        UserError, match=r"^photos/metadata\.jsonl:1: the captions do not say their language; give --language"
    ):
        made(folder, out=tmp_path / "d")
    (folder / "metadata.csv").write_text("file_nmae,text\n1.png,a dog\n")
    with pytest.raises(UserError, match=r"holds metadata\.csv and metadata\.jsonl; give the one to read by its name"):
        made(folder, out=tmp_path / "d", language="en")
    with pytest.raises(UserError, match=r'metadata\.csv:1: no column "file_name" \(did you mean "file_nmae"\?\)'):
        made(folder / "metadata.csv", out=tmp_path / "d", language="en")
    assert not (tmp_path / "d").exists()


def test_a_table_of_our_own_that_is_called_metadata_stays_one(tmp_path: Path) -> None:
    from groundling.corpus import load

    put(tmp_path, "1.png")
    (tmp_path / "metadata.csv").write_text("picture,language,text\n1.png,en,a dog\n")
    assert load(str(tmp_path / "metadata.csv")).texts == ["a dog"]
