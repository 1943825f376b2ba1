"""Arrays and lists of names with something wrong: one sentence that names the file, and never a pickle."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import Corpus
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision.features import load_precomputed
from groundling.vision.from_settings import array_rows, corpus_features

NAMES = ["a.jpg", "b.jpg", "c.jpg"]
GOOD = np.arange(12, dtype=np.float32).reshape(3, 4)


def corpus_of(*pictures: str, **info: Any) -> Corpus:
    none = np.array([], dtype=np.str_)
    splits = np.array(["train"] * len(pictures))
    return Corpus(
        "small",
        np.array(pictures),
        splits,
        np.array([], dtype=np.int64),
        none,
        [],
        none,
        info=CorpusInfo.from_json(info),
    )


def saved(folder: Path, array: np.ndarray, names: bytes = b"a.jpg\nb.jpg\nc.jpg\n") -> FeatureSettings:
    np.save(folder / "f.npy", array, allow_pickle=True)
    (folder / "names.txt").write_bytes(names)
    return FeatureSettings(array=str(folder / "f.npy"), names=str(folder / "names.txt"))


def sentence(corpus: Corpus, settings: FeatureSettings) -> str:
    with pytest.raises(UserError) as raised:
        corpus_features(corpus, settings)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4", np.longdouble])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_type_of_float(tmp_path: Path, dtype: Any, order: Any) -> None:
    vectors, usable = corpus_features(
        corpus_of("c.jpg", "a.jpg"), saved(tmp_path, np.asarray(GOOD, dtype=dtype, order=order))
    )
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert usable.all()


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (GOOD[:2], "has 3 names, but"),
        (np.vstack([GOOD, GOOD]), "has 6 rows"),
        (GOOD[0], "this is float32 [4]"),
        (GOOD[:, :0], "this is float32 [3, 0]"),
        (GOOD.astype(np.int32), "this is int32 [3, 4]"),
        (GOOD.astype(complex), "this is complex128 [3, 4]"),
        (GOOD > 1, "this is bool [3, 4]"),
        (GOOD.astype(str), "this is <U"),
        (np.zeros(3, dtype=[("a", "f4")]), "f.npy: features are float numbers"),
        (np.array([["x", None]], dtype=object), "f.npy: not a whole .npy array of numbers"),
        (np.where(GOOD == 5, np.nan, GOOD), 'f.npy: 1 rows are not finite numbers, the first is of picture "b.jpg"'),
        (np.where(GOOD > 7, -np.inf, GOOD), 'the first is of picture "c.jpg"'),
        (GOOD.astype(np.float64) * 1e300, "3 rows are not finite numbers"),
    ],
)
def test_an_array_that_is_not_what_it_should_be(tmp_path: Path, array: np.ndarray, words: str) -> None:
    with np.errstate(all="raise"):
        said = sentence(corpus_of(*NAMES), saved(tmp_path, array))
    assert words in said
    assert "f.npy" in said


def test_no_pickle_is_ever_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "sprung",))

    for name, content in (("array", pickle.dumps(np.array([Trap()], dtype=object))), ("plain", pickle.dumps(Trap()))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=name):
            load_precomputed(tmp_path / name, tmp_path / "names.txt")
    sentence(corpus_of(*NAMES), saved(tmp_path, np.array([[Trap()]], dtype=object)))
    assert not (tmp_path / "sprung").exists()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=4), st.integers(0, 200))
def test_damaged_bytes_are_never_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]], length: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    saved(folder, GOOD)
    content = bytearray((folder / "f.npy").read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    (folder / "f.npy").write_bytes(content[: max(6, length)] if length < 128 else content)
    try:
        found, names = load_precomputed(folder / "f.npy", folder / "names.txt")
        assert len(found) == len(names)
    except UserError as error:
        assert "f.npy" in str(error)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (b"a.jpg\nb.jpg\n", "names.txt has 2 names, but"),
        (b"a.jpg\nb.jpg\nc.jpg\nd.jpg\n", "names.txt has 4 names, but"),
        (b"", "names.txt has 0 names, but"),
        (b"a.jpg\n\nc.jpg\n", "names.txt: name 2 of 3 is empty"),
        (b"a.jpg\nb.jpg\na.jpg\n", 'names.txt: "a.jpg" is there more than once'),
        (b"a.jpg\ncaf\xe9.jpg\nc.jpg\n", "names.txt:2: not UTF-8 text"),
        (b"a.jpg\nB.jpg\nc.jpg\n", 'names.txt: no features for picture "b.jpg" of corpus small'),
        (b"x/a.jpg\nx/b.jpg\nx/c.jpg\n", 'no features for picture "a.jpg" and 2 more of corpus small'),
    ],
)
def test_names_that_are_not_what_they_should_be(tmp_path: Path, names: bytes, words: str) -> None:
    assert words in sentence(corpus_of(*NAMES), saved(tmp_path, GOOD, names))


@pytest.mark.parametrize(
    "names", [b"\xef\xbb\xbfa.jpg\r\nb.jpg\r\nc.jpg", b"a.jpg\nb.jpg\nc.jpg", b"a.jpg\nb.jpg\nc.jpg\n\n\n"]
)
def test_names_written_differently(tmp_path: Path, names: bytes) -> None:
    assert corpus_features(corpus_of(*NAMES), saved(tmp_path, GOOD, names))[0].tolist() == GOOD.tolist()


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("names.json", b"[" * 100_000, "not valid JSON"),
        ("names.json", b'["a.jpg", 7]', "expected a JSON list of picture names"),
        ("names.json", b'["a.jpg", "", "c.jpg"]', "name 2 of 3 is empty"),
        ("names.json", b'\xef\xbb\xbf["a.jpg", "b.jpg"]', "has 2 names"),
        ("names.tsv", b"", "has 0 names"),
        ("names.tsv", b"a.jpg\nb.jpg\nc.jpg\n", "has 2 names"),  # no header
        ("names.tsv", b"file\tx\na.jpg\t\n\tb.jpg\nc.jpg\t\n", "name 2 of 3 is empty"),
    ],
)
def test_other_lists_of_names(tmp_path: Path, file: str, content: bytes, words: str) -> None:
    saved(tmp_path, GOOD)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(UserError) as raised:
        load_precomputed(tmp_path / "f.npy", tmp_path / file)
    assert words in str(raised.value)
    assert file in str(raised.value)


def test_files_that_are_not_there_or_are_folders(tmp_path: Path) -> None:
    settings = saved(tmp_path, GOOD)
    for key, name in (("array", "gone.npy"), ("names", "gone.txt")):
        changed = settings.model_copy(update={key: str(tmp_path / name)})
        assert f"{name}: no such file" in sentence(corpus_of(*NAMES), changed)
        (tmp_path / name).mkdir()
        assert name in sentence(corpus_of(*NAMES), changed)
    for key in ("array", "names"):
        assert "go together" in sentence(corpus_of(*NAMES), settings.model_copy(update={key: None}))


def test_an_array_that_came_with_the_corpus_is_checked_alike(tmp_path: Path) -> None:
    saved(tmp_path, GOOD)
    given_with = {"array": str(tmp_path / "f.npy"), "names": str(tmp_path / "names.txt")}
    assert len(corpus_features(corpus_of(*NAMES, features=given_with), FeatureSettings())[0]) == 3
    said = sentence(corpus_of("a.jpg", "x.jpg", features=given_with), FeatureSettings())
    assert 'names.txt: no features for picture "x.jpg" of corpus small' in said
    (tmp_path / "f.npy").unlink()
    assert "f.npy: no such file" in sentence(corpus_of(*NAMES, features=given_with), FeatureSettings())


def test_rows_to_look_at_without_reading_them_all(tmp_path: Path) -> None:
    saved(tmp_path, GOOD)
    pair = tmp_path / "f.npy", tmp_path / "names.txt"
    array, rows = array_rows(corpus_of("c.jpg", "x.jpg", "a.jpg"), pair)
    assert isinstance(array, np.memmap)
    assert rows is not None
    assert rows.tolist() == [2, -1, 0]
    with pytest.raises(UserError, match=r'names\.txt: no features for any picture of corpus small .*"a\.jpg"'):
        array_rows(corpus_of("x.jpg"), pair)
    assert array_rows(corpus_of("a.jpg"), None) == (None, None)
    with_it = {"array": str(pair[0]), "names": str(pair[1])}
    found = array_rows(corpus_of("b.jpg", features=with_it), None)[1]
    assert found is not None
    assert found.tolist() == [1]
    pair[0].unlink()
    assert array_rows(corpus_of("b.jpg", features=with_it), None) == (None, None)  # inspect says it was not compared


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4) $ }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-3, 4), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L, }",
        b"{'descr': '<f4', 'shape': (3, 4), }",
        b"((((((((((((((((((((((((",
    ],
)
def test_a_damaged_head_of_an_array_is_one_sentence(tmp_path: Path, header: bytes) -> None:
    head = header.ljust(117) + b"\n"
    (tmp_path / "f.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + GOOD.tobytes())
    (tmp_path / "names.txt").write_text("\n".join(NAMES) + "\n")
    with pytest.raises(UserError, match=r"not a whole \.npy array of numbers"):
        load_precomputed(tmp_path / "f.npy", tmp_path / "names.txt")
