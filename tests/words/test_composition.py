"""A dictionary through a third language."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import UserError
from groundling.words.composition import compose

GERMAN = [("dog", "hund"), ("hound", "hund"), ("bank", "bank"), ("bank", "ufer"), ("shore", "ufer"), ("cat", "katze")]
FRENCH = [("dog", "chien"), ("hound", "chien"), ("bank", "banque"), ("shore", "rive"), ("bank", "rive"), ("sea", "mer")]


def test_what_most_english_words_agree_on() -> None:
    found = compose(GERMAN, FRENCH)
    assert ("hund", "chien") in found
    # "bank" offers both banque and rive to Ufer, "shore" only rive: two against one.
    assert [french for german, french in found if german == "ufer"] == ["rive"]
    assert sorted(french for german, french in found if german == "bank") == ["banque", "rive"]  # one each: noise stays
    assert not [pair for pair in found if "katze" in pair or "mer" in pair]
    assert len(found) == len(set(found))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_english_may_stand_on_either_side_of_either(first: bool, second: bool) -> None:
    turned = [[(b, a) for a, b in pairs] if turn else pairs for pairs, turn in ((GERMAN, first), (FRENCH, second))]
    assert compose(*turned) == compose(GERMAN, FRENCH)


words = st.sampled_from("abcdef")
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=15)


@given(pairs, pairs)
def test_every_pair_is_tied_by_a_word_and_no_tied_word_is_lost(
    one: list[tuple[str, str]], two: list[tuple[str, str]]
) -> None:
    first, second = [(f"en-{a}", f"de-{b}") for a, b in one], [(f"en-{a}", f"fr-{b}") for a, b in two]
    tied = {(b, d) for a, b in first for c, d in second if a == c}
    if not tied:
        with pytest.raises(UserError, match="share no word"):
            compose(first, second)
        return
    found = compose(first, second)
    assert set(found) <= tied
    assert {german for german, _ in found} == {german for german, _ in tied}
