"""Multi30K in its published layout, here with few lines per file."""

import gzip
from pathlib import Path

import pytest

from groundling.corpus.formats import multi30k
from groundling.corpus.formats.multi30k import read
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError

SIZES = {"train": 3, "dev": 2, "test": 2}


@pytest.fixture(autouse=True)
def few_photos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi30k, "PHOTOS", SIZES)


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Both tasks as published; each caption says which file and line it is."""
    one, two = tmp_path / "multi30k" / "task1", tmp_path / "multi30k" / "task2"
    for split, size in SIZES.items():
        first = {"train": "train", "dev": "val", "test": "test_2016_flickr"}[split]
        second = {"train": "train", "dev": "val", "test": "test_2016"}[split]
        photos = [f"{split}{i}.jpg" for i in range(size)]
        write(one / "image_splits" / f"{first}.txt", [f"{photo}#{i}" for i, photo in enumerate(photos)])
        write(two / "image_splits" / f"{second}_images.txt", photos)
        for language in ("en", "de", "fr", "cs"):
            for name in (f"raw/{first}.{language}", f"tok/{first}.lc.norm.tok.{language}"):
                write(one / name, [f"{name} {i}" for i in range(size)])
        for language in ("en", "de"):
            for which in range(1, 6):
                for name in (f"raw/{second}.{which}.{language}", f"tok/{second}.lc.norm.tok.{which}.{language}"):
                    write(two / name, [f"{name} {i}" for i in range(size)])
    return tmp_path


def test_task_1_line_by_line(data: Path) -> None:
    corpus = read(data)
    assert corpus.pictures.tolist() == [f"{split}{i}.jpg" for split, size in SIZES.items() for i in range(size)]
    assert corpus.splits.tolist() == [split for split, size in SIZES.items() for _ in range(size)]
    file_names = {"train": "train", "dev": "val", "test": "test_2016_flickr"}
    for owner, language, text in zip(corpus.owners, corpus.languages, corpus.texts, strict=True):
        split, line = str(corpus.splits[owner]), str(corpus.pictures[owner])[-5]
        assert text == f"tok/{file_names[split]}.lc.norm.tok.{language} {line}"
    assert len(corpus) == 4 * 7
    origins = set(zip(corpus.languages.tolist(), corpus.origins.tolist(), strict=True))
    assert origins == {("en", "human"), ("de", "translation"), ("fr", "translation"), ("cs", "translation")}
    assert corpus.info == CorpusInfo(segmentation="whitespace")


def test_task_2_has_five_captions_in_their_order(data: Path) -> None:
    corpus = read(data, task=2, text="raw")
    german = corpus.split("test").only(["de"])
    assert german.texts == [f"raw/test_2016.{which}.de {line}" for line in range(2) for which in range(1, 6)]
    assert german.owners.tolist() == [0] * 5 + [1] * 5
    assert set(corpus.origins.tolist()) == {"human"}
    assert (corpus.name, corpus.info) == ("multi30k-task2-raw", CorpusInfo())


def test_the_folder_itself_gzipped_files_and_fewer_languages(data: Path) -> None:
    expected = read(data, languages=["fr", "en"])
    assert set(expected.languages.tolist()) == {"fr", "en"}
    for path in list(data.glob("multi30k/task1/tok/*")):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert read(data / "multi30k", languages=["fr", "en"]).texts == expected.texts


def test_photos_are_found_where_they_usually_lie(data: Path) -> None:
    assert read(data).root is None
    (data / "flickr30k" / "flickr30k-images").mkdir(parents=True)
    assert read(data).root == (data / "flickr30k" / "flickr30k-images").resolve()


def test_characters_that_python_takes_for_line_ends_are_not(data: Path) -> None:
    odd = ["one\u2028line", "two\x85lines", "three\x0blines"]
    write(data / "multi30k/task1/tok/train.lc.norm.tok.en", odd)
    assert read(data, languages=["en"]).split("train").texts == odd


def test_a_wrong_number_of_lines_is_named_with_both_numbers(data: Path) -> None:
    write(data / "multi30k/task1/tok/val.lc.norm.tok.cs", ["one"])
    with pytest.raises(UserError, match=r"val\.lc\.norm\.tok\.cs: 1 lines where Multi30K has 2"):
        read(data)
    write(data / "multi30k/task1/image_splits/train.txt", ["a.jpg", "b.jpg"])
    with pytest.raises(UserError, match=r"image_splits/train\.txt: 2 lines where Multi30K has 3"):
        read(data)


def test_a_missing_file_is_named(data: Path) -> None:
    (data / "multi30k/task2/tok/train.lc.norm.tok.4.de").unlink()
    with pytest.raises(UserError, match=r"task2/tok/train\.lc\.norm\.tok\.4\.de: no such file"):
        read(data, task=2)
    with pytest.raises(UserError, match=r"nowhere/multi30k/task1: no such folder"):
        read(data / "nowhere")


def test_a_blank_caption_and_a_photo_listed_twice_are_named(data: Path) -> None:
    write(data / "multi30k/task1/tok/train.lc.norm.tok.de", ["one", " ", "three"])
    with pytest.raises(UserError, match=r"train\.lc\.norm\.tok\.de:2: the text is empty"):
        read(data)
    write(data / "multi30k/task1/image_splits/val.txt", ["dev0.jpg", "train1.jpg"])
    with pytest.raises(UserError, match=r'val\.txt:2: the photo "train1\.jpg" was listed before'):
        read(data, languages=["en"])


def test_wrong_choices_are_answered_with_the_right_ones(data: Path) -> None:
    with pytest.raises(UserError, match=r'task 2 has no language "fr" \(there is: de, en\)'):
        read(data, task=2, languages=["fr"])
    with pytest.raises(UserError, match=r"task 1 and task 2, not 3"):
        read(data, task=3)
    with pytest.raises(UserError, match=r'"tok" or "raw", not "bpe"'):
        read(data, text="bpe")
