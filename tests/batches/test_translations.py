import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_world
from groundling.batches import TrainingData
from groundling.batches.translations import Translations, TranslationSampler
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.settings import TextSettings


def data() -> TrainingData:
    train = make_world().split("train")
    tokeniser = WordTokeniser.build(train.corpus.texts, train.corpus.languages.tolist(), TextSettings(minimum_count=1))
    return TrainingData.build(train.corpus, train.features, tokeniser, torch.device("cpu"))


def test_every_new_caption_comes_once_a_pass_beside_a_known_one_of_its_picture() -> None:
    world = data()
    sampler = TranslationSampler(world, ["de"], 20, seed=3)
    german = world.codes.index("de")
    seen, partners = [], set()
    for step in range(sampler.stream.per_epoch * 3):
        batch = sampler.batch(step)
        assert batch.kind == "translation"
        assert (world.languages[batch.captions] == german).all()
        assert (world.languages[batch.partners] != german).all()
        assert (world.owners[batch.captions] == world.owners[batch.partners]).all()
        assert batch.longest == world.lengths[batch.rows].max()
        seen += batch.captions.tolist()
        partners |= set(zip(batch.captions.tolist(), batch.partners.tolist(), strict=True))
    assert sampler.epoch() == 3
    assert sorted(seen[: len(seen) // 3]) == np.flatnonzero(world.languages == german).tolist()
    assert len(partners) > len(seen) // 3  # others in later passes


def test_a_position_is_all_that_a_sampler_needs_to_go_on() -> None:
    world = data()
    one, other = TranslationSampler(world, ["de"], 16, seed=0), TranslationSampler(world, ["de"], 16, seed=0)
    for step in range(7):
        one.batch(step)
    other.state = one.state
    assert np.array_equal(one.batch(7).rows, other.batch(7).rows)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=20))
def test_pairs_are_those_a_double_loop_finds(captions: list[tuple[int, int]]) -> None:
    owners, languages = (np.array([row[at] for row in captions], dtype=np.int64) for at in (0, 1))
    pairs = Translations(owners, languages, [1, 3])
    slow = {
        new: {known for known, (o, code) in enumerate(captions) if o == owner and code in (0, 2)}
        for new, (owner, language) in enumerate(captions)
        if language in (1, 3)
    }
    assert pairs.captions.tolist() == [new for new, known in slow.items() if known]
    places = np.arange(len(pairs.captions))
    for draw in (0.0, 0.5, 0.999):
        found = pairs.partners(places, np.full(len(places), draw))
        assert all(known in slow[new] for new, known in zip(pairs.captions.tolist(), found.tolist(), strict=True))
    assert pairs.partners(places).tolist() == [min(slow[new]) for new in pairs.captions.tolist()]


def test_nothing_beside_a_new_caption_is_an_error() -> None:
    with pytest.raises(UserError, match="no sentence in de, en has one beside it"):
        TranslationSampler(data(), ["de", "en"], 16, seed=0)
