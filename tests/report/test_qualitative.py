"""The page of examples: drawn, not chosen; exact; any language; nothing that runs in it."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundling.corpus import Corpus
from groundling.evaluation.examples import FoundPictures, examples_by_language
from groundling.evaluation.folds import fold_ranks
from groundling.evaluation.retrieval import RankedSplit
from groundling.evaluation.scores import SCORES
from groundling.evaluation.show import ShownRun
from groundling.report.qualitative import qualitative_page
from made_results import retrieval, scores

EVIL = '<script>alert("1")</script>'


def evaluated(seed: int, similarity: str = "cosine", folds: int = 1, root: Path | None = None) -> RankedSplit:
    """Whole numbers from a small range, so that many scores are equal; two captions in English, one in Arabic."""
    draw = np.random.default_rng(seed)
    count = 12
    owners = np.repeat(np.arange(count), 3)
    codes = np.array(["en", "en", "ar"] * count)
    pictures = draw.integers(-2, 3, (count, 3)).astype(np.float32)
    captions = draw.integers(-2, 3, (len(owners), 3)).astype(np.float32)
    corpus = Corpus(
        name="numbers",
        pictures=np.array([f"{number}.png" for number in range(count)]),
        splits=np.array(["test"] * count),
        owners=owners,
        languages=codes,
        texts=[f"{code} {row}" for row, code in enumerate(codes)],
        origins=np.array(["human"] * len(owners)),
        root=root,
    )
    score = SCORES[similarity]
    by_language = {
        code: fold_ranks(pictures, captions[codes == code], owners[codes == code], folds, score=score)
        for code in ("en", "ar")
    }
    return RankedSplit(retrieval({}), by_language, corpus, pictures, captions, folds, similarity)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["cosine", "order"]), st.sampled_from([1, 2]))
def test_what_is_shown_agrees_with_the_ranks(seed: int, similarity: str, folds: int) -> None:
    """The first right answer stands at its rank, or is not shown, ties or not."""
    found = evaluated(seed, similarity, folds)
    sheet = examples_by_language(found, 12, 8, seed)
    assert len(sheet) == 20
    for entry in sheet:
        answers = entry.hits if isinstance(entry, FoundPictures) else entry.captions
        places = [place for place, answer in enumerate(answers, 1) if answer.correct]
        assert len(answers) == 5
        assert places[:1] == ([entry.rank] if entry.rank <= 5 else [])
        scores = [answer.score or 0.0 for answer in answers]
        assert scores == sorted(scores, reverse=True)
    assert all(caption.language == entry.language for entry in sheet[12:] for caption in entry.captions)


def test_nothing_is_drawn_twice_and_languages_take_turns() -> None:
    sheet = examples_by_language(evaluated(0), queries=9, pictures=50, seed=3)
    assert [entry.language for entry in sheet[:12]] == ["en", "ar"] * 4 + ["en"] + ["ar", "en", "ar"]
    asked, described = sheet[:9], sheet[9:]
    assert len({entry.text for entry in asked}) == 9
    assert sorted(entry.name for entry in described) == sorted(f"{number}.png" for number in range(12))
    assert sheet != examples_by_language(evaluated(0), queries=9, pictures=50, seed=4)


def page_of(found: RankedSplit, **about: Any) -> str:
    sheet = examples_by_language(found, 4, 4)
    result = retrieval({"en": scores({}, {}, {})}, corpus=EVIL, pictures=12, captions=36)
    about = {"run": "runs/x", "system": "x", "seed": 5, "untrained": [], "told": False, **about}
    return qualitative_page(ShownRun(**about, examples=sheet, result=result))


def test_the_page_is_self_contained_and_marks_languages(tmp_path: Path) -> None:
    for number in range(12):
        Image.new("RGB", (900, 600), (20 * number, 0, 0)).save(tmp_path / f"{number}.png")
    found = evaluated(1, root=tmp_path)
    corpus = replace(found.corpus, texts=[f"{EVIL} {text}" for text in found.corpus.texts])
    page = page_of(replace(found, corpus=corpus), untrained=["ar"])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "drawn at random (seed 5)" in page
    assert "not chosen" in page
    assert "Not trained on: Arabic (ar)." in page
    assert len(re.findall(r'dir="rtl" lang="ar"', page)) >= 4
    assert len(re.findall(r'dir="auto" lang="en"', page)) >= 4
    assert set(re.findall(r'src="(data:image/\w+)', page)) <= {"data:image/png", "data:image/webp"}
    assert page.count("<img") == page.count('src="data:image/') >= 4 + 4 * 5
    assert not re.search(r"https?://", page)
    assert str(tmp_path) not in page
    assert len(page) < 100_000


def test_without_files_a_caption_and_a_name_stand_for_a_picture() -> None:
    page = page_of(evaluated(1), told=True)
    assert "<img" not in page
    assert "There are no files of the pictures" in page
    assert page.count('<ol class="told">') == 4
    right, missed = page.count('<li class="right">'), page.count('<li class="answer">')
    assert right + missed == 4
    assert re.search(r'lang="en">en \d+</span><span class="code">\d+\.png</span>', page)


@pytest.mark.parametrize("place", ["photos", "photos/deep"])
def test_photos_of_another_folder_are_found_by_name(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    Image.new("RGB", (20, 20)).save(tmp_path / place / "3.png")
    found = evaluated(1)
    below = f"{place.removeprefix('photos').strip('/')}/" if "deep" in place else "elsewhere/"
    names = np.array([f"{below}{name}" for name in found.corpus.pictures])
    sheet = examples_by_language(
        replace(found, corpus=replace(found.corpus, pictures=names)), 0, 12, photos=tmp_path / "photos"
    )
    paths = {entry.name: entry.picture for entry in sheet}
    assert paths.pop(f"{below}3.png") == tmp_path / place / "3.png"
    assert set(paths.values()) == {None}
