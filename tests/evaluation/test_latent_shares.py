"""How much of a language is read as latent tokens, and how much of what is asked is lost, by hand."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from groundling import corpus
from groundling.corpus import Corpus
from groundling.encoders.tokenisers.by_language import frequent
from groundling.settings import TextSettings

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import latent_shares


@pytest.mark.parametrize(("own_words", "percent"), [(0, 100.0), (1, 60.0), (2, 30.0), (3, 10.0), (4, 0.0), (9, 0.0)])
def test_occurrences_beyond_the_most_frequent_words(own_words: int, percent: float) -> None:
    counts = Counter({"the": 4, "dog": 3, "runs": 2, "fast": 1})
    assert latent_shares.share(counts, frequent(counts, 1)[own_words:]) == percent


def test_words_of_the_test_split_are_own_words_latent_ones_or_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    captions = [("train", "dog dog dog cat cat bird"), ("dev", "fish"), ("test", "dog cat bird fish")]
    rows = [{"picture": f"{split}.png", "split": split, "text": text, "language": "en"} for split, text in captions]
    for row in rows:
        Image.new("RGB", (2, 2)).save(tmp_path / row["picture"])
    counted = latent_shares.Counted("Shares", "page.md", (1, 2), ("en",), TextSettings(minimum_count=1))
    monkeypatch.setattr(corpus, "load", lambda name, data: Corpus.of(rows, tmp_path))
    monkeypatch.setitem(latent_shares.CORPORA, "tiny", counted)
    found = {row["name"]: row["columns"]["en"]["mean"] for row in latent_shares.measure("tiny", None)}
    assert found == {
        "1 own words": 50.0,  # of six words: cat, cat, bird
        "2 own words": pytest.approx(100 / 6),
        "1 own words, test split": 50.0,  # of four words: cat, bird
        "2 own words, test split": 25.0,
        "lost, test split": 25.0,  # fish, which is no word of a training caption
    }
