"""How captions fit their pictures, against a slow version, by hand, and in any order; words that do not fit."""

import numpy as np
import pytest

from groundling.checking import belonging as module
from groundling.checking.belonging import NEAREST, Belonging, Comparison
from groundling.checking.chance import probability_of_chance, share_of_chance


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def world(
    seed: int = 0, pictures: int = 60, wrong: int = 15, noise: float = 0.9
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Captions in two languages, vectors of pictures, owners, languages, and which captions are of another picture."""
    draw = np.random.default_rng(seed)
    seen = unit(draw.normal(size=(pictures, 12)))
    owners = np.repeat(np.arange(pictures), 2)
    described = owners.copy()
    swapped = draw.permutation(len(owners))[:wrong]
    described[swapped] = (described[swapped] + 1 + draw.integers(pictures - 1, size=wrong)) % pictures
    texts = unit(seen[described] + noise * unit(draw.normal(size=(len(owners), 12))) + 0.3)
    return texts, seen, owners, np.array(["en", "de"] * pictures), described != owners


def slow(texts: np.ndarray, seen: np.ndarray, owners: np.ndarray, codes: np.ndarray) -> dict[str, list[float]]:
    """Pair by pair from the formulas."""
    score = (texts @ seen.T).astype(np.float64)

    def fit(c: int, p: int) -> float:
        """Neither r counts the pair itself, nor the caption's own picture, nor the picture's own captions."""
        by_caption = [score[c, q] for q in range(len(seen)) if q not in (p, owners[c])]
        same = [d for d in range(len(texts)) if codes[d] == codes[c] and owners[d] != p and d != c]
        by_picture = [score[d, p] for d in same]
        nearest = [np.mean(sorted(values)[-NEAREST:]) for values in (by_caption, by_picture)]
        return float(score[c, p] - sum(nearest) / 2)

    found: dict[str, list[float]] = {name: [] for name in ("fit", "p_value", "picture_rank", "caption_rank")}
    found |= {"better_picture": [], "better_caption": []}
    wrong = {
        code: [fit(c, p) for c in np.flatnonzero(codes == code) for p in range(len(seen)) if p != owners[c]]
        for code in set(codes.tolist())
    }
    for c, p in enumerate(owners):
        own, chance = fit(c, p), wrong[codes[c]]
        pictures = {q: fit(c, q) for q in range(len(seen)) if q != p}
        captions = {d: fit(d, p) for d in range(len(texts)) if owners[d] != p and codes[d] == codes[c]}
        found["fit"].append(own)
        found["p_value"].append((1 + sum(value >= own for value in chance)) / (1 + len(chance)))
        found["picture_rank"].append(1 + sum(value > own for value in pictures.values()))
        found["caption_rank"].append(1 + sum(value > own for value in captions.values()))
        for name, others in (("better_picture", pictures), ("better_caption", captions)):
            best = max(others, key=lambda key: others[key])
            found[name].append(best if others[best] > own else -1)
    return found


def area(fit: np.ndarray, wrong: np.ndarray) -> float:
    """The share of pairs of a right and a wrong caption in which the right one fits better."""
    return float((fit[~wrong][:, None] > fit[wrong]).mean())


def test_it_is_what_the_formulas_say(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, seen, owners, codes, _ = world(pictures=14, wrong=4)
    monkeypatch.setattr(module, "BLOCK", 5)
    found = Comparison(texts, seen, owners, codes).belonging()
    for name, expected in slow(texts, seen, owners, codes).items():
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-6, err_msg=name)


def test_the_order_of_rows_and_pictures_changes_nothing() -> None:
    texts, seen, owners, codes, _ = world()
    found = Comparison(texts, seen, owners, codes).belonging()
    draw = np.random.default_rng(1)
    rows, places = draw.permutation(len(texts)), draw.permutation(len(seen))
    where = np.argsort(places)
    other = Comparison(texts[rows], seen[places], where[owners[rows]], codes[rows]).belonging()
    for name in ("score", "fit", "p_value", "doubt", "picture_rank", "caption_rank"):
        np.testing.assert_allclose(getattr(other, name), getattr(found, name)[rows], atol=1e-6, err_msg=name)
    there = found.better_picture[rows]
    assert np.where(there < 0, -1, where[there]).tolist() == other.better_picture.tolist()


def test_wrong_captions_are_told_and_the_probabilities_are_right_on_average() -> None:
    doubts, wrongs, areas, cosines = [], [], [], []
    for seed in range(8):
        texts, seen, owners, codes, wrong = world(seed, pictures=80, wrong=40)
        found = Comparison(texts, seen, owners, codes).belonging()
        areas.append(area(found.fit, wrong))
        cosines.append(area(found.score, wrong))
        doubts.append(found.doubt)
        wrongs.append(wrong)
    doubt, wrong = np.concatenate(doubts), np.concatenate(wrongs)
    assert np.mean(areas) > 0.9
    assert np.mean(areas) > np.mean(cosines)
    assert doubt.mean() == pytest.approx(wrong.mean(), abs=0.04)  # a quarter of them
    assert wrong[doubt >= 0.5].mean() > 0.65
    assert wrong[doubt < 0.1].mean() < 0.08


def test_a_swapped_caption_names_the_picture_that_it_is_of() -> None:
    seen = unit(np.eye(30) + 0.05)
    described = np.arange(30)
    described[[3, 8]] = [8, 3]
    found = Comparison(seen[described], seen, np.arange(30), np.full(30, "en")).belonging()
    assert np.flatnonzero(found.doubt >= 0.5).tolist() == [3, 8]
    assert found.better_picture[[3, 8]].tolist() == [8, 3]
    assert found.better_caption[[3, 8]].tolist() == [8, 3]
    assert (found.picture_rank == np.where(described == np.arange(30), 1, found.picture_rank)).all()


def test_the_same_picture_twice_stands_in_nobodys_way() -> None:
    seen = unit(np.eye(30) + 0.05)
    twice = np.concatenate([seen, seen[:1]])
    found = Comparison(seen, twice, np.arange(30), np.full(30, "en")).belonging()
    assert found.picture_rank[0] == 1
    assert found.better_picture[0] == -1


def test_a_few_captions_get_no_probability_and_one_is_compared_with_pictures_alone() -> None:
    seen = unit(np.eye(8) + 0.05)
    found = Comparison(seen[:1], seen, np.array([0]), np.array(["en"])).belonging()
    assert found.doubt is None
    assert (found.picture_rank[0], found.caption_rank[0], found.better_picture[0]) == (1, 1, -1)
    assert found.p_value[0] == pytest.approx(1 / 8)
    wrong = Comparison(seen[3:4], seen, np.array([0]), np.array(["en"])).belonging()
    assert (wrong.better_picture[0], wrong.picture_rank[0]) == (3, 2)


def test_of_a_large_table_some_are_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, seen, owners, codes, wrong = world(pictures=200, wrong=60)
    whole: Belonging = Comparison(texts, seen, owners, codes).belonging()
    monkeypatch.setattr(module, "MOST", 100)
    some = Comparison(texts, seen, owners, codes).belonging()
    np.testing.assert_allclose(some.score, whole.score)
    assert np.corrcoef(some.fit, whole.fit)[0, 1] > 0.95
    assert area(some.fit, wrong) > 0.85


def test_the_share_of_chance_by_hand() -> None:
    values = np.array([0.01] * 6 + [0.2, 0.6, 0.7, 0.9])
    assert share_of_chance(values) == pytest.approx((1 + 3) / (0.5 * 10))
    # The least concave line is (0, 0) – (.01, .55) – (1, 1): (.2, .65), (.6, .75), (.7, .85) and (.9, .95) lie below.
    found = probability_of_chance(values)
    assert found[0] == pytest.approx(0.8 / (0.55 / 0.01))
    assert found[6] == 1  # 0.8 / (0.45 / 0.99) is more than 1
    assert (np.diff(found) >= 0).all()


def test_chance_alone_is_certain_of_nothing() -> None:
    spread = (np.arange(100) + 0.5) / 100
    assert (probability_of_chance(spread) > 0.9).all()
    assert probability_of_chance(np.full(50, 1e-6)).max() < 1e-3
