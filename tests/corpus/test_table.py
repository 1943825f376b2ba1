"""Your own data: whatever a table holds comes back as written, and so do captions beside the pictures."""

import string
import tempfile
from collections import Counter
from pathlib import Path

import caption_tables
import pytest
from caption_tables import COLUMNS, KINDS, Rows, as_rows, good, write_table
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import ORIGINS, SPLITS
from groundling.corpus.formats.caption_table import hashed_split, read

photos = caption_tables.photos

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


def test_decisions_of_editors_are_followed(photos: Path) -> None:
    decided = [
        "a dog,corrected,a cat",
        "a cow,wrong,",
        "a small cat,Right,",
        "it,,",
        "a horse,perhaps,",
        "a bird,corrected,",
    ]
    lines = ["picture,language,text,decision,corrected", *(f"more/cat.jpg,en,{line}" for line in decided)]
    (photos / "captions.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpus, report = read(photos / "captions.csv")
    assert corpus.texts == ["a cat", "a small cat", "it"]
    assert [problem.split(": ", 1)[1] for problem in report.problems] == [
        "an editor has decided that the caption is wrong",
        'unknown decision "perhaps" (there is: corrected, right, wrong)',
        '"corrected" is empty, where the text is that should be there instead',
    ]


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
