"""How much of a language is read as latent tokens, by hand."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
from latent_shares import share


@pytest.mark.parametrize(("own_words", "percent"), [(0, 100.0), (1, 60.0), (2, 30.0), (3, 10.0), (4, 0.0), (9, 0.0)])
def test_occurrences_beyond_the_most_frequent_words(own_words: int, percent: float) -> None:
    counts = Counter({"the": 4, "dog": 3, "runs": 2, "fast": 1})
    assert share(counts, own_words) == percent
