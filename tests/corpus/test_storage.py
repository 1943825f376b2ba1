"""A saved corpus comes back as it was, or is refused by name: never half of it, never a mixture."""

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import ORIGINS, SPLITS, Corpus
from groundling.corpus.info import CorpusInfo, FeatureFiles, Translated
from groundling.corpus.storage import load, save
from groundling.errors import UserError

WRITABLE = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
FEATURES = st.builds(FeatureFiles, WRITABLE, WRITABLE)
TRANSLATED = st.builds(Translated, WRITABLE, captions=st.none() | st.dictionaries(WRITABLE, st.integers(0, 5)))
OTHERS = st.dictionaries(WRITABLE.map("x-{}".format), st.one_of(st.integers(-5, 5), WRITABLE, st.lists(WRITABLE)))
INFOS = st.builds(
    CorpusInfo,
    queries=st.sampled_from([None, "first"]),
    seed=st.none() | st.integers(0, 5),
    note=st.none() | WRITABLE,
    skipped=st.none() | st.dictionaries(WRITABLE, st.integers(0, 5)),
    features=st.none() | FEATURES,
    translated=st.none() | TRANSLATED,
    others=OTHERS,
)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    pictures = draw(st.lists(NAMES, unique=True, max_size=5))
    texts = draw(st.lists(WRITABLE, max_size=8)) if pictures else []
    one_each = st.lists(st.sampled_from(["en", "zh", "pt-BR"]), min_size=len(texts), max_size=len(texts))
    return Corpus(
        name=draw(WRITABLE),
        pictures=np.array(pictures, dtype=np.str_),
        splits=np.array([draw(st.sampled_from(SPLITS)) for _ in pictures], dtype=np.str_),
        owners=np.array([draw(st.integers(0, len(pictures) - 1)) for _ in texts], dtype=np.int64),
        languages=np.array(draw(one_each), dtype=np.str_),
        texts=texts,
        origins=np.array([draw(st.sampled_from(ORIGINS)) for _ in texts], dtype=np.str_),
        info=draw(INFOS),
    )


def same(one: Corpus, other: Corpus) -> bool:
    columns = ("pictures", "splits", "owners", "languages", "origins")
    return (one.name, one.texts, one.root, one.info) == (other.name, other.texts, other.root, other.info) and all(
        getattr(one, column).tolist() == getattr(other, column).tolist() for column in columns
    )


def numbered(count: int, word: str) -> Corpus:
    return Corpus(
        name=word,
        pictures=np.array([f"{word}{i}.jpg" for i in range(count)]),
        splits=np.array(["train"] * count),
        owners=np.arange(count),
        languages=np.array(["en"] * count),
        texts=[f"{word} {i}" for i in range(count)],
        origins=np.array(["human"] * count),
    )


@settings(max_examples=30, deadline=None)
@given(corpora())
def test_what_is_saved_is_loaded(corpus: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save(corpus, Path(folder))
        assert same(load(Path(folder)), corpus)


def test_languages_are_written_once_each(tmp_path: Path) -> None:
    save(numbered(1000, "cat"), tmp_path)
    schema = pq.read_schema(tmp_path / "captions.parquet")
    assert str(schema.field("language").type).startswith("dictionary")
    assert str(schema.field("origin").type).startswith("dictionary")


def test_a_folder_with_its_pictures_can_be_moved(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    corpus = numbered(3, "cat")
    inside = Corpus(**{**corpus.__dict__, "root": old / "pictures"})
    (old / "pictures").mkdir(parents=True)
    save(inside, old)
    old.rename(new)
    assert load(new).root == (new / "pictures").resolve()


def test_pictures_elsewhere_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    save(Corpus(**{**numbered(3, "cat").__dict__, "root": Path("photos")}), Path("saved"))
    monkeypatch.chdir("/")
    assert load(tmp_path / "saved").root == (tmp_path / "photos").resolve()


def test_replacing_a_corpus_leaves_only_the_new_one(tmp_path: Path) -> None:
    save(numbered(5, "cat"), tmp_path)
    save(numbered(2, "dog"), tmp_path)
    assert same(load(tmp_path), numbered(2, "dog"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["captions.parquet", "corpus.json", "pictures.parquet"]


def test_a_failed_save_leaves_the_old_corpus(tmp_path: Path) -> None:
    save(numbered(5, "cat"), tmp_path)
    unsavable = Corpus(**{**numbered(2, "dog").__dict__, "info": CorpusInfo(others={"score": float("nan")})})
    with pytest.raises(ValueError, match="JSON"):
        save(unsavable, tmp_path)
    assert same(load(tmp_path), numbered(5, "cat"))


def test_a_table_of_the_user_is_not_overwritten(tmp_path: Path) -> None:
    own = pa.table({"picture": ["a.jpg"], "language": ["en"], "text": ["A dog."]})
    pq.write_table(own, tmp_path / "captions.parquet")
    with pytest.raises(UserError, match=r"captions\.parquet: a table of your own would be overwritten"):
        save(numbered(2, "dog"), tmp_path)
    assert pq.read_table(tmp_path / "captions.parquet") == own
    assert [path.name for path in tmp_path.iterdir()] == ["captions.parquet"]


def test_a_folder_that_is_no_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"missing: no such folder"):
        load(tmp_path / "missing")
    with pytest.raises(UserError, match=r"no corpus\.json.*build it again"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"corpus\.json: not valid JSON"),
        ("[]", r"corpus\.json: not the description of a corpus"),
        ('{"format": 99}', r"corpus\.json: format 99, and this version of groundling reads 1"),
        ('{"format": 1, "name": 3}', r'corpus\.json: "name" is missing or not what it should be'),
    ],
)
def test_a_broken_description_is_named(tmp_path: Path, text: str, message: str) -> None:
    save(numbered(5, "cat"), tmp_path)
    (tmp_path / "corpus.json").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        load(tmp_path)


def test_a_truncated_table_is_named(tmp_path: Path) -> None:
    save(numbered(5, "cat"), tmp_path)
    table = tmp_path / "captions.parquet"
    table.write_bytes(table.read_bytes()[:-20])
    with pytest.raises(UserError, match=r"captions\.parquet: not the file that corpus\.json describes"):
        load(tmp_path)
    save(numbered(5, "cow"), tmp_path)  # a damaged corpus can be built again in place
    table.unlink()
    with pytest.raises(UserError, match=r"captions\.parquet: no such file"):
        load(tmp_path)


def test_tables_of_two_corpora_are_never_mixed(tmp_path: Path) -> None:
    """The moment between two renames: the new pictures are there, the old captions and description still are."""
    save(numbered(5, "cat"), tmp_path / "old")
    save(numbered(5, "dog"), tmp_path / "new")
    (tmp_path / "new" / "pictures.parquet").replace(tmp_path / "old" / "pictures.parquet")
    with pytest.raises(UserError, match=r"pictures\.parquet: not the file"):
        load(tmp_path / "old")


def test_counts_must_agree_with_the_tables(tmp_path: Path) -> None:
    save(numbered(5, "cat"), tmp_path)
    card = json.loads((tmp_path / "corpus.json").read_text(encoding="utf-8"))
    card["counts"]["captions"] = 6
    del card["checksum"]
    (tmp_path / "corpus.json").write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(UserError, match=r"corpus\.json: counts .*6.* but the tables hold .*5"):
        load(tmp_path)


SAVE_FOR_EVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_storage import numbered, save
cats, dogs = numbered(3000, "cat"), numbered(2000, "dog")
save(cats, Path(sys.argv[2]))
print("ready", flush=True)
while True:
    save(dogs, Path(sys.argv[2]))
    save(cats, Path(sys.argv[2]))
"""


def test_a_killed_save_leaves_a_whole_corpus_or_says_so(tmp_path: Path) -> None:
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        command = [sys.executable, "-c", SAVE_FOR_EVER, str(Path(__file__).parent), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.05 + 0.037 * attempt)
            child.send_signal(signal.SIGKILL)
        try:
            corpus = load(folder)
        except UserError as error:
            assert "build the corpus again" in str(error)
        else:
            assert same(corpus, numbered(3000, "cat")) or same(corpus, numbered(2000, "dog"))
        save(numbered(7, "cow"), folder)
        assert same(load(folder), numbered(7, "cow"))


@pytest.mark.parametrize("name", ["corpus.json", "captions.parquet", "pictures.parquet"])
def test_one_bit_anywhere_is_noticed_or_changes_nothing(tmp_path: Path, name: str) -> None:
    """Also in what the description says of itself: the name, the folder of the pictures, what was left out."""
    corpus = Corpus(**{**numbered(5, "cat").__dict__, "root": tmp_path, "info": CorpusInfo(skipped={"rows": 3})})
    save(corpus, tmp_path)
    path = tmp_path / name
    whole, noticed = path.read_bytes(), 0
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            found = load(tmp_path)
        except UserError as error:
            assert name in str(error)
            noticed += 1
        else:  # a space between two words of JSON, or the very word "checksum"
            assert same(found, corpus)
    assert noticed > 100
