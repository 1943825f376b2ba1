"""Words that translate each other are found in sentences, without any dictionary."""

import numpy as np

from groundling.words import lexicon

WORDS = 12


def sentences(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Each word w becomes w + 20, in turned order, between a word that is always there and padding."""
    draw = np.random.default_rng(seed)
    first, second, orders = [], [], []
    for _ in range(count):
        said = draw.choice(WORDS, 4, replace=False) + 1
        order = np.array([3, 2, 1, 0])
        first.append([15, *said, 0])
        second.append([*(said[order] + 20), 40])
        orders.append(order)
    one, two = np.array(first), np.array(second)
    return one, two, np.array(orders), (one > 0, two > 0)


def test_words_choose_their_translations_both_ways() -> None:
    first, second, orders, real = sentences(300)
    found = lexicon.learn(first, second, real)
    forth, back = found.similarities(first, second, real)
    for n in range(len(first)):
        for place, source in enumerate(orders[n]):
            chosen = np.where(real[1][n], forth[n, 1 + source], -np.inf)
            assert chosen.argmax() == place
            assert np.where(real[0][n], back[n, :, place], -np.inf).argmax() == 1 + source


def test_probabilities_add_up() -> None:
    first, second, _, real = sentences(100)
    found = lexicon.learn(first, second, real)
    ones, twos = found.keys // found.size, found.keys % found.size
    for word in np.unique(twos):
        assert abs(np.exp(found.forth[twos == word]).sum() - 1) < 1e-3
    for word in np.unique(ones):
        assert abs(np.exp(found.back[ones == word]).sum() - 1) < 1e-3


def test_words_that_occur_twice_are_told_apart_by_their_places() -> None:
    """a b a c → A B A C: counts alone cannot tell which a is which A."""
    draw = np.random.default_rng(0)
    others = draw.integers(2, 10, (200, 2))
    first = np.stack([np.ones(200, dtype=np.int64), others[:, 0], np.ones(200, dtype=np.int64), others[:, 1]], axis=1)
    real = np.ones_like(first, dtype=bool), np.ones_like(first, dtype=bool)
    found = lexicon.learn(first, first + 20, real)
    forth, _ = found.similarities(first, first + 20, real)
    assert (forth[:, 0].argmax(axis=1) == 0).all()
    assert (forth[:, 2].argmax(axis=1) == 2).all()


def test_words_that_never_met_are_unlikely_and_padding_does_not_count() -> None:
    first, second, _, real = sentences(100)
    found = lexicon.learn(first, second, real)
    forth, _ = found.similarities(np.array([[99]]), np.array([[40]]), (np.ones((1, 1), bool), np.ones((1, 1), bool)))
    assert forth[0, 0] < np.log(1e-5)
    wider = lexicon.learn(
        np.pad(first, ((0, 0), (0, 3))),
        np.pad(second, ((0, 0), (0, 2))),
        (np.pad(real[0], ((0, 0), (0, 3))), np.pad(real[1], ((0, 0), (0, 2)))),
    )
    assert np.array_equal(wider.keys, found.keys)
    assert np.allclose(wider.forth, found.forth, atol=1e-5)
