"""Your own data: whatever a table holds comes back as written, and what is wrong with it is named by file and line."""

import csv
import gzip
import io
import json
import random
import string
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundling.corpus import ORIGINS, SPLITS, Corpus
from groundling.corpus.formats.skipped import MOST_SENTENCES
from groundling.corpus.formats.table import hashed_split, read
from groundling.errors import UserError

COLUMNS = ["picture", "language", "text", "split", "origin"]
KINDS = ["jsonl", "jsonl.gz", "csv", "csv.gz", "tsv", "tsv.gz", "parquet"]
Rows = list[dict[str, Any]]


def write_table(path: Path, rows: Rows, columns: list[str] = COLUMNS) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in columns}), path)
        return
    if ".jsonl" in path.name:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        buffer = io.StringIO(newline="")
        writer = csv.DictWriter(buffer, columns, delimiter="\t" if ".tsv" in path.name else ",")
        writer.writeheader()
        writer.writerows(rows)
        text = buffer.getvalue()
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def draw_picture(path: Path, seed: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = random.Random(seed).randbytes(48 * 48 * 3)
    Image.frombytes("RGB", (48, 48), noise).save(path)


def as_rows(corpus: Corpus) -> Rows:
    return [
        {
            "picture": str(corpus.pictures[owner]),
            "language": str(language),
            "text": text,
            "split": str(corpus.splits[owner]),
            "origin": str(origin),
        }
        for owner, language, text, origin in zip(
            corpus.owners, corpus.languages, corpus.texts, corpus.origins, strict=True
        )
    ]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder photos/ with three good pictures."""
    folder = tmp_path / "photos"
    for seed, name in enumerate(["img_0024.jpg", "beach.png", "more/cat.jpg"]):
        draw_picture(folder / name, seed)
    return folder


def good(**changes: Any) -> dict[str, Any]:
    row = {"picture": "beach.png", "language": "en", "text": "A beach.", "split": "train", "origin": "human"}
    return {**row, **changes}


# --- what is written comes back ---------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30).filter(str.strip)
PICTURES = st.text(string.ascii_letters + "äé文 -_;,'\"#", min_size=1, max_size=8).map(lambda name: f"x{name}.png")


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    splits = draw(st.dictionaries(PICTURES, st.sampled_from(SPLITS), min_size=1, max_size=4))
    one_row = st.fixed_dictionaries(
        {
            "picture": st.sampled_from(sorted(splits)),
            "language": st.sampled_from(["en", "zh", "pt-BR", "zh-Hant"]),
            "text": TEXTS,
            "origin": st.sampled_from(ORIGINS),
        }
    )
    rows = draw(st.lists(one_row, min_size=1, max_size=6))
    return [{**row, "split": splits[row["picture"]]} for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_comes_back_as_written(kind: str) -> None:
    @settings(max_examples=40, deadline=None)
    @given(tables())
    def holds(rows: Rows) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for picture in {row["picture"] for row in rows}:
                (folder / picture).touch()
            write_table(folder / f"captions.{kind}", rows)
            corpus, report = read(folder, strict=True, check_pictures=False)
            assert as_rows(corpus) == rows
            assert (report.rows, report.bad, report.hashed) == (len(rows), 0, 0)
            assert corpus.root == folder.resolve()

    holds()


def test_a_byte_order_mark_blank_lines_and_odd_headers_are_understood(photos: Path) -> None:
    table = photos / "mine.csv"
    table.write_bytes("\ufeffText, Picture ,LANGUAGE,note\r\n\r\nA beach.,./beach.png,EN,x\r\n".encode())
    corpus, _ = read(table)
    assert (corpus.name, corpus.texts, corpus.languages.tolist()) == ("mine", ["A beach."], ["en"])
    assert corpus.pictures.tolist() == ["beach.png"]
    assert corpus.origins.tolist() == ["human"]


def test_a_csv_with_semicolons_is_read_like_one_with_commas(photos: Path) -> None:
    (photos / "captions.csv").write_text("picture;language;text\nbeach.png;en;Sea, sand.\n", encoding="utf-8")
    assert read(photos)[0].texts == ["Sea, sand."]


def test_other_names_of_the_development_set(photos: Path) -> None:
    names = ["val", "valid", "validation", "Dev"]
    write_table(photos / "captions.jsonl", [good(split=name) for name in names])
    assert read(photos, strict=True)[0].splits.tolist() == ["dev"]


def test_a_split_said_once_holds_for_the_picture(photos: Path) -> None:
    write_table(photos / "captions.csv", [good(split=""), good(split="test"), good(split="")])
    corpus, report = read(photos, strict=True)
    assert (corpus.splits.tolist(), report.hashed) == (["test"], 0)


def test_pictures_without_a_split_get_one_by_name(photos: Path) -> None:
    names = ["beach.png", "img_0024.jpg", "more/cat.jpg"]
    rows = [{"picture": name, "language": "en", "text": "A picture."} for name in names]
    write_table(photos / "captions.csv", rows, COLUMNS[:3])
    corpus, report = read(photos)
    assert corpus.splits.tolist() == [hashed_split(name) for name in names]
    assert report.hashed == 3
    assert "3 pictures had no split" in report.summary()


def test_splits_by_name_are_80_10_10_and_never_change() -> None:
    shares = Counter(hashed_split(f"img_{i:05d}.jpg") for i in range(20_000))
    assert abs(shares["train"] - 16_000) < 250  # more than four standard deviations
    assert abs(shares["dev"] - 2_000) < 200
    by_hand = {"0.jpg": "train", "2.jpg": "dev", "13.jpg": "train", "14.jpg": "test", "18.jpg": "test"}
    assert {name: hashed_split(name) for name in by_hand} == by_hand


# --- bad rows are named -----------------------------------------------------------------------------------------

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
    assert corpus.info["skipped"] == {"rows": len(BAD_ROWS), "pictures": 0, "captions": 0}


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


# --- files that cannot be read at all ---------------------------------------------------------------------------


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


# --- pictures that cannot be read -------------------------------------------------------------------------------


@pytest.fixture
def damaged(photos: Path) -> Path:
    """Three of five pictures are damaged, each in its own way; two captions go with the first."""
    whole = (photos / "img_0024.jpg").read_bytes()
    (photos / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (photos / "text.png").write_text("not a picture", encoding="utf-8")
    (photos / "empty.png").touch()
    names = ["beach.png", "cut.jpg", "cut.jpg", "text.png", "empty.png", "img_0024.jpg"]
    write_table(photos / "captions.csv", [good(picture=name, text=f"{i}") for i, name in enumerate(names)])
    return photos


def test_unreadable_pictures_are_listed_and_skipped_with_their_captions(damaged: Path) -> None:
    corpus, report = read(damaged)
    assert corpus.pictures.tolist() == ["beach.png", "img_0024.jpg"]
    assert corpus.texts == ["0", "5"]
    assert corpus.owners.tolist() == [0, 1]
    assert (report.bad_rows, report.bad_pictures, report.lost_captions) == (0, 3, 4)
    assert report.problems[0].startswith("cut.jpg: unreadable picture (")
    assert "truncated" in report.problems[0]
    assert report.problems[1:] == [
        "text.png: unreadable picture (not a picture)",
        "empty.png: unreadable picture (the file is empty)",
    ]
    assert "3 pictures skipped with 4 captions" in report.summary()


def test_strict_stops_at_an_unreadable_picture(damaged: Path) -> None:
    with pytest.raises(UserError, match=r"^cut\.jpg: unreadable picture \(.*truncated.*\) \(and 2 more; "):
        read(damaged, strict=True)


def test_pictures_are_not_opened_when_not_asked_for(damaged: Path) -> None:
    corpus, report = read(damaged, strict=True, check_pictures=False)
    assert (len(corpus), report.bad) == (6, 0)


def test_a_table_of_damaged_pictures_only_is_an_error(photos: Path) -> None:
    (photos / "empty.png").touch()
    write_table(photos / "captions.csv", [good(picture="empty.png")])
    with pytest.raises(UserError, match=r"no picture can be read; the first problem is empty\.png: unreadable"):
        read(photos)


def test_a_decompression_bomb_is_refused(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_picture(photos / "small.png")
    Image.new("RGB", (200, 200)).save(photos / "huge.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 48 * 48)
    write_table(photos / "captions.csv", [good(picture="small.png"), good(picture="huge.png")])
    corpus, report = read(photos)
    assert corpus.pictures.tolist() == ["small.png"]
    assert report.problems[0].startswith("huge.png: unreadable picture (Image size (40000 pixels) exceeds limit")


# --- captions beside the pictures -------------------------------------------------------------------------------


def test_text_files_beside_pictures(photos: Path) -> None:
    (photos / "beach.en.txt").write_text("A beach.\n\nSea and sand.\n", encoding="utf-8")
    (photos / "beach.zh-hant.txt").write_text("海灘\r\n", encoding="utf-8")
    (photos / "img_0024.jpg.de.txt").write_text("Ein Bild.", encoding="utf-8")
    (photos / "more" / "cat.en.txt").write_text("A cat.", encoding="utf-8")
    (photos / "readme.txt").write_text("Not a caption.", encoding="utf-8")
    corpus, _ = read(photos, strict=True)
    got = [(row["picture"], row["language"], row["text"]) for row in as_rows(corpus)]
    assert got == [
        ("beach.png", "en", "A beach."),
        ("beach.png", "en", "Sea and sand."),
        ("beach.png", "zh-Hant", "海灘"),
        ("img_0024.jpg", "de", "Ein Bild."),
        ("more/cat.jpg", "en", "A cat."),
    ]
    assert corpus.name == "photos"


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
