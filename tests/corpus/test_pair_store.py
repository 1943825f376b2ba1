"""Sentence pairs of every format, read once into a store: what is in them, what is left out, what is told."""

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from groundling.corpus.pairs import PairStore, SentencePairs, store
from groundling.corpus.pairs.distinct import distinct, smallest
from groundling.corpus.pairs.row import Wanted
from groundling.errors import UserError

GERMAN = Wanted(("de",), "en", ("en",))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))


def sentences(number: int = 100) -> list[dict[str, str]]:
    """What is said in three languages."""
    return [{"en": f"{n} dogs", "de": f"{n} Hunde", "fr": f'{n} chiens, "oui"'} for n in range(number)]


def found(pairs: PairStore) -> set[tuple[str, str, str, str]]:
    """All pairs of all splits."""
    return {pair for name in ("train", "dev", "test") for pair in said(pairs.split(name))}


def said(pairs: SentencePairs) -> list[tuple[str, str, str, str]]:
    beside = pairs.partner(np.arange(len(pairs)))
    known = [(pairs.known_languages[int(row)], pairs.known[int(row)]) for row in beside]
    return [(*one, code, text) for one, code, text in zip(known, pairs.languages, pairs.new, strict=True)]


def write(folder: Path, kind: str) -> Path:
    rows = sentences()
    path = folder / f"pairs.{kind}"
    lines = {
        "tsv": ["en\tde\tfr", *("\t".join(row.values()) for row in rows)],
        "csv": ["en;de;fr", *(f'{r["en"]};{r["de"]};"{r["fr"].replace(chr(34), chr(34) * 2)}"' for r in rows)],
        "jsonl": [json.dumps({"id": None, "translation": row}) for row in rows],
        "tmx": [
            '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx version="1.4"><header/><body>',
            *(
                f'<tu><tuv xml:lang="EN-US"><seg>{r["en"]}</seg></tuv><tuv xml:lang="de"><seg>{r["de"]}<ph>x</ph></seg>'
                f'</tuv><tuv lang="fr"><seg>{r["fr"]}</seg></tuv></tu>'
                for r in rows
            ),
            "</body></tmx>",
        ],
    }
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif kind == "moses":
        for code in rows[0]:
            (folder / f"pairs.{code}").write_text("".join(f"{row[code]}\n" for row in rows))
        return folder / "pairs"
    elif kind == "tsv.gz":
        path.write_bytes(gzip.compress("\n".join(lines["tsv"]).encode()))
    else:
        path.write_text("\n".join(lines[kind]), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["tsv", "tsv.gz", "csv", "jsonl", "parquet", "moses", "tmx"])
def test_every_format_says_the_same(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path, kind)
    both = PairStore.open(path, Wanted(("de", "fr"), "en", ()))
    expected = {("en", row["en"], code, row[code]) for row in sentences() for code in ("de", "fr")}
    assert found(both) == expected
    assert both.new == ["de", "fr"]
    assert both.known == ["en"]
    german = PairStore.open(path, Wanted(("de",), None, ("en", "nl")))
    assert found(german) == {pair for pair in expected if pair[2] == "de"}
    assert PairStore.open(path, Wanted((), "en", ())).new == ["de", "fr"]  # all that there is


def test_a_language_column_and_the_splits_of_former_times(tmp_path: Path) -> None:
    lines = ["known\tnew\tlanguage"]
    lines += [f"{row['en']}\t{row[code]}\t{code}" for row in sentences() for code in ("de", "fr")]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    pairs = PairStore.open(tmp_path / "pairs.tsv", Wanted(("de", "fr"), "en", ("en",)))
    assert pairs.counts("train") == {"de": 80, "fr": 80}
    assert pairs.counts("dev") == pairs.counts("test") == {"de": 10, "fr": 10}
    drawn = sorted((row["en"] for row in sentences()), key=lambda text: hashlib.sha256(text.encode()).digest())
    for name, place in (("dev", slice(0, 10)), ("test", slice(10, 20)), ("train", slice(20, 100))):
        assert {pair[1] for pair in said(pairs.split(name))} == set(drawn[place])


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet", "moses", "tmx"])
def test_which_language_a_pretrained_teacher_knows_is_asked_and_not_guessed(kind: str, tmp_path: Path) -> None:
    """It cannot list its languages: of files in alphabetical order German would be taken for the known one."""
    path = write(tmp_path, kind)
    with pytest.raises(UserError, match=r"which of [\w-]+, \w\w is the language that the teacher knows\? .* --from"):
        PairStore.open(path, Wanted(("fr",), None, ()))
    assert PairStore.open(path, Wanted(("fr",), "en", ())).known == ["en"]
    assert PairStore.open(path, Wanted(("de", "fr"), None, ())).known[0].startswith("en")  # one is left


def test_what_is_there_twice_is_kept_once_and_a_sentence_may_have_several(tmp_path: Path) -> None:
    lines = [f"{n} dogs\t{n} Hunde" for n in range(60)]
    lines += [*lines[:7], "3 dogs\tdrei Hunde", "x\tx"]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    pairs = PairStore.open(tmp_path / "pairs.tsv", GERMAN)
    assert pairs.duplicates == 7
    assert len(found(pairs)) == 62
    assert sum(len(pairs.split(name)) for name in ("train", "dev", "test")) == 62
    three = [name for name in ("train", "dev", "test") if "3 dogs" in {pair[1] for pair in said(pairs.split(name))}]
    assert len(three) == 1  # both of its translations in one split
    assert len(pairs.split("dev").known) == 61


def test_a_store_is_made_once_and_anew_when_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "tsv")
    first = PairStore.open(path, GERMAN)
    with monkeypatch.context() as patch:
        patch.setattr(store, "_write", None)
        assert PairStore.open(path, GERMAN) == first
    path.write_text(path.read_text() + "\na cat\teine Katze\tun chat")
    assert len(found(PairStore.open(path, GERMAN))) == 101


def test_bad_lines_are_listed_and_left_out(tmp_path: Path) -> None:
    lines = [f"{n} dogs\t{n} Hunde" for n in range(60)]
    lines[3], lines[7], lines[9] = "no tab here", "a dog\t ", "a\tb\tc"
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    pairs = PairStore.open(tmp_path / "pairs.tsv", GERMAN)
    assert len(found(pairs)) == 57
    assert [problem.split(";")[0] for problem in pairs.problems] == [
        "pairs.tsv:4: no tab in this line",
        "pairs.tsv:8: the text is empty",
        "pairs.tsv:10: 2 tabs in this line",
    ]


@pytest.mark.parametrize(
    ("name", "content", "wanted", "words"),
    [
        ("few.tsv", "a\tb\n" * 80, GERMAN, "few.tsv: 1 pairs of 1 different known sentences; at least 50 are needed"),
        ("torn.tsv", "a b\n" * 80, GERMAN, "torn.tsv:1: no tab in this line; write a known"),
        ("three.tsv", "a\tb\tde\n" * 80, GERMAN, "begin with a line that names the columns: known, new, language"),
        ("which.tsv", "a\tb\n" * 80, Wanted(("de",), None, ("en", "fr")), "which.tsv: which language are the first"),
        ("strange.tsv", "a\tb\n" * 80, Wanted(("de",), "xx", ("en",)), 'strange.tsv: the teacher does not know "xx"'),
        ("head.tsv", "en\tde\na\tb\n", Wanted(("de",), "fr", ("en", "fr")), "the header says en, and --from fr"),
        ("other.tsv", "en\tde\tfr\n1\t2\t3\n", Wanted(("ko", "de"), "en", ()), 'in "ko" (there is: de, fr)'),
        ("none.tsv", None, GERMAN, "none.tsv: no such file"),
        ("pairs.doc", "a\tb\n", GERMAN, "no file of sentence pairs; write .tsv, .txt, .csv, .jsonl, .parquet, .tmx"),
        ("plain.csv", "a dog,ein Hund\n", GERMAN, "plain.csv:1: the first line must name the columns"),
        ("bad.jsonl", '{"en": 1}\n', GERMAN, 'bad.jsonl:1: "en" must be text, not int'),
        ("cut.parquet", "PAR1", GERMAN, "not a readable Parquet file"),
        ("open.tmx", "<tmx><body><tu>", GERMAN, "open.tmx:1: not well-formed XML"),
        ("pairs.tsv.gz", "no gzip", GERMAN, "damaged or incomplete gzip"),
    ],
)  # fmt: skip
def test_mistakes_in_a_sentence(name: str, content: str | None, wanted: Wanted, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UserError) as caught:
        PairStore.open(tmp_path / name, wanted)
    assert words in str(caught.value)
    assert not list((tmp_path / "cache").rglob("pairs.json"))


def test_a_translation_memory_cannot_make_us_keep_more_than_it_holds(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><tmx><tu>&b;</tu></tmx>'
    outside = '<!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]><tmx><tu><tuv>&a;</tuv></tu></tmx>'
    deep = "<tmx>" + "<a>" * 100
    long = f'<tmx><tu><tuv xml:lang="en"><seg>{"a" * 200_000}</seg></tuv></tu></tmx>'
    many = "".join(f'<tuv xml:lang="en-{n:04}"><seg>a</seg></tuv>' for n in range(1000))
    words = {laughs: "declares entities", outside: "declares entities", deep: "more than 50 elements"}
    words |= {
        long: "a sentence of more than 100,000 characters",
        f"<tmx><tu>{many}</tu></tmx>": "more than 500 languages",
    }
    for content, sentence in words.items():
        (tmp_path / "bad.tmx").write_text(content)
        with pytest.raises(UserError, match=sentence):
            PairStore.open(tmp_path / "bad.tmx", GERMAN)


def test_files_of_moses_of_unlike_lengths(tmp_path: Path) -> None:
    write(tmp_path, "moses")
    assert len(found(PairStore.open(tmp_path / "pairs.de", GERMAN))) == 100  # named by one of them
    (tmp_path / "pairs.de").write_text("eine Zeile\n")
    with pytest.raises(UserError, match=r"pairs.de: has fewer lines than pairs.en"):
        PairStore.open(tmp_path / "pairs", GERMAN)


@pytest.mark.parametrize("at_once", [3, 10, 1000])
def test_the_same_is_found_in_parts_as_at_once(at_once: int) -> None:
    draw = np.random.default_rng(0)
    values = draw.integers(0, 2**64, 40, dtype=np.uint64)
    hashes = values[draw.integers(0, 40, 200)]
    first, number = distinct(hashes, at_once)
    seen: dict[int, int] = {}
    for row, value in enumerate(hashes.tolist()):
        assert first[row] == (value not in seen)
        assert number[row] == seen.setdefault(value, len(seen))
    expected = sorted(np.flatnonzero(first).tolist(), key=lambda row: hashes[row])[:7]
    assert smallest(hashes, first, 7, at_once).tolist() == expected
