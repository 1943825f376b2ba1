"""What is wrong with your own data is named by file and line, and the rest is read."""

import gzip
import json
from pathlib import Path

import caption_tables
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from caption_tables import KINDS, draw_picture, good, write_table

from groundling.corpus.formats.caption_table import read
from groundling.corpus.formats.skipped import MOST_SENTENCES
from groundling.errors import UserError

photos = caption_tables.photos


# --- bad rows are named

BAD_ROWS = [
    (good(picture="img_0042.jpg"), 'no picture named "img_0042.jpg" in photos/ (did you mean "img_0024.jpg"?)'),
    (good(picture="cat.jpg"), 'no picture named "cat.jpg" in photos/ (did you mean "more/cat.jpg"?)'),
    (good(picture="more"), 'no picture named "more" in photos/'),
    (good(picture="x" * 5000), 'no picture named "xxx'),
    (good(picture=""), "the picture is empty"),
    (good(picture="/etc/passwd"), 'picture "/etc/passwd" is an absolute path'),
    (good(picture="C:\\photos\\a.jpg"), "is an absolute path"),
    (good(picture="../photos/beach.png"), 'picture "../photos/beach.png" leads out of the folder'),
    (good(picture="more\\..\\..\\a.jpg"), "leads out of the folder"),
    (good(picture="beach\0.png"), "holds a NUL character"),
    (good(text=""), "the text is empty"),
    (good(text=" \t\u3000"), "the text is empty"),
    (good(text="x" * 10_001), "the text has 10,001 characters, more than 10,000"),
    (good(language="english"), 'language "english" is not a code such as "en", "zh" or "pt-BR"'),
    (good(language=""), 'language "" is not a code'),
    (good(language="en_US"), 'language "en_US" is not a code'),
    (good(split="tset"), 'unknown split "tset" (did you mean "test"?)'),
    (good(origin="humans"), 'unknown origin "humans" (did you mean "human"?)'),
    (good(split="test"), 'picture "beach.png" is in split "test" here and in "train" at captions.{kind}:{first}'),
]


@pytest.mark.parametrize("kind", KINDS)
def test_bad_rows_are_named_and_skipped(photos: Path, kind: str) -> None:
    rows = [good(), *(row for row, _ in BAD_ROWS), good(text="The last.")]
    write_table(photos / f"captions.{kind}", rows)
    corpus, report = read(photos)
    assert corpus.texts == ["A beach.", "The last."]
    first = 2 if ".csv" in f".{kind}" or ".tsv" in f".{kind}" else 1  # a header comes before the first row
    for (_, what), sentence, line in zip(BAD_ROWS, report.problems, range(first + 1, 100), strict=False):
        assert sentence.startswith(f"captions.{kind}:{line}: ")
        assert what.format(kind=kind, first=first) in sentence
        assert len(sentence) < 300
    assert (report.rows, report.bad_rows, report.bad_pictures) == (len(rows), len(BAD_ROWS), 0)
    assert corpus.info.skipped == {"rows": len(BAD_ROWS), "pictures": 0, "captions": 0}


JSON_LINES = [
    ('{"picture": "beach.png", "language": "en", "txt": "A beach."}', 'no field "text" (did you mean "txt"?)'),
    ('{"picture": "beach.png", "language": "en", "text": null}', '"text" is missing'),
    ('{"picture": "beach.png", "language": "en", "text": 7}', '"text" must be text, not int'),
    ('{"picture": "beach.png", "language": "en", "text": "x", "split": 1}', '"split" must be text, not int'),
    ('{"picture": "beach.png", "language": "en", "text": "\\ud83d"}', "half a character"),
    ('{"picture": "beach.png", "language": "en"', "broken JSON (Expecting ',' delimiter at column"),
    ('["beach.png", "en", "A beach."]', "not a JSON object"),
    ("[" * 100_000, "broken JSON"),
]


def test_broken_json_lines_are_named(photos: Path) -> None:
    lines = [json.dumps(good()), "", *(line for line, _ in JSON_LINES)]
    (photos / "captions.jsonl").write_text("\n".join(lines), encoding="utf-8")
    corpus, report = read(photos)
    assert corpus.texts == ["A beach."]
    for (_, what), sentence, line in zip(JSON_LINES, report.problems, range(3, 100), strict=False):
        assert sentence.startswith(f"captions.jsonl:{line}: ")
        assert what in sentence
    assert report.bad_rows == len(JSON_LINES)


def test_broken_csv_rows_are_named_by_the_line_they_begin_on(photos: Path) -> None:
    lines = [
        "picture,language,text",
        'beach.png,en,"A beach\nwith a line break."',  # lines 2 and 3
        "beach.png,en",
        "beach.png,en,Sea, sand and sun.",
        'beach.png,en,"A "big" beach."',
        "beach.png,en,Fine.",
        'beach.png,en,"The quote is left open',
    ]
    (photos / "captions.csv").write_text("\n".join(lines), encoding="utf-8")
    corpus, report = read(photos)
    assert corpus.texts == ["A beach\nwith a line break.", "Fine."]
    assert report.problems[0] == "captions.csv:4: 2 fields where the header has 3"
    assert report.problems[1] == 'captions.csv:5: 4 fields where the header has 3; quote a text that holds ","'
    assert report.problems[2].startswith("captions.csv:6: broken row (")
    assert report.problems[3].startswith("captions.csv:8: broken row (")
    assert report.bad_rows == 4


def test_strict_stops_at_the_first_problem_and_counts_the_others(photos: Path) -> None:
    write_table(photos / "captions.csv", [good(), good(text=""), good(split="tset"), good(language="?")])
    with pytest.raises(UserError, match=r"^captions\.csv:3: the text is empty \(and 2 more; "):
        read(photos, strict=True)


def test_a_million_bad_rows_are_counted_but_not_all_listed(photos: Path) -> None:
    count = MOST_SENTENCES + 500
    write_table(photos / "captions.csv", [good(), *(good(picture=f"none{i}.jpg") for i in range(count))])
    _, report = read(photos)
    assert (report.bad_rows, len(report.problems)) == (count, MOST_SENTENCES)
    assert report.sentences()[-1] == "and 500 more"


# --- files that cannot be read at all


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_a_missing_column_is_named_with_the_nearest(photos: Path, kind: str) -> None:
    row = {"picture": "beach.png", "langauge": "en", "text": "A beach."}
    write_table(photos / f"captions.{kind}", [row], list(row))
    with pytest.raises(UserError, match=r'^captions\.\w+(:1)?: no column "language" \(did you mean "langauge"\?\)'):
        read(photos)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("captions.csv", b"", r"captions\.csv: the file is empty"),
        ("captions.csv", b"picture,language,text\n", r"captions\.csv: no usable row$"),
        ("captions.csv", b"picture,language,text,Text\n", r'captions\.csv:1: two columns are named "text"'),
        ("captions.csv", b"picture,language,text\nbeach.png,fr,\xe9t\xe9\n", r"captions\.csv:2: not UTF-8 text; save"),
        ("captions.csv", "picture,language,text\n".encode("utf-16"), r"captions\.csv:1: not UTF-8 text"),
        ("captions.csv.gz", b"picture,language,text\n", r"captions\.csv\.gz: a damaged or incomplete gzip file"),
        (
            "captions.csv.gz",
            gzip.compress(b"picture,language,text\n", mtime=0)[:-9],
            r"captions\.csv\.gz: a damaged or inc",
        ),
        ("captions.parquet", b"PAR1 and no more", r"captions\.parquet: not a readable Parquet file"),
        ("captions.jsonl", b"{}\n", r'no usable row; the first problem is captions\.jsonl:1: no field "picture"'),
        ("captions.jsonl", b"[]" + b" " * (16 * 2**20), r"captions\.jsonl:1: a line of more than 16 MiB"),
    ],
)
def test_an_unusable_file_is_named(photos: Path, name: str, content: bytes, message: str) -> None:
    (photos / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        read(photos)


def test_a_column_of_numbers_is_named(photos: Path) -> None:
    table = pa.table({"picture": ["beach.png"], "language": ["en"], "text": [7]})
    pq.write_table(table, photos / "captions.parquet")
    with pytest.raises(UserError, match=r'captions\.parquet:1: "text" must be text, not int'):
        read(photos)


def test_the_wrong_path_is_named(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere: no such file or folder"):
        read(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"beach\.png: not a table; write \.jsonl, \.csv"):
        read(photos / "beach.png")
    with pytest.raises(UserError, match=r'photos: no captions table .* and no "name\.<language>\.txt"'):
        read(photos)
    (photos / "list.csv").touch()
    with pytest.raises(UserError, match=r"\(to read list\.csv, give its name\)"):
        read(photos)
    (photos / "captions.csv").touch()
    (photos / "captions.tsv").touch()
    with pytest.raises(UserError, match=r"holds captions\.csv and captions\.tsv; give the one"):
        read(photos)


# --- captions beside the pictures


def test_wrong_text_files_are_named(photos: Path) -> None:
    draw_picture(photos / "beach.jpg")
    draw_picture(photos / "dog.jpg")
    contents = {"beach.en": "A beach.", "img_0042.en": "A picture.", "img_0024.en": "One.\n" + "x" * 10_001}
    contents |= {"more/cat.english": "A cat.", "more/cat.en": "\n", "dog.en": "A dog."}
    for name, text in contents.items():
        (photos / f"{name}.txt").write_text(text, encoding="utf-8")
    corpus, report = read(photos)
    assert corpus.texts == ["A dog.", "One."]
    assert report.problems == [
        "beach.en.txt: belongs to both beach.jpg and beach.png; add the suffix to its name",
        "img_0024.en.txt:2: the text has 10,001 characters, more than 10,000",
        'img_0042.en.txt: no picture beside it (did you mean "img_0024"?)',
        "more/cat.en.txt: holds no caption",
        'more/cat.english.txt:1: language "english" is not a code such as "en", "zh" or "pt-BR"',
        "beach.jpg: no usable caption beside it",
        "beach.png: no usable caption beside it",
        "more/cat.jpg: no usable caption beside it",
    ]
