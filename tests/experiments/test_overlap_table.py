"""Tables of words: coefficients and sizes of a small corpus by hand, published ones beside."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundling.corpus import Corpus, storage
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError
from groundling.experiments.overlap import OverlapSettings, measure
from groundling.report.overlap import overlap_tables, write_overlap
from groundling.settings import check

WORDS = {"en": "a b c d", "de": "c d e f", "fr": "d x"}  # en–de share 2 of 6, en–fr 1 of 5, de–fr 1 of 5


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """Every word twice in training, one word once; words of test captions do not count."""
    texts, languages, owners = [], [], []
    for code, words in WORDS.items():
        for owner, text in ((0, words), (1, f"{words} once{code}"), (2, "test only words test only words")):
            texts.append(text)
            languages.append(code)
            owners.append(owner)
    made = Corpus(
        name="words",
        pictures=np.array(["p0", "p1", "p2"]),
        splits=np.array(["train", "train", "test"]),
        owners=np.array(owners),
        languages=np.array(languages),
        texts=texts,
        origins=np.array(["human"] * len(texts)),
        info=CorpusInfo(segmentation="whitespace"),
    )
    storage.save(made, tmp_path / "words")
    return str(tmp_path / "words")


def table_of(corpus: str, **changes: Any) -> OverlapSettings:
    values = {"title": "Words", "overlap": corpus, "languages": ["en", "de", "fr"], "minimum_count": 2, **changes}
    return check(OverlapSettings, values, "words.yaml")


def test_coefficients_and_sizes_by_hand(corpus: str) -> None:
    published = {"en-de": 0.33, "de-fr": 0.5}
    table = table_of(corpus, published=published, sizes=[{"corpus": corpus, "sum": 11, "union": 7}])
    result: Any = measure(table, None).to_json()
    assert [(pair["languages"], pair["published"]) for pair in result["pairs"]] == [
        (["en", "de"], 0.33),
        (["en", "fr"], None),
        (["de", "fr"], 0.5),
    ]
    assert [pair["jaccard"] for pair in result["pairs"]] == pytest.approx([2 / 6, 1 / 5, 1 / 5])
    (size,) = result["sizes"]
    assert (size["sum"], size["union"], size["words"]) == (10, 7, {"de": 4, "en": 4, "fr": 2})
    assert size["published"] == {"sum": 11, "union": 7}


def test_special_symbols_stand_in_every_vocabulary_and_rare_words_in_none(corpus: str) -> None:
    pairs = measure(table_of(corpus, special_symbols=4), None).to_json()["pairs"]
    assert [pair["jaccard"] for pair in pairs] == pytest.approx([6 / 10, 5 / 9, 5 / 9])
    pairs = measure(table_of(corpus, minimum_count=1), None).to_json()["pairs"]  # one more word each
    assert [pair["jaccard"] for pair in pairs] == pytest.approx([2 / 8, 1 / 7, 1 / 7])
    pairs = measure(table_of(corpus, minimum_count=3), None).to_json()["pairs"]
    assert [pair["jaccard"] for pair in pairs] == [0, 0, 0]


def test_the_order_of_languages_is_the_tables_own(corpus: str) -> None:
    result = measure(table_of(corpus, languages=["fr", "en"], published={"fr-en": 0.2}), None).to_json()
    assert result["pairs"] == [{"languages": ["fr", "en"], "jaccard": pytest.approx(0.2), "published": 0.2}]


def test_a_pair_of_languages_has_no_direction(corpus: str) -> None:
    result = measure(table_of(corpus, languages=["en", "fr"], published={"fr-en": 0.2}), None).to_json()
    assert result["pairs"][0]["published"] == 0.2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"languages": ["en", "cs"]}, "has no captions in both en and cs"),
        ({"languages": ["en"]}, "words.yaml: languages"),
        ({"overlap": "nowhere"}, 'no corpus, file or folder named "nowhere"'),
        ({"minimum_count": 0}, "words.yaml: minimum_count"),
        ({"pubished": {}}, 'unknown setting "pubished" (did you mean "published"?)'),
        ({"sizes": [{"corpus": "nowhere", "sum": 1, "union": 1}]}, 'named "nowhere"'),
    ],
)
def test_a_mistake_is_one_sentence(changes: dict[str, Any], words: str, corpus: str) -> None:
    with pytest.raises(UserError) as error:
        measure(table_of(corpus, **changes), None)
    assert words in str(error.value)


def test_the_page_says_what_is_equal_when_rounded(corpus: str, tmp_path: Path) -> None:
    table = table_of(
        corpus, published={"en-de": 0.33, "de-fr": 0.21}, sizes=[{"corpus": corpus, "sum": 17571, "union": 7}]
    )
    result = measure(table, None)
    page = write_overlap(tmp_path / "out", "Why we count.", result, "groundling reproduce x")
    assert json.loads((tmp_path / "out/results.json").read_text()) == {
        **result.to_json(),
        "about": "Why we count.",
        "made": {"command": "groundling reproduce x"},
    }
    text = page.read_text()
    assert text.startswith("# Words\n\nWhy we count.\n")
    assert "- command: `groundling reproduce x`" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["English (en) – German (de)", "0.3333", "0.33", "yes"] in rows
    assert ["English (en) – French (fr)", "0.2000", "–", ""] in rows
    assert ["German (de) – French (fr)", "0.2000", "0.21", "no"] in rows
    assert [corpus, "10", "17,571", "7", "7"] in [[cell.replace("\\", "") for cell in row] for row in rows]
    assert len(overlap_tables(replace(result, sizes=[]))) == 1
