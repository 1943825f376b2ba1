"""Words spelled out: alphabets, cutting, captions without words, any script, and the JSON they are saved as."""

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.encoders.tokenisers.characters import END, SPECIAL, START, UNKNOWN, CharacterTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokens, words

ONE = TextSettings(minimum_count=1)
# Latin with marks, Cyrillic, Arabic, Hebrew, Devanagari, Thai, Han, Hangul, loose combining marks, and what is no word.
LETTERS = "abzéßñж" + "كلبש" + "कुत्ता" + "หมา" + "狗犬" + "개" + "\u0301\u0327" + " ,.!" + "👍"
texts = st.text(alphabet=LETTERS, max_size=40)


def spelled(tokens: Tokens, caption: int) -> list[list[int]]:
    """The caption as the rows of its characters, word by word."""
    assert tokens.spellings is not None
    rows = tokens.ids[caption, : tokens.lengths[caption]]
    return [[int(entry) for entry in tokens.spellings[row] if entry] for row in rows]


def test_a_case_by_hand() -> None:
    tokeniser = CharacterTokeniser.build(["ab ba", "b"], ["en", "en"], ONE, longest=3)
    assert tokeniser.alphabet == ("a", "b")
    assert tokeniser.size == SPECIAL + 2
    a, b = SPECIAL, SPECIAL + 1
    tokens = tokeniser.encode(["b ab", "ab xabab"], ["en", "en"])
    assert tokens.spellings is not None
    assert tokens.spellings.tolist() == [[0, 0, 0], [b, 0, 0], [a, b, 0], [UNKNOWN, a, b]]  # padding, b, ab, xab|ab
    assert tokens.ids.tolist() == [[1, 2], [2, 3]]
    assert tokens.lengths.tolist() == [2, 2]


def test_padding_points_to_a_word_without_characters() -> None:
    tokens = CharacterTokeniser.build(["ab"], ["en"], ONE).encode(["ab", "ab ab ab"], ["en", "en"])
    assert tokens.ids.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert tokens.spellings is not None
    assert not tokens.spellings[0].any()


def test_rare_and_unseen_characters_share_one_row() -> None:
    settings = TextSettings(minimum_count=3)
    # é occurs three times, but in two languages: a letter is counted over all of them.
    tokeniser = CharacterTokeniser.build(["éé xx", "é"], ["fr", "pt"], settings)
    assert tokeniser.alphabet == ("é",)
    tokens = tokeniser.encode(["éx狗"], ["fr"])
    assert spelled(tokens, 0) == [[SPECIAL, UNKNOWN], [UNKNOWN]]


@pytest.mark.parametrize("text", ["", "  ", "!?", "👍"])
def test_a_caption_without_words_is_one_unknown_character(text: str) -> None:
    tokens = CharacterTokeniser.build(["ab"], ["en"], ONE).encode([text, "ab"], ["en", "en"])
    assert spelled(tokens, 0) == [[UNKNOWN]]
    assert tokens.lengths.tolist() == [1, 1]


def test_long_words_are_cut_and_counted() -> None:
    long, longer = "a" * 27, "b" * 40
    captions = [f"{long} a {longer}", f"{longer} {'c' * 26}"]
    tokeniser = CharacterTokeniser.build(captions, ["de", "de"], ONE)
    assert (tokeniser.cut.words, tokeniser.cut.of_words) == (2, 4)
    assert (tokeniser.cut.occurrences, tokeniser.cut.of_occurrences) == (3, 5)
    assert str(tokeniser.cut) == "2 of 4 words cut (3 of 5 in running text)"
    tokens = tokeniser.encode(captions, ["de", "de"])
    assert [len(word) for word in spelled(tokens, 0)] == [26, 1, 26]


def test_boundaries_as_in_the_released_code() -> None:
    tokeniser = CharacterTokeniser.build(["ab b"], ["en"], ONE, boundaries=True)
    a, b = SPECIAL, SPECIAL + 1
    tokens = tokeniser.encode(["ab b ab", "b", ""], ["en"] * 3)
    assert spelled(tokens, 0) == [[START, a, b], [b], [a, b, END]]
    assert spelled(tokens, 1) == [[START, b, END]]
    assert spelled(tokens, 2) == [[START, UNKNOWN, END]]


def test_one_spelling_for_composed_and_decomposed_text_and_reading_order_for_arabic() -> None:
    tokeniser = CharacterTokeniser.build(["café كلب"], ["fr"], ONE)
    composed = tokeniser.encode([unicodedata.normalize("NFC", "café")], ["fr"])
    decomposed = tokeniser.encode([unicodedata.normalize("NFD", "café")], ["fr"])
    assert spelled(composed, 0) == spelled(decomposed, 0)
    assert len(spelled(composed, 0)[0]) == 4
    arabic = spelled(tokeniser.encode(["كلب"], ["ar"]), 0)[0]
    assert [tokeniser.alphabet[row - SPECIAL] for row in arabic] == ["ك", "ل", "ب"]  # kāf, lām, bāʾ: as it is read


def test_a_known_letter_keeps_its_row_under_an_unseen_mark() -> None:
    tokeniser = CharacterTokeniser.build(["कत"], ["hi"], ONE)
    (word,) = spelled(tokeniser.encode(["कि"], ["hi"]), 0)
    assert word == [tokeniser.rows["क"], UNKNOWN]


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=6), st.lists(texts, max_size=4))
def test_spellings_give_back_the_words(training: list[str], others: list[str]) -> None:
    tokeniser = CharacterTokeniser.build(training, [""] * len(training), ONE, longest=5)
    together = tokeniser.encode(training + others, [""] * (len(training) + len(others)))
    for place, text in enumerate(training + others):
        found = words(text) or ["\x1a"]
        expected = [[tokeniser.rows.get(letter, UNKNOWN) for letter in word[:5]] for word in found]
        assert spelled(together, place) == expected
        assert spelled(tokeniser.encode([text], [""]), 0) == expected  # alone as in company
    assert together.spellings is not None
    assert together.spellings.max() < tokeniser.size


@settings(deadline=None)
@given(st.lists(texts, max_size=6), st.integers(1, 3), st.integers(1, 30), st.booleans())
def test_json_there_and_back(training: list[str], minimum: int, longest: int, boundaries: bool) -> None:
    chosen = TextSettings(minimum_count=minimum)
    tokeniser = CharacterTokeniser.build(training, [""] * len(training), chosen, longest, boundaries)
    back = CharacterTokeniser.from_json(json.loads(json.dumps(tokeniser.to_json())))
    assert back == tokeniser
    one, other = tokeniser.encode(training, [""] * len(training)), back.encode(training, [""] * len(training))
    assert np.array_equal(one.ids, other.ids)
    assert np.array_equal(one.spellings, other.spellings)  # type: ignore[arg-type]


def test_a_damaged_alphabet_is_refused() -> None:
    saved = CharacterTokeniser.build(["ab"], ["en"], ONE).to_json()
    with pytest.raises(ValueError, match="twice"):
        CharacterTokeniser.from_json({**saved, "alphabet": ["a", "a"]})
