"""groundling evaluate --unseen-language, and what a model can know of a language it never met."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call, content

from groundling.corpus import Corpus
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.evaluation.unseen import knowledge, script
from groundling.settings import TextSettings
from groundling.text import Tokeniser

own_ground = commands.own_ground  # each test in a folder of its own
world_files, train_world = commands.world_files, commands.train_world

ONE = TextSettings(minimum_count=1)
MET = ["red dog", "猫"], ["en", "zh"]


@pytest.fixture
def run(train_world: list[str]) -> Path:
    assert (
        call(*train_world, "--set", "corpus.languages=[en]", "--set", "system.caption_pairs=0", "--out", "run").code
        == 0
    )
    assert call("evaluate", "run").code == 0
    return Path("run")


def test_an_unseen_language_is_scored_beside_chance_and_nothing_is_overwritten(run: Path) -> None:
    before = content(run)
    found = call("evaluate", run, "--unseen-language", "de", "--json").json
    assert set(found["languages"]) == {"de"}
    assert found["languages"]["de"]["captions"] == 50
    assert found["chance"]["R@1"] == 4
    assert found["trained_languages"] == ["en"]
    known = found["known"]["de"]
    assert known["scripts"] == {"Latin": 100}
    assert 80 < known["letters_known"] < 100  # German has a z, which the English words have not
    assert known["words_known"] == 0
    said = call("evaluate", run, "--unseen-language", "de").out
    for text in ("German (de)", "chance", "The run was trained on en.", "Latin"):
        assert text in said
    assert content(run) == before


def test_mistakes(run: Path) -> None:
    assert_one_sentence(call("evaluate", run, "--unseen-language", "en"), 'run was trained on "en"')
    assert_one_sentence(call("evaluate", run, "--unseen-language", "dee"), 'no captions in "dee" (did you mean "de"?)')
    with_vectors = call("evaluate", "--vectors", "P.npy", "C.npy", "--unseen-language", "de")
    assert_one_sentence(with_vectors, "--unseen-language goes with a model")


def corpus_of(*texts: str) -> Corpus:
    count = len(texts)
    return Corpus(
        name="texts",
        pictures=np.array([f"p{number}" for number in range(count)]),
        splits=np.array(["test"] * count),
        owners=np.arange(count),
        languages=np.array(["xx"] * (count - 1) + ["en"]),
        texts=list(texts),
        origins=np.array(["human"] * count),
    )


def known(tokeniser: Tokeniser, *texts: str) -> dict[str, Any]:
    return asdict(knowledge(tokeniser, corpus_of(*texts, "an English caption that does not count"), "xx"))


@pytest.mark.parametrize(
    "tokeniser",
    [WordTokeniser.build(*MET, ONE), NgramTokeniser.build(*MET, ONE, 5), CharacterTokeniser.build(*MET, ONE)],
)
def test_what_is_known_is_counted_in_running_letters_and_words(tokeniser: Tokeniser) -> None:
    """Met are d e g o r and 猫. "Dog, dogs" has seven letters, six of them met, and one of two words."""
    has_words = not isinstance(tokeniser, CharacterTokeniser)
    found = known(tokeniser, "Dog, dogs")
    assert found["letters_known"] == pytest.approx(600 / 7)
    assert found["words_known"] == (50 if has_words else None)
    assert found["kind"] == "partly known script"
    found = known(tokeniser, "dog", "odd ogre")
    assert found["letters_known"] == 100
    assert found["words_known"] == (pytest.approx(100 / 3) if has_words else None)
    assert found["kind"] == "known script"
    found = known(tokeniser, "собака", "пёс")
    assert (found["letters_known"], found["kind"]) == (0, "new script")
    assert found["scripts"] == {"Cyrillic": 100}
    found = known(tokeniser, "猫ネコ")
    assert found["letters_known"] == pytest.approx(100 / 3)
    assert found["scripts"] == {"Katakana": pytest.approx(200 / 3), "Han": pytest.approx(100 / 3)}
    assert known(tokeniser, "1 2 …")["letters_known"] == 0  # no letters at all: nothing to know


def test_scripts_by_name() -> None:
    assert [script(letter) for letter in "aж猫ネねкקكก한"] == [
        *("Latin", "Cyrillic", "Han", "Katakana", "Hiragana", "Cyrillic", "Hebrew", "Arabic", "Thai", "Hangul")
    ]
