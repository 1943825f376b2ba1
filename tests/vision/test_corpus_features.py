import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from groundling.corpus.corpus import Corpus
from groundling.errors import UserError
from groundling.vision.backbones import Backbone
from groundling.vision.features import features_for, features_from_array, load_precomputed
from groundling.vision.preprocessing import Preprocessing

NAMES = ["b.jpg", "a.jpg", "c d.jpg"]


def corpus_of(pictures: list[str], root: Path | None = None) -> Corpus:
    none = np.array([], dtype=np.str_)
    return Corpus(
        name="small",
        pictures=np.array(pictures),
        splits=np.array(["train"] * len(pictures)),
        owners=np.array([], dtype=np.int64),
        languages=none,
        texts=[],
        origins=none,
        root=root,
    )


@pytest.fixture
def array(tmp_path: Path) -> Path:
    np.save(tmp_path / "features.npy", np.arange(12, dtype=np.float16).reshape(3, 4))
    return tmp_path / "features.npy"


def write_names(folder: Path, suffix: str, names: list[str]) -> Path:
    path = folder / f"names{suffix}"
    lines = {".txt": names, ".tsv": ["file\tsplit", *(f"{name}\ttrain" for name in names)]}
    path.write_text(json.dumps(names) if suffix == ".json" else "".join(line + "\n" for line in lines[suffix]))
    return path


@pytest.mark.parametrize("suffix", [".txt", ".tsv", ".json"])
def test_rows_come_in_the_order_of_the_corpus(array: Path, tmp_path: Path, suffix: str) -> None:
    names = write_names(tmp_path, suffix, NAMES)
    features, listed = load_precomputed(array, names)
    assert isinstance(features, np.memmap)
    assert listed == NAMES
    vectors, usable = features_for(corpus_of(["c d.jpg", "b.jpg"]), precomputed=(array, names))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert usable.all()


def test_windows_line_ends_and_byte_order_mark(array: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_bytes("\ufeff".encode() + "\r\n".join([*NAMES, ""]).encode())
    assert load_precomputed(array, names)[1] == NAMES


def test_missing_pictures_are_named_and_counted(array: Path, tmp_path: Path) -> None:
    names = write_names(tmp_path, ".txt", NAMES)
    with pytest.raises(UserError, match=r'"x\.jpg" and 1 more of corpus small \(the names there look like "b\.jpg"\)'):
        features_from_array(corpus_of(["a.jpg", "x.jpg", "y.jpg"]), array, names)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b"], "has 2 names, but .*features.npy has 3 rows"),
        ([], "has 0 names, but .*features.npy has 3 rows"),
        (["a", "b", "a"], '"a" is there more than once'),
    ],
)
def test_names_that_do_not_fit(array: Path, tmp_path: Path, names: list[str], message: str) -> None:
    for suffix in (".txt", ".tsv", ".json"):
        with pytest.raises(UserError, match=message):
            load_precomputed(array, write_names(tmp_path, suffix, names))


def test_files_that_are_not_what_they_should_be(array: Path, tmp_path: Path) -> None:
    names = write_names(tmp_path, ".txt", NAMES)
    bad = tmp_path / "bad.npy"
    with pytest.raises(UserError, match=r"bad\.npy: no such file"):
        load_precomputed(bad, names)
    bad.write_bytes(array.read_bytes()[:-5])
    with pytest.raises(UserError, match=r"bad\.npy: not a whole \.npy"):
        load_precomputed(bad, names)
    bad.write_text("1 2 3")
    with pytest.raises(UserError, match=r"bad\.npy: not a whole \.npy"):
        load_precomputed(bad, names)
    np.save(bad, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(UserError, match=r"bad\.npy: not a whole \.npy"):
        load_precomputed(bad, names)
    np.save(bad, np.zeros((3, 4), dtype=np.int64))
    with pytest.raises(UserError, match=r"this is int64 \[3, 4\]"):
        load_precomputed(bad, names)
    np.save(bad, np.zeros((3, 4, 2)))
    with pytest.raises(UserError, match=r"this is float64 \[3, 4, 2\]"):
        load_precomputed(bad, names)
    with pytest.raises(UserError, match=r"names\.csv: names are read from"):
        load_precomputed(array, tmp_path / "names.csv")
    with pytest.raises(UserError, match=r"none\.txt: no such file"):
        load_precomputed(array, tmp_path / "none.txt")
    (tmp_path / "map.json").write_text('{"a": 0}')
    with pytest.raises(UserError, match="JSON list"):
        load_precomputed(array, tmp_path / "map.json")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(UserError, match="not UTF-8"):
        load_precomputed(array, tmp_path / "latin.txt")


def test_rows_that_are_not_numbers(tmp_path: Path) -> None:
    values = np.ones((3, 4), dtype=np.float32)
    values[1, 2] = np.nan
    np.save(tmp_path / "features.npy", values)
    names = write_names(tmp_path, ".txt", NAMES)
    with pytest.raises(UserError, match=r'1 rows are not finite.* "a\.jpg"'):
        features_from_array(corpus_of(NAMES), tmp_path / "features.npy", names)
    assert features_from_array(corpus_of(["b.jpg"]), tmp_path / "features.npy", names).sum() == 4


def test_features_from_picture_files(tmp_path: Path) -> None:
    backbone = Backbone("mean", 3, 4, lambda x: x.mean((2, 3)), mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    for name, colour in (("red.png", "red"), ("blue.png", "blue")):
        Image.new("RGB", (6, 5), colour).save(tmp_path / name)
    (tmp_path / "broken.png").write_text("?")
    corpus = corpus_of(["red.png", "broken.png", "blue.png"], root=tmp_path)
    vectors, usable = features_for(
        corpus, backbone=backbone, preprocessing=Preprocessing(4, 4), folder=tmp_path / "cache"
    )
    assert usable.tolist() == [True, False, True]
    np.testing.assert_allclose(vectors, [[1, 0, 0], [0, 0, 0], [0, 0, 1]], atol=1e-6)
    assert corpus.keep_pictures(usable).pictures.tolist() == ["red.png", "blue.png"]
    with pytest.raises(UserError, match=r"broken\.png"):
        features_for(corpus, backbone=backbone, folder=tmp_path / "cache", strict=True)
    with pytest.raises(UserError, match="small: name a backbone"):
        features_for(corpus)
    with pytest.raises(UserError, match="small has no picture files"):
        features_for(replace(corpus, root=None), backbone=backbone)
