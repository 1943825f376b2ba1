"""Published sets of statements, and one's own table: read as they are, and each mistake by its sentence."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundling.corpus import load
from groundling.corpus.formats import caption_table
from groundling.errors import UserError

HEADER = ",pairID,Flickr30kID,hypothesis,gold_label,explanation\n"


def line(photo: str, text: str, label: str = "neutral", **more: Any) -> dict[str, Any]:
    name = f"{photo}.jpg#0r1{label[0]}{text[:1]}"
    premise = {"sentence1": f"About {photo}.", "captionID": f"{photo}.jpg#0"}
    return {"Flickr30K_ID": photo, "sentence2": text, "gold_label": label, "pairID": name, **premise, **more}


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), encoding="utf-8")


def write_snli_ve(data: Path, **files: list[dict[str, Any]]) -> None:
    base = {"train": [line("1", "A.", "entailment")], "dev": [line("2", "B.")], "test": [line("3", "C.")]}
    for split, lines in {**base, **files}.items():
        write_lines(data / "snli-ve" / f"snli_ve_{split}.jsonl", lines)


# ---- SNLI-VE


def test_snli_ve_is_read_with_the_captions_it_is_about(tmp_path: Path) -> None:
    train = [line("1", "A dog runs.", "entailment"), line("1", "A cat.", "contradiction"), line("4", "So?", "-")]
    write_snli_ve(tmp_path, train=train)
    corpus = load("snli-ve", tmp_path)
    part = corpus.split("train")
    assert part.statements is not None
    assert (part.pictures.tolist(), part.texts) == (["1.jpg"], ["About 1."])
    assert part.statements.texts == ["A dog runs.", "A cat."]
    assert part.statements.labels.tolist() == ["entailment", "contradiction"]
    assert part.statements.ids[0] == "1.jpg#0r1eA"
    assert corpus.info.skipped == {"statements without an agreed label": 1}


def test_nobody_trains_on_photos_of_the_test_set(tmp_path: Path) -> None:
    write_snli_ve(tmp_path, train=[line("1", "A."), line("3", "About a test photo."), line("2", "About a dev photo.")])
    corpus = load("snli-ve", tmp_path)
    assert corpus.statements is not None
    assert Counter(corpus.splits.tolist()) == {"train": 1, "dev": 1, "test": 1}
    assert "About a test photo." not in corpus.statements.texts
    assert corpus.info.skipped == {"statements about a photo that is in another split": 2}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (line("1", "A.", "entailed"), r'train\.jsonl:2: unknown label "entailed" \(did you mean "entailment"\?\)'),
        (line("1", "  "), r"train\.jsonl:2: the text is empty"),
        ({"sentence2": "A."}, r'train\.jsonl:2: no field "Flickr30K_ID"'),
        (line("../1", "A."), r"train\.jsonl:2: picture .* leads out of the folder"),
        (line("1", "A.", sentence2=3), r'train\.jsonl:2: "sentence2" must be text, not int'),
        ([1], r"train\.jsonl:2: not a JSON object"),
    ],
)
def test_mistakes_in_lines_are_named(bad: Any, message: str, tmp_path: Path) -> None:
    write_snli_ve(tmp_path, train=[line("1", "Good."), bad])
    with pytest.raises(UserError, match=message):
        load("snli-ve", tmp_path)


def test_broken_json_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"snli-ve/snli_ve_train\.jsonl: no such file \(nor snli_ve_train\.jsonl\.gz\)"):
        load("snli-ve", tmp_path)
    write_snli_ve(tmp_path)
    (tmp_path / "snli-ve" / "snli_ve_dev.jsonl").write_text("{oops\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"snli_ve_dev\.jsonl:1: broken JSON"):
        load("snli-ve", tmp_path)


# ---- e-SNLI-VE


def write_esnli_ve(data: Path, **files: str) -> None:
    folder = data / "entailment"
    folder.mkdir(parents=True, exist_ok=True)
    base = {
        "dev": "".join(
            f'{at},{at}.jpg#0r1n,{at}.jpg,"Number {at}, perhaps",neutral,"Why,\nindeed"\n' for at in range(60)
        ),
        "test": "0,900.jpg#0r1c,900.jpg,No.,contradiction,x\n",
    }
    for split, rows in {**base, **files}.items():
        with gzip.open(folder / f"esnlive_{split}.csv.gz", "wt", encoding="utf-8") as file:
            file.write(HEADER + rows)


def test_esnli_ve_without_its_training_file_divides_the_dev_photos_and_says_so(tmp_path: Path) -> None:
    write_esnli_ve(tmp_path)
    corpus = load("e-snli-ve", tmp_path)
    counts = Counter(corpus.splits.tolist())
    assert counts["test"] == 1 and counts["train"] + counts["dev"] == 60 and 4 <= counts["dev"] <= 25
    assert "esnlive_train.csv is not there" in corpus.info.note
    assert corpus.statements is not None and "Number 7, perhaps" in corpus.statements.texts


def test_esnli_ve_with_its_training_file_has_the_published_splits(tmp_path: Path) -> None:
    write_esnli_ve(tmp_path, train="0,800.jpg#0r1c,800.jpg,Yes.,entailment,x\n")
    corpus = load("e-snli-ve", tmp_path)
    assert Counter(corpus.splits.tolist()) == {"train": 1, "dev": 60, "test": 1} and corpus.info.note is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,a,1.jpg,A.,neutral,x\n1,b,1.jpg,A.\n", r"esnlive_test\.csv\.gz:3: 4 fields where the header has 6"),
        ("0,a,1.jpg,A.,true,x\n", r'esnlive_test\.csv\.gz:2: unknown label "true" \(there is: contradiction, entail'),
        ('0,a,1.jpg,A.,neutral,"x\ny"\n1,b,1.jpg,,neutral,x\n', r"esnlive_test\.csv\.gz:4: the text is empty"),
        ('0,a,1.jpg,A.,neutral,x\n1,b,1.jpg,"A.,neutral,x\n', r"esnlive_test\.csv\.gz:3: broken row"),
    ],
)
def test_mistakes_in_rows_are_named_by_the_line_they_begin_in(rows: str, message: str, tmp_path: Path) -> None:
    write_esnli_ve(tmp_path, test=rows)
    with pytest.raises(UserError, match=message):
        load("e-snli-ve", tmp_path)


def test_photos_of_flickr8k_go_by_its_names_and_features(tmp_path: Path) -> None:
    write_esnli_ve(tmp_path)
    folder = tmp_path / "flickr8k"
    folder.mkdir()
    rows = ["file\tflickr30k_id", "900_abc.jpg\t900.jpg", "7_def.jpg\t7.jpg", "5000_xyz.jpg\t"]
    (folder / "images.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    np.save(folder / "features.npy", np.zeros((3, 4), dtype=np.float16))
    corpus = load("e-snli-ve-flickr8k", tmp_path)
    assert corpus.statements is not None
    said = {
        (str(corpus.pictures[at]), text)
        for at, text in zip(corpus.statements.owners, corpus.statements.texts, strict=True)
    }
    assert said == {("900_abc.jpg", "No."), ("7_def.jpg", "Number 7, perhaps")}
    assert corpus.info.skipped["photos that are not in Flickr8k"] == 59
    assert corpus.info.features.array.endswith("features.npy")
    (folder / "images.tsv").write_text("file\tflickr_id\n", encoding="utf-8")
    with pytest.raises(UserError, match=r'images\.tsv:1: no column "flickr30k_id" \(did you mean "flickr_id"\?\)'):
        load("e-snli-ve-flickr8k", tmp_path)


# ---- XVNLI


def test_xvnli_puts_translations_of_a_statement_together(tmp_path: Path) -> None:
    said = {"en": "He reads.", "fr": "Il lit.", "ar": "إنه يقرأ."}
    for language, text in said.items():
        other = {**line("5", text, "neutral"), "pairID": "5.jpg#2r1n"}
        del other["Flickr30K_ID"]
        write_lines(tmp_path / "xvnli" / language / "test.jsonl", [{**other, "Flikr30kID": "5"}])
    write_lines(tmp_path / "xvnli" / "en" / "train_48.jsonl", [line("6", "She runs.", "entailment")])
    corpus = load("xvnli", tmp_path)
    test = corpus.split("test")
    assert test.statements is not None
    assert dict(zip(test.statements.languages.tolist(), test.statements.texts, strict=True)) == said
    assert set(test.statements.ids.tolist()) == {"5.jpg#2r1n"} and len(test.pictures) == 1
    assert dict(zip(test.languages.tolist(), test.origins.tolist(), strict=True))["fr"] == "translation"
    assert corpus.split("train").pictures.tolist() == ["6.jpg"]


def test_xvnli_that_is_not_there_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"xvnli/en/test\.jsonl: no such file; put IGLUE's XVNLI/annotations there"):
        load("xvnli", tmp_path)


# ---- one's own table


def own(folder: Path, rows: str) -> Path:
    for name in ("a.png", "b.png"):
        Image.new("RGB", (8, 8), "red").save(folder / name)
    path = folder / "said.csv"
    path.write_text("picture,language,text,label,statement\n" + rows, encoding="utf-8")
    return path


def test_rows_with_a_label_are_statements_and_others_captions(tmp_path: Path) -> None:
    rows = (
        "a.png,en,A dog.,,\na.png,en,It barks.,Neutral,s1\na.png,de,Er bellt.,neutral,s1\nb.png,en,A cat.,entailment,\n"
    )
    corpus, report = caption_table.read(own(tmp_path, rows), strict=True)
    assert (corpus.texts, report.bad) == (["A dog."], 0)
    assert corpus.statements is not None
    assert corpus.statements.labels.tolist() == ["neutral", "neutral", "entailment"]
    assert corpus.statements.ids.tolist() == ["s1", "s1", "said.csv:5"]
    assert corpus.pictures[corpus.statements.owners].tolist() == ["a.png", "a.png", "b.png"]


def test_a_table_of_statements_only_is_a_corpus(tmp_path: Path) -> None:
    corpus, _ = caption_table.read(own(tmp_path, "a.png,en,A dog.,entailment,\n"))
    assert len(corpus) == 0 and corpus.statements is not None and len(corpus.statements) == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a.png,en,A.,entailement,\n", r'said\.csv:2: unknown label "entailement" \(did you mean "entailment"\?\)'),
        (
            "a.png,en,A.,neutral,s1\nb.png,de,B.,neutral,s1\n",
            r'said\.csv:3: statement "s1" is "neutral" of "a\.png" at said\.csv:2',
        ),
        (
            "a.png,en,A.,neutral,s1\na.png,de,B.,entailment,s1\n",
            r'said\.csv:3: statement "s1" is "neutral" of "a\.png" at said\.csv:2',
        ),
        ("c.png,en,A.,neutral,\n", r'said\.csv:2: no picture named "c\.png"'),
    ],
)
def test_mistakes_in_an_own_table_are_named(rows: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        caption_table.read(own(tmp_path, rows), strict=True)
