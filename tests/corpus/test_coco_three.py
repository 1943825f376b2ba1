"""COCO in three languages: the released files, what can be wrong with them, and who is held out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coco_files import annotations, file_of, name_of, write, write_lists, write_three
from groundling.corpus import Corpus, catalogue
from groundling.corpus.formats import coco_cn, coco_splits
from groundling.corpus.formats.coco_three import read
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError

EN = {number: [f"Dog {number}.", f"Some dog {number}."] for number in range(1, 13)}
ZH = {number: [f"狗{number}"] for number in range(1, 10)}
JA = {number: [f"犬{number}", f"一匹の犬{number}"] for number in range(3, 13)}
CHINESE = "coco-cn/coco-cn-version1805v1.1/imageid.human-written-caption.txt"
JAPANESE = "yjcaptions/yjcaptions26k_clean.json"


@pytest.fixture
def few_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coco_splits, "HELD_OUT", 2)


def said(corpus: Corpus) -> dict[tuple[str, str], list[str]]:
    """Captions by picture and language."""
    found: dict[tuple[str, str], list[str]] = {}
    for owner, language, text in zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.texts, strict=True):
        found.setdefault((str(corpus.pictures[owner]), language), []).append(text)
    return found


def split_of(corpus: Corpus, split: str) -> set[str]:
    return set(corpus.pictures[corpus.splits == split].tolist())


@pytest.mark.parametrize("own", [False, True])
def test_three_releases_are_one_corpus(tmp_path: Path, own: bool) -> None:
    write_three(tmp_path, EN, ZH, JA, own)
    write_lists(tmp_path, val=[f"{file_of(4)}.jpg"], test=[file_of(5), "6"])
    (tmp_path / "coco" / "val2014").mkdir()
    corpus = catalogue.load("coco-three", tmp_path)
    expected = {
        (name_of(n), code): texts for code, by in (("en", EN), ("zh", ZH), ("ja", JA)) for n, texts in by.items()
    }
    assert said(corpus) == expected
    assert set(corpus.origins.tolist()) == {"human"}
    assert split_of(corpus, "dev") == {name_of(4)}
    assert split_of(corpus, "test") == {name_of(5), name_of(6)}
    assert len(split_of(corpus, "train")) == 9
    assert corpus.root == (tmp_path / "coco").resolve()
    assert corpus.info == CorpusInfo(note="Splits: the lists of Kim et al. (2020).")


def test_pictures_in_no_list_and_blank_captions_are_left_out(tmp_path: Path) -> None:
    write_three(tmp_path, {**EN, 1: ["Dog.", " "]}, {**ZH, 2: [""]}, {**JA, 3: ["\n", "犬"]}, own=True)
    write_lists(tmp_path, train=[str(number) for number in range(1, 9)], val=["9"], test=["10"])
    corpus = read(tmp_path)
    assert corpus.info.skipped == {"rows": 3, "pictures": 2, "captions": 0}
    assert len(corpus.pictures) == 10
    captions = said(corpus)
    assert (name_of(2), "zh") not in captions
    assert captions[name_of(3), "ja"] == ["犬"]


@pytest.mark.usefixtures("few_held_out")
def test_without_lists_some_with_captions_in_all_languages_are_held_out(tmp_path: Path) -> None:
    write_three(tmp_path / "a", EN, ZH, JA)
    corpus = read(tmp_path / "a")
    held_out = [split_of(corpus, "dev"), split_of(corpus, "test")]
    assert [len(split) for split in held_out] == [2, 2]
    assert not held_out[0] & held_out[1]
    assert held_out[0] | held_out[1] <= {name_of(number) for number in range(3, 10)}
    assert "drawn here" in corpus.info.note
    backwards = [{number: texts[number] for number in reversed(texts)} for texts in (EN, ZH, JA)]
    write_three(tmp_path / "b", *backwards, own=True)
    again = read(tmp_path / "b")
    assert [split_of(again, "dev"), split_of(again, "test")] == held_out


@given(st.sets(st.integers(0, 10**6), min_size=4, max_size=40))
def test_no_picture_is_in_two_splits(numbers: set[int]) -> None:
    from groundling.corpus.formats.coco_pictures import CocoPictures

    pictures = CocoPictures()
    for number in numbers:
        pictures.caption(pictures.add("val2014", number), "en", "A dog.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coco_splits, "HELD_OUT", 2)
        splits = coco_splits.drawn(pictures, ["en"])
    assert splits.keys() == numbers
    assert sorted(splits.values()) == ["dev"] * 2 + ["test"] * 2 + ["train"] * (len(numbers) - 4)


KEYS = st.lists(st.tuples(st.integers(0, 10**12 - 1), st.integers(0, 99)), unique=True, min_size=1, max_size=20)
TEXTS = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30)


@given(KEYS, st.data())
def test_what_is_written_with_tabs_is_read(tmp_path_factory: pytest.TempPathFactory, keys: Any, data: Any) -> None:
    """Whatever the text: tabs, # and the line ends of Unicode are part of it."""
    rows = [(f"COCO_train2014_{number:012d}", at, data.draw(TEXTS)) for number, at in keys]
    path = tmp_path_factory.mktemp("cn") / "captions.txt"
    path.write_bytes("".join(f"{picture}#{at}\t{text}\n" for picture, at, text in rows).encode())
    assert [(line.picture, line.text) for line in coco_cn.read(path)] == [(picture, text) for picture, _, text in rows]


@given(st.binary(max_size=200))
def test_any_bytes_are_captions_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("cn") / "captions.txt"
    path.write_bytes(content)
    try:
        assert list(coco_cn.read(path))
    except UserError as problem:
        assert str(problem).count("\n") == 0
        assert "captions.txt" in str(problem)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("一只狗", r':2: "一只狗" is not PICTURE#NUMBER, a tab and a caption'),
        (f"{file_of(3)}#0 狗", r":2: .* is not PICTURE#NUMBER, a tab and a caption"),
        (f"{file_of(3)}\t狗", r":2: .* is not PICTURE#NUMBER"),
        (f"{file_of(3)}#x\t狗", r":2: .* is not PICTURE#NUMBER"),
        (f"{file_of(1)}#0\t狗", r':2: "COCO_train2014_000000000001#0" is in line 1, too; fetch the file again'),
        (
            "COCO_val2014_000000000999#0\t狗",
            r':2: COCO has no picture "COCO_val2014_000000000999" with captions in Eng',
        ),
        (
            "COCO_val2014_000000000003#0\t狗",
            r':2: COCO has no picture "COCO_val2014_000000000003"',
        ),  # it is in train2014
        ("3.jpg#0\t狗", r':2: "3\.jpg" is not a picture of COCO 2014 such as "COCO_val2014_000000391895\.jpg"'),
        (f"{file_of(3)}#0\t" + "狗" * 10_001, r":2: the text has 10,001 characters"),
    ],
)
def test_a_bad_chinese_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    write_three(tmp_path, EN, ZH, JA)
    write(tmp_path / CHINESE, f"{file_of(1)}#0\t狗\n{line}\n")
    with pytest.raises(UserError, match=r"^imageid\.human-written-caption\.txt" + problem):
        read(tmp_path)


GOOD = annotations([(3, "犬")])["annotations"][0]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], r'/yjcaptions26k_clean\.json: no list "annotations"'),
        ({"annotations": {}}, r'/yjcaptions26k_clean\.json: no list "annotations"'),
        ({"annotations": []}, r"/yjcaptions26k_clean\.json: holds no caption"),
        ({"annotations": [GOOD, 7]}, r"^yjcaptions26k_clean\.json: annotation 2: not a JSON object"),
        ({"annotations": [GOOD, GOOD]}, r"annotation 2: caption 100 of picture 3 is there twice"),
        ({"annotations": [{**GOOD, "image_id": "3"}]}, r'annotation 1: "image_id" must be a whole number'),
        ({"annotations": [{**GOOD, "image_id": True}]}, r'annotation 1: "image_id" must be a whole number'),
        ({"annotations": [{**GOOD, "image_id": -3}]}, r'annotation 1: "image_id" must be a whole number'),
        ({"annotations": [{**GOOD, "image_id": 999}]}, r'annotation 1: COCO has no picture "999"'),
        ({"annotations": [{"imageid": 3, "id": 1}]}, r'no field "image_id" \(did you mean "imageid"\?\)'),
        ({"annotations": [{**GOOD, "caption": ["犬"]}]}, r'annotation 1: "caption" must be text, not list'),
        ({"annotations": [{"image_id": 3, "id": 1}]}, r'annotation 1: no field "caption"'),
        ({"annotations": [{**GOOD, "caption": "\ud800"}]}, r"annotation 1: the text holds half a character"),
    ],
)
def test_a_bad_japanese_file_is_named(tmp_path: Path, content: Any, problem: str) -> None:
    write_three(tmp_path, EN, ZH, JA)
    write(tmp_path / JAPANESE, json.dumps(content))
    with pytest.raises(UserError, match=problem):
        read(tmp_path)


@pytest.mark.parametrize("own", [False, True])
def test_an_english_file_with_other_pictures(tmp_path: Path, own: bool) -> None:
    write_three(tmp_path, EN, ZH, JA, own)
    if own:
        path = tmp_path / "coco" / "annotations" / "captions_val2014.json"
        write(path, json.dumps(annotations([(3, "A dog.")])))
        problem = r"captions_val2014\.json: annotation 1: picture 3 is in train2014 and in val2014"
    else:
        path = tmp_path / "coco" / "dataset_coco.json"
        write(path, path.read_text().replace(file_of(3), "1000"))
        problem = r'dataset_coco\.json: "train2014/1000\.jpg" is not a picture of COCO 2014'
    with pytest.raises(UserError, match=problem):
        read(tmp_path)


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("coco/annotations/captions_train2014.json", r"captions_train2014\.json: no such file; unpack COCO's annotat"),
        ("coco/annotations/captions_val2014.json", r"captions_val2014\.json: no such file; .* or put Karpathy's datas"),
        (CHINESE, r"coco-cn/imageid\.human-written-caption\.txt: no such file; unpack COCO-CN's .*tar\.gz in coco-cn/"),
        (JAPANESE, r"yjcaptions26k_clean\.json: no such file; unpack YJ Captions' yjcaptions26k\.zip in yjcaptions/"),
        ("mule/coco/val.txt", r"mule/coco/val\.txt: no such file; it belongs to the other lists"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, file: str, problem: str) -> None:
    write_three(tmp_path, EN, ZH, JA, own=True)
    write_lists(tmp_path, val=["4"], test=["5"])
    read(tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(UserError, match=problem):
        read(tmp_path)


@pytest.mark.parametrize(
    ("lists", "problem"),
    [
        (
            {"test": ["5", "4"]},
            r'^test\.txt:2: "COCO_val2014_000000000004" was listed before, in val\.txt; list it once',
        ),
        ({"train": ["1", "4"], "test": ["5"]}, r'^val\.txt:1: "COCO_val2014_0+4" was listed before, in train\.txt'),
        ({"test": ["5", "", f"x/{file_of(5)}.jpg"]}, r"^test\.txt:3: .* was listed before, in test\.txt"),
        ({"test": ["99"]}, r'^test\.txt:1: COCO has no picture "99"'),
        ({"test": ["five"]}, r'^test\.txt:1: "five" is not a picture of COCO 2014'),
        ({"test": [""]}, r"test\.txt: lists no picture"),
    ],
)
def test_a_bad_list_is_named(tmp_path: Path, lists: dict[str, list[str]], problem: str) -> None:
    write_three(tmp_path, EN, ZH, JA)
    write_lists(tmp_path, val=["4"], **lists)
    with pytest.raises(UserError, match=problem):
        read(tmp_path)


def test_too_few_pictures_to_hold_some_out(tmp_path: Path) -> None:
    write_three(tmp_path, EN, ZH, JA)
    with pytest.raises(UserError, match=r"COCO: 7 pictures have captions in en, zh, ja, too few to hold out 2,000 of"):
        read(tmp_path)
