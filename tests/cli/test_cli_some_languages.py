"""groundling evaluate: a corpus that has only some of a run's languages, and only some of them by wish."""

from pathlib import Path

import commands
import numpy as np
import pytest
from commands import assert_one_sentence, call

from groundling.corpus import storage

own_ground, world_files, train_world = commands.own_ground, commands.world_files, commands.train_world


@pytest.fixture
def english(world_files: Path, own_ground: Path) -> Path:
    """The run's corpus, in English alone."""
    corpus = storage.load(world_files / "corpus")
    folder = own_ground / "english"
    storage.save(corpus.keep_captions(np.isin(corpus.languages, ["en"])), folder)
    for name in ("features.npy", "names.txt"):
        (own_ground / name).write_bytes((world_files / name).read_bytes())
    return folder


def test_in_the_languages_that_both_have(train_world: list[str], english: Path) -> None:
    both = ("--set", "corpus.languages=[en, de]")
    assert call(*train_world, *both, "--out", "run").code == 0
    own = call("evaluate", "run", "--json").json
    other = call("evaluate", "run", "--corpus", english, "--json")
    assert "has no captions in de; run is asked in en" in other.err
    assert other.json["languages"] == {"en": own["languages"]["en"]}
    by_wish = call("evaluate", "run", "--language", "de", "--json")
    assert by_wish.json["languages"] == {"de": own["languages"]["de"]}
    assert call("evaluate", "run", "--json").json == own  # what was asked beside it was not kept
    assert_one_sentence(call("evaluate", "run", "--language", "fr"), "--unseen-language fr")
    assert_one_sentence(
        call("evaluate", "run", "--language", "de", "--unseen-language", "fr"), "does not go with --unseen-language"
    )


def test_nothing_in_common_is_a_sentence(train_world: list[str], english: Path) -> None:
    assert (
        call(*train_world, "--set", "corpus.languages=[de]", "--set", "system.caption_pairs=0", "--out", "run").code
        == 0
    )
    assert_one_sentence(call("evaluate", "run", "--corpus", english), "has none of the languages of run (de)")
