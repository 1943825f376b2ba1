"""Which words share latent tokens, and how often they translate each other: by hand."""

from pathlib import Path

import pytest

from groundling.errors import UserError
from groundling.evaluation.latent_tokens import Translations, read_dictionaries, token_quality

LATENT = {
    "en": {"dog": 0, "hound": 0, "cat": 1, "tree": 2},
    "de": {"hund": 0, "katze": 1, "baum": 3, "und": 1, "oder": 1},
}
PAIRS = [("dog", "hund"), ("hound", "hund"), ("cat", "katze"), ("tree", "baum"), ("tree", "nirgends"), ("no", "nein")]


def test_tokens_by_hand() -> None:
    """Token 0: dog, hound, hund; 1: cat, katze, und, oder; 2: tree; 3: baum."""
    found = token_quality(LATENT, {"de": PAIRS}, "en")
    assert (found.tokens, found.words, found.largest) == (4, 9, 4)
    assert found.words_per_token == 9 / 4
    assert found.shared == 50
    assert found.languages["de"] == Translations(
        words=5,
        pairs=1 + 1 + 3 + 0,  # of dog, hound, cat, tree
        right=100 * 3 / 5,
        right_by_chance=100 * 4 / (4 * 5),
        listed=4,
        together=75.0,
        together_by_chance=100 * (2 * 1 + 1 * 3) / (4 * 5),
    )
    assert found.to_json()["words_per_token"] == 9 / 4


def test_languages_without_words_or_pairs_have_no_shares() -> None:
    nothing = token_quality({"en": {}, "de": {}}, {"de": PAIRS}, "en").languages["de"]
    assert (nothing.pairs, nothing.right, nothing.together, nothing.together_by_chance) == (0, None, None, None)


def test_dictionaries_are_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "en-de.txt").write_text("dog hund\n")
    found = read_dictionaries("{base}-{language}.txt", "en", ["en", "de", "fr"], tmp_path)
    assert found == {"de": [("dog", "hund")]}
    with pytest.raises(UserError, match="no such file for any language"):
        read_dictionaries("{base}-{language}.txt", "en", ["en", "fr"], tmp_path)
