"""Corpora from shards of other programs: what is in them is read, what is wrong with them is said, nothing gets out."""

import json
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest
from shard_files import faces, picture, save_to_disk, write_parquet, write_tar

from groundling.corpus import Corpus, load
from groundling.corpus.building import build
from groundling.corpus.catalogue import streamed
from groundling.corpus.formats.skipped import Report
from groundling.corpus.formats.sources import expanded
from groundling.corpus.storage import load as load_folder
from groundling.errors import UserError


def made(*names: object, out: Path, language: str = "", **options: object) -> tuple[Corpus, Report]:
    source = streamed([str(name) for name in names])
    assert source is not None
    report = build(source, out, language, **options)  # type: ignore[arg-type]
    return load_folder(out), report


def said(corpus: Corpus) -> dict[bytes, list[tuple[str, str, str]]]:
    """The bytes of each picture → its captions with languages and split."""
    found: dict[bytes, list[tuple[str, str, str]]] = {}
    for owner, code, text in zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.texts, strict=True):
        path = corpus.path(owner)
        assert path is not None
        found.setdefault(path.read_bytes(), []).append((code, text, str(corpus.splits[owner])))
    return found


def test_webdataset_shards(tmp_path: Path) -> None:
    write_tar(
        tmp_path / "s/train-000.tar",
        {
            "a/1.jpg": picture(1),
            "a/1.txt": "a dog\nruns",
            "a/2.png": picture(2, "PNG"),
            "a/2.json": {"captions": {"en": "a cat", "de": ["eine Katze", "noch eine"]}},
            "a/2.txt": "not this",
            "a/2.cls": "7",
            "3.webp": picture(3, "WEBP"),
            "3.de.txt": "ein Baum",
            "3.en.txt": "a tree",
        },
    )
    write_tar(tmp_path / "s/val-001.tar", {"4.jpg": picture(4), "4.json": {"caption": "a boat", "language": "fr"}})
    corpus, report = made(tmp_path / "s/{train-000,val-001}.tar", out=tmp_path / "c", language="en")
    assert report.problems == []
    assert said(corpus) == {
        picture(1): [("en", "a dog runs", "train")],
        picture(2, "PNG"): [("en", "a cat", "train"), ("de", "eine Katze", "train"), ("de", "noch eine", "train")],
        picture(3, "WEBP"): [("de", "ein Baum", "train"), ("en", "a tree", "train")],
        picture(4): [("fr", "a boat", "dev")],
    }
    assert sorted({Path(name).suffix for name in corpus.pictures.tolist()}) == [".jpg", ".png", ".webp"]
    before = said(corpus).keys()
    moved = (tmp_path / "c").rename(tmp_path / "moved")  # the pictures are in the folder
    assert said(load(str(moved))).keys() == before
    assert load(str(moved)).counts() == {
        "train": {"pictures": 3, "de": 3, "en": 3, "fr": 0},
        "dev": {"pictures": 1, "de": 0, "en": 0, "fr": 1},
        "test": {"pictures": 0, "de": 0, "en": 0, "fr": 0},
    }


def test_the_same_picture_twice_is_one(tmp_path: Path) -> None:
    same = {"1.jpg": picture(1), "1.txt": "a dog", "2.jpg": picture(1), "2.txt": "the dog"}
    write_tar(tmp_path / "0.tar", same)
    corpus, _ = made(tmp_path / "0.tar", out=tmp_path / "c", language="en")
    assert (len(corpus.pictures), list(corpus.texts)) == (1, ["a dog", "the dog"])


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    names = {"../../out.jpg": picture(1), "../../out.txt": "a", "/etc/2.jpg": picture(2), "/etc/2.txt": "b"}
    long = "x" * 300
    write_tar(inside / "0.tar", {**names, f"{long}.jpg": picture(3), f"{long}.txt": "c"})
    with tarfile.open(inside / "0.tar", "a") as archive:
        link = tarfile.TarInfo("4.jpg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    before = set(tmp_path.rglob("*"))
    corpus, _ = made(inside / "0.tar", out=inside / "c", language="en")
    assert said(corpus).keys() == {picture(1), picture(2), picture(3)}
    new = set(tmp_path.rglob("*")) - before
    assert all(path.is_relative_to(inside / "c") for path in new)
    assert not any(path.is_symlink() for path in new)


def test_bad_samples_are_left_out_and_said(tmp_path: Path) -> None:
    members = {
        "1.jpg": picture(1),
        "1.txt": "good",
        "2.jpg": b"no picture",
        "2.txt": "two",
        "3.jpg": picture(3),
        "4.txt": "four",
        "5.jpg": picture(5),
        "5.json": "{",
        "6.jpg": picture(6),
        "6.txt": " ",
        "7.jpg": picture(7)[:200],
        "7.txt": "seven",
    }
    write_tar(tmp_path / "0.tar", members)
    corpus, report = made(tmp_path / "0.tar", out=tmp_path / "c", language="en")
    assert list(corpus.texts) == ["good"]
    assert [problem.split(" (")[0] for problem in report.problems] == [
        "0.tar:2: unreadable picture",
        "0.tar:3: no caption",
        "0.tar:4: no picture",
        "0.tar:5: 5.json: broken JSON",
        "0.tar:6: no caption",
        "0.tar:7: unreadable picture",
    ]
    assert corpus.info.skipped == {"rows": 4, "pictures": 2, "captions": 2}
    with pytest.raises(UserError, match=r"0\.tar:2: unreadable picture.*\(and 5 more"):
        made(tmp_path / "0.tar", out=tmp_path / "strict", language="en", strict=True)
    assert not (tmp_path / "strict").exists()


def test_a_member_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.corpus.formats.webdataset.MOST_BYTES", 1000)
    write_tar(tmp_path / "0.tar", {"1.jpg": picture(1), "1.txt": "a", "2.jpg": bytes(1001), "2.txt": "b"})
    _, report = made(tmp_path / "0.tar", out=tmp_path / "c", language="en")
    assert report.problems == ["0.tar:2: 2.jpg has 1,001 bytes, more than 1,000"]


def test_archives_that_are_cut_or_none(tmp_path: Path) -> None:
    write_tar(tmp_path / "0.tar", {"1.jpg": picture(1), "1.txt": "a", "2.jpg": picture(2), "2.txt": "b"})
    whole = (tmp_path / "0.tar").read_bytes()
    (tmp_path / "cut.tar").write_bytes(whole[: 512 + 300])
    with pytest.raises(UserError, match=r"cut\.tar: the archive ends in the middle of a member; fetch it again"):
        made(tmp_path / "cut.tar", out=tmp_path / "c", language="en")
    (tmp_path / "none.tar").write_bytes(b"x" * 2000)
    with pytest.raises(UserError, match=r"none\.tar: not a tar archive"):
        made(tmp_path / "none.tar", out=tmp_path / "c", language="en")
    assert not (tmp_path / "c").exists()


def test_a_language_must_be_known(tmp_path: Path) -> None:
    write_tar(tmp_path / "0.tar", {"1.jpg": picture(1), "1.txt": "a dog"})
    with pytest.raises(UserError, match=r"0\.tar:1: the captions do not say their language; give --language"):
        made(tmp_path / "0.tar", out=tmp_path / "c")


def test_img2dataset_folders(tmp_path: Path) -> None:
    folder = tmp_path / "fetched"
    (folder / "00000").mkdir(parents=True)
    for number, notes in enumerate([{"caption": "a dog", "url": "u"}, {"url": "u"}, None]):
        stem = folder / "00000" / f"00000000{number}"
        stem.with_suffix(".jpg").write_bytes(picture(number))
        stem.with_suffix(".txt").write_text(f"text {number}")
        if notes is not None:
            stem.with_suffix(".json").write_text(json.dumps(notes))
    (folder / "00000" / "000000009.jpg").write_bytes(picture(9))
    corpus, report = made(folder, out=tmp_path / "c", language="en")
    assert list(corpus.texts) == ["a dog", "text 1", "text 2"]
    assert corpus.pictures.tolist()[0] == "00000/000000000.jpg" and corpus.root == folder
    assert report.problems == ["00000/000000009.jpg: no caption beside it"]
    write_tar(folder / "00000.tar", {"1.jpg": picture(1), "1.txt": "from the archive"})
    write_parquet(folder / "00000.parquet", pa.table({"url": ["u"], "caption": ["the same"]}))
    assert list(made(folder, out=tmp_path / "d", language="en")[0].texts) == ["from the archive"]


def test_laion_lists(tmp_path: Path) -> None:
    listed = {"URL": ["http://a/1.jpg"], "TEXT": ["a dog"]}
    write_parquet(tmp_path / "laion.parquet", pa.table(listed))
    with pytest.raises(UserError, match=r"laion\.parquet: captions without pictures .*fetch the pictures with"):
        made(tmp_path / "laion.parquet", out=tmp_path / "c", language="en")
    (tmp_path / "p.jpg").write_bytes(picture(1))
    more = {**listed, "LANGUAGE": ["fr"], "image_path": ["p.jpg"]}
    write_parquet(tmp_path / "laion.parquet", pa.table(more))
    corpus, _ = made(tmp_path / "laion.parquet", out=tmp_path / "c")
    assert said(corpus) == {picture(1): [("fr", "a dog", str(corpus.splits[0]))]}
    write_parquet(tmp_path / "laion.parquet", pa.table({**more, "image_path": ["../p.jpg"]}))
    with pytest.raises(UserError, match=r'no usable row.*picture "\.\./p\.jpg" leads out of the folder'):
        made(tmp_path / "laion.parquet", out=tmp_path / "d")


def test_hugging_face_folders(tmp_path: Path) -> None:
    save_to_disk(tmp_path / "hf/train", faces([1, 2], caption=[["a", "b"], ["c"]], caption_de=["x", "y"]))
    save_to_disk(tmp_path / "hf/validation", faces([3], caption=[["d"]], caption_de=["z"]))
    (tmp_path / "hf/dataset_dict.json").write_text(json.dumps({"splits": ["train", "validation"]}))
    corpus, _ = made(tmp_path / "hf", out=tmp_path / "c", language="en")
    assert said(corpus) == {
        picture(1): [("de", "x", "train"), ("en", "a", "train"), ("en", "b", "train")],
        picture(2): [("de", "y", "train"), ("en", "c", "train")],
        picture(3): [("de", "z", "dev"), ("en", "d", "dev")],
    }
    save_to_disk(tmp_path / "one", faces([1, 2], captions=[["a", "b"], ["c"]], lang=["en", "fr"]))
    assert sorted(
        part[:2] for rows in said(made(tmp_path / "one", out=tmp_path / "d")[0]).values() for part in rows
    ) == [
        ("en", "a"),
        ("en", "b"),
        ("fr", "c"),
    ]
    (tmp_path / "one/state.json").write_text(json.dumps({"_data_files": [{"filename": "../hf/x.arrow"}]}))
    with pytest.raises(UserError, match="names one that is not in it"):
        made(tmp_path / "one", out=tmp_path / "e")


def test_captions_beside_those_of_single_languages(tmp_path: Path) -> None:
    """A plain one is read where its language is known and has no column of its own: none is lost, none there twice."""

    def spoken(language: str = "", **columns: list[str]) -> list[tuple[str, str]]:
        write_parquet(tmp_path / "p.parquet", faces([1], **columns))
        corpus, _ = made(tmp_path / "p.parquet", out=tmp_path / "c", language=language)
        return list(zip(corpus.languages.tolist(), corpus.texts, strict=True))

    both = {"caption": ["a dog"], "caption_de": ["ein Hund"]}
    assert spoken("en", **both) == [("de", "ein Hund"), ("en", "a dog")]
    assert spoken("fr", **both, lang=["en"]) == [("de", "ein Hund"), ("en", "a dog")]  # the row's own goes first
    assert spoken(**both) == [("de", "ein Hund")]
    assert spoken("de", **both) == [("de", "ein Hund")]
    assert spoken("pt-BR", caption=["um cão"], **{"caption_pt-br": ["o cão"]}) == [("pt-BR", "o cão")]


def test_parquet_with_pictures_inside(tmp_path: Path) -> None:
    write_parquet(tmp_path / "hf/data/train-00000-of-00001.parquet", faces([1], text=["a"]))
    write_parquet(tmp_path / "hf/data/test-00000-of-00001.parquet", faces([2], text=["b"]))
    corpus, _ = made(tmp_path / "hf", out=tmp_path / "c", language="en")
    assert said(corpus) == {picture(1): [("en", "a", "train")], picture(2): [("en", "b", "test")]}
    bare = pa.table({"jpg": pa.array([picture(5), None]), "caption": ["c", "d"], "key": ["1", "2"]})
    write_parquet(tmp_path / "00000.parquet", bare)
    corpus, report = made(tmp_path / "00000.parquet", out=tmp_path / "d", language="en", check="none")
    assert (list(corpus.texts), report.problems) == (["c"], ["00000.parquet:2: no picture"])


def test_patterns(tmp_path: Path) -> None:
    for number in (8, 9, 10):
        (tmp_path / f"{number:03}.tar").touch()
    names = [path.name for path in expanded(str(tmp_path / "{008..010}.tar"))]
    assert names == ["008.tar", "009.tar", "010.tar"]
    assert [path.name for path in expanded(str(tmp_path / "0{08,09,10}.tar"))] == names
    assert [path.name for path in expanded(str(tmp_path / "0*.tar"))] == names
    with pytest.raises(UserError, match=r"007\.tar: no such file or folder \(and 2 more of 6\)"):
        expanded(str(tmp_path / "{007..012}.tar"))
    with pytest.raises(UserError, match="no file has such a name"):
        expanded(str(tmp_path / "x*.tar"))
    with pytest.raises(UserError, match="from the smaller to the larger"):
        expanded("{9..1}.tar")


def test_shards_are_not_a_corpus_yet(tmp_path: Path) -> None:
    write_tar(tmp_path / "0.tar", {"1.jpg": picture(1), "1.txt": "a"})
    with pytest.raises(UserError, match=r"0\.tar: shards are made into a corpus first: groundling corpus build"):
        load(str(tmp_path / "0.tar"))
