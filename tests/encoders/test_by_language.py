"""Words by language: rows, what is dropped, what is read as another word, and what cannot be read at all."""

from collections import Counter

import pytest

from groundling.encoders.tokenisers.by_language import LanguageTokeniser, count_words, frequent
from groundling.errors import UserError
from groundling.settings import TextSettings

WORDS = {"de": ("hund", "arm"), "en": ("dog", "arm", "old"), "fr": ()}
TEXT = TextSettings(maximum_length=3)
# Row 0 is padding; de: 1 nothing, 2 hund, 3 arm; en: 4 nothing, 5 dog, 6 arm, 7 old; fr: 8 nothing.


def lines(tokeniser: LanguageTokeniser, texts: list[str], languages: list[str]) -> list[list[int]]:
    tokens = tokeniser.encode(texts, languages)
    return [ids[:length].tolist() for ids, length in zip(tokens.ids, tokens.lengths, strict=True)]


def test_rows_by_hand() -> None:
    tokeniser = LanguageTokeniser(WORDS, TEXT, 4)
    assert tokeniser.size == 9
    assert tokeniser.bounds == [1, 4, 8, 9]
    found = lines(tokeniser, ["Arm, Hund!", "arm dog", "old dog"], ["de", "en", "en"])
    assert found == [[3, 2], [6, 5], [7, 5]]  # "arm" is two words


def test_unknown_words_are_dropped_and_captions_cut_after_that() -> None:
    tokeniser = LanguageTokeniser(WORDS, TEXT, 4)
    texts = ["a very very old dog", "nothing known", "", "dog old arm dog", "dog x y old z arm"]
    assert lines(tokeniser, texts, ["en"] * 5) == [[7, 5], [4], [4], [5, 7, 6], [5, 7, 6]]
    assert lines(tokeniser, ["le chien", "dog"], ["fr", "de"]) == [[8], [1]]


def test_loans_are_read_as_words_of_another_language() -> None:
    loans = {"de": {"alt": ("en", "old"), "hund": ("en", "dog")}}
    tokeniser = LanguageTokeniser(WORDS, TEXT, 4, loans)
    assert lines(tokeniser, ["alter alt hund"], ["de"]) == [[7, 2]]  # a word of its own comes first
    assert tokeniser.size == 9
    assert lines(tokeniser, ["alt"], ["en"]) == [[4]]


def test_a_language_that_was_not_trained_on_is_told() -> None:
    with pytest.raises(UserError, match=r'this model reads de, en, fr, not "es"'):
        LanguageTokeniser(WORDS, TEXT, 4).encode(["perro"], ["es"])


def test_saved_and_read_again() -> None:
    tokeniser = LanguageTokeniser(WORDS, TEXT, 4, {"de": {"alt": ("en", "old")}})
    again = LanguageTokeniser.from_json(tokeniser.to_json())
    assert again.to_json() == tokeniser.to_json()
    assert (again.rows, again.bounds, again.dimensions) == (tokeniser.rows, tokeniser.bounds, 4)
    assert again.codes == ["de", "en", "fr"]


def test_words_are_counted_by_language_and_listed_by_frequency() -> None:
    counts = count_words(["a cat a dog", "der hund", "dog"], ["en", "de", "en"], TEXT)
    assert counts == {"de": Counter(der=1, hund=1), "en": Counter(a=2, cat=1, dog=2)}
    assert list(counts) == ["de", "en"]
    assert frequent(counts["en"], 1) == ("a", "dog", "cat")
    assert frequent(counts["en"], 2) == ("a", "dog")


def test_a_word_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice in the vocabulary of en"):
        LanguageTokeniser({"en": ("dog", "dog")}, TEXT, 4)
