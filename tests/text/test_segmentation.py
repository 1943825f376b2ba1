import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from groundling.text.segmentation import WORD, by_script, normalise, words


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("A dog, isn't it?", "en", ["a", "dog", "isn't", "it"]),
        ("L’eau d'un étang", "fr", ["l", "eau", "d", "un", "étang"]),
        ("两只狗在打架。", "zh", ["两", "只", "狗", "在", "打", "架"]),
        ("コーヒーが2杯", "ja", ["コー", "ヒー", "が", "2", "杯"]),  # the long-vowel mark stays with its letter
        ("달리는 사람", "ko", ["달리는", "사람"]),
        ("كَلْبٌ أســود", "ar", ["كلب", "أسود"]),  # vowel signs and stretching are optional spelling
        ("IŞIK İKİ", "tr", ["ışık", "iki"]),
        ("हिन्दी में", "hi", ["हिन्दी", "में"]),  # combining vowels belong to their word
        ("ที่", "th", ["ที่"]),
        ("T-shirt", "en", ["t", "shirt"]),
        ("犬dog犬", "ja", ["犬", "dog", "犬"]),
        ("…!?", "en", []),
    ],
)
def test_words_by_script(text: str, language: str, expected: list[str]) -> None:
    assert words(text, language) == expected


def test_case_folds_by_language() -> None:
    assert normalise("IĞDIR", "tr") == "ığdır"
    assert normalise("ID", "en") == "id"


def test_tokenised_text_keeps_its_tokens() -> None:
    assert words("a man 's hat , red .", "en", "whitespace") == ["a", "man", "'s", "hat", ",", "red", "."]


def test_dictionary_segmenters_join_characters() -> None:
    assert "打架" in words("两只狗在路上打架。", "zh", "dictionary")
    assert words("走る人と犬", "ja", "dictionary") == ["走る", "人", "と", "犬"]
    assert words("ein Hund!", "de", "dictionary") == ["ein", "hund"]


@given(st.text(max_size=40), st.sampled_from(["", "en", "tr", "ar", "zh"]))
def test_normalising_twice_changes_nothing(text: str, language: str) -> None:
    once = normalise(text, language)
    assert normalise(once, language) == once


@given(st.text(max_size=40))
def test_composed_and_decomposed_spelling_give_the_same_words(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@given(st.text(max_size=40))
def test_no_letter_or_digit_is_lost_and_words_hold_no_space(text: str) -> None:
    found = words(text)
    assert all(word and not any(letter.isspace() for letter in word) for word in found)
    kept = [letter for letter in normalise(text) if unicodedata.category(letter)[0] in "LN"]
    assert [letter for word in found for letter in word if unicodedata.category(letter)[0] in "LN"] == kept


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_cut_by_the_same_rule_as_all_other_text(text: str) -> None:
    assert by_script(text) == regex.findall(WORD, text)
    assert normalise(text) == " ".join(unicodedata.normalize("NFKC", text).lower().split())
    assert normalise("III", "tr") == "ııı"
