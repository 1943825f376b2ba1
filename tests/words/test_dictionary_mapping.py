"""Rare words read as English ones: which translation is taken, either way round, and what is left alone."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

from groundling.words.dictionary_mapping import mapped_words

BASE = Counter(dog=9, hound=2, old=4, bank=1, bench=1)
SEEN = Counter(hund=1, alt=1, katze=3, bank=1)
PAIRS = [("dog", "hund"), ("hound", "hund"), ("old", "alt"), ("cat", "kater"), ("dog", "katze"), ("bench", "bank")]
PAIRS += [("bank", "bank"), ("ice cream", "eis"), ("dog", "Köter")]


@pytest.mark.parametrize("layout", ["muse", "turned", "at"])
def test_the_most_frequent_translation_is_taken(tmp_path: Path, layout: str) -> None:
    lines = {
        "muse": [f"{one}\t{other}" for one, other in PAIRS],
        "turned": [f"{other}\t{one}" for one, other in PAIRS],
        "at": [f"{other} @ {one}" for one, other in PAIRS],
    }[layout]
    path = tmp_path / "en-de.dict.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert mapped_words(path, "de", "en", ["katze"], BASE, SEEN) == {
        "hund": ("en", "dog"),  # not hound, which is rarer
        "alt": ("en", "old"),
        "bank": ("en", "bank"),  # as frequent as bench: by name
        "köter": ("en", "dog"),  # never seen in training, and spelled as captions are read
    }
