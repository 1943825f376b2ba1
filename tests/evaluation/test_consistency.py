"""Combined scores rank as a double loop over pictures, captions and languages does; learning has the full gradient."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.evaluation.consistency.score import Average, Combination, Combined, Learned
from groundling.evaluation.consistency.training import Queries, _Rivals, learn, network, triplet_cost
from groundling.evaluation.ranks import ranks
from groundling.evaluation.scores import SCORES, Dot

Array = npt.NDArray[Any]


def unit(*shape: int, seed: int = 0) -> Array:
    vectors = np.random.default_rng(seed).normal(size=shape)
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


def plain_score(similarity: str, picture: Array, text: Array) -> float:
    """One picture and one text, from the definition."""
    pairs = [(float(a), float(b)) for a, b in zip(picture, text, strict=True)]
    if similarity == "cosine":
        return math.fsum(a * b for a, b in pairs)
    return -math.fsum(max(0.0, abs(b) - abs(a)) ** 2 for a, b in pairs)


def combine(scores: list[float], weights: tuple[Array, Array] | None) -> float:
    if weights is None:
        return math.fsum(scores) / len(scores)
    hidden = [
        max(0.0, math.fsum((1 + s) * float(w) for s, w in zip(scores, column, strict=True))) for column in weights[0].T
    ]
    return math.fsum(h * float(w) for h, w in zip(hidden, weights[1], strict=True))


def slow_scores(similarity: str, pictures: Array, texts: Array, weights: tuple[Array, Array] | None) -> Array:
    """[pictures, captions] from texts [captions, languages, d], a language at a time; zeros are no translation."""
    table = np.zeros((len(pictures), len(texts)))
    for p, picture in enumerate(pictures):
        for c, versions in enumerate(texts):
            known = [plain_score(similarity, picture, version) for version in versions if version.any()]
            mean = math.fsum(known) / len(known)
            filled = [plain_score(similarity, picture, version) if version.any() else mean for version in versions]
            table[p, c] = combine(filled, weights)
    return table


def slow_ranks(scores: Array, owners: Array) -> tuple[list[int], list[int]]:
    columns = range(scores.shape[1])
    text_to_image = [1 + int((np.delete(scores[:, c], owners[c]) >= scores[owners[c], c]).sum()) for c in columns]
    image_to_text = []
    for picture, row in enumerate(scores):
        own = owners == picture
        image_to_text.append(1 + int((row[~own] >= row[own].max()).sum()) if own.any() else 0)
    return text_to_image, image_to_text


def problem(languages: int, seed: int, dimensions: int = 6) -> tuple[Array, Array, Array]:
    draw = np.random.default_rng(seed)
    pictures, texts = unit(12, dimensions, seed=seed), unit(30, languages, dimensions, seed=seed + 1)
    missing = draw.random((30, languages)) < 0.3
    missing[np.arange(30), draw.integers(0, languages, 30)] = False  # a query has itself
    texts[missing] = 0
    return pictures, texts, draw.integers(0, 10, 30)


def random_weights(languages: int, seed: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    return draw.normal(size=(languages, 5)).astype(np.float32), draw.normal(size=5).astype(np.float32)


def combination(languages: int, weights: tuple[Array, Array] | None) -> Combination:
    return Average(languages) if weights is None else Learned(*(torch.from_numpy(part) for part in weights))


def test_ten_languages_take_352_parameters() -> None:
    assert Learned.equal(10).parameters == 352
    assert Learned.equal(4).parameters == 4 * 32 + 32


@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("learned", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_ranks_equal_the_double_loop(similarity: str, learned: bool, seed: int) -> None:
    languages = 2 + seed
    pictures, texts, owners = problem(languages, seed)
    pictures[4:6], texts[20:24], owners[20:24] = pictures[:2], texts[:4], (owners[:4] + 1) % 10  # ties
    weights = random_weights(languages, seed) if learned else None
    score = Combined(SCORES[similarity], combination(languages, weights), languages)
    rows = texts.reshape(len(texts), -1)
    expected = slow_scores(similarity, pictures, texts, weights)
    found = ranks(pictures, rows, owners, score=score, tile=(5, 7))
    assert (found.text_to_image.tolist(), found.image_to_text.tolist()) == slow_ranks(expected, owners)
    whole = ranks(pictures, rows, owners, score=score)
    assert whole.text_to_image.tolist() == found.text_to_image.tolist()


def test_an_average_by_hand() -> None:
    pictures = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    # Own words say picture 1 (.6 against .8); the translation says picture 0 (1 against 0): together picture 0.
    both = np.array([[0.6, 0.8, 1.0, 0.0]], dtype=np.float32)
    alone = np.array([[0.6, 0.8, 0.0, 0.0]], dtype=np.float32)
    score = Combined(Dot(), Average(2), 2)
    assert ranks(pictures, both, np.array([0]), score=score).text_to_image.tolist() == [1]
    assert ranks(pictures, alone, np.array([0]), score=score).text_to_image.tolist() == [2]


@pytest.mark.parametrize("similarity", ["cosine", "order"])
@pytest.mark.parametrize("dimensions", [3, 200])
@pytest.mark.parametrize("learned", [False, True])
def test_a_tile_is_never_further_off_than_its_error(similarity: str, dimensions: int, learned: bool) -> None:
    pictures, texts, _ = problem(4, dimensions, dimensions)
    score = Combined(SCORES[similarity], combination(4, random_weights(4, 0) if learned else None), 4)
    wide, rows = torch.from_numpy(pictures).double(), torch.from_numpy(texts.reshape(len(texts), -1)).double()
    exact = torch.stack([score.pairs(picture.expand(len(rows), -1), rows) for picture in wide])
    for dtype in (torch.float32, torch.float64):
        error = score.error(wide.norm(dim=1)[:, None], rows.norm(dim=1), dimensions, dtype, whole=True)
        assert ((score.block(wide.to(dtype), rows.to(dtype)).double() - exact).abs() <= error).all()
        assert error.max() < 2000 * torch.finfo(dtype).eps * (1 + score.combination.gain) * dimensions**0.5


def test_a_pair_scores_the_same_in_any_company() -> None:
    pictures, texts, _ = problem(5, 3)
    score = Combined(Dot(), combination(5, random_weights(5, 1)), 5)
    wide, rows = torch.from_numpy(pictures).double(), torch.from_numpy(texts.reshape(30, -1)).double()
    together = score.pairs(wide[0].expand(30, -1), rows)
    alone = torch.cat([score.pairs(wide[:1], row[None]) for row in rows])
    assert torch.equal(together, alone)


@settings(deadline=None, max_examples=30)
@given(st.permutations(range(4)), st.booleans())
def test_the_order_of_languages_does_not_matter(order: list[int], learned: bool) -> None:
    """For an average; for learned weights when they change places with their languages."""
    pictures, texts, owners = problem(4, 11)
    weights = random_weights(4, 5) if learned else None
    moved = (weights[0][order], weights[1]) if weights is not None else None
    found = [
        ranks(pictures, version.reshape(30, -1), owners, score=Combined(Dot(), combination(4, own), 4))
        for version, own in ((texts, weights), (texts[:, order], moved))
    ]
    assert found[0].text_to_image.tolist() == found[1].text_to_image.tolist()
    assert found[0].image_to_text.tolist() == found[1].image_to_text.tolist()


@pytest.mark.parametrize("similarity", ["cosine", "order"])
def test_learning_starts_from_the_average(similarity: str) -> None:
    pictures, texts, owners = problem(3, 8)
    rows = texts.reshape(30, -1)
    equal = ranks(pictures, rows, owners, score=Combined(SCORES[similarity], Learned.equal(3), 3))
    mean = ranks(pictures, rows, owners, score=Combined(SCORES[similarity], Average(3), 3))
    assert equal.text_to_image.tolist() == mean.text_to_image.tolist()
    assert equal.image_to_text.tolist() == mean.image_to_text.tolist()
    assert Learned.equal(3).importance() == pytest.approx([1 / 3] * 3)


def full_loss(scores: Tensor, owners: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
    """Equation 3 with every triplet in the graph: scores [pictures, captions, languages], ten hardest of each."""
    table = ((1 + scores) @ weights[0]).relu() @ weights[1] / (weights[0] @ weights[1]).sum()
    captions, pictures = [], []
    for caption, owner in enumerate(owners.tolist()):
        right = table[owner, caption]
        wrong = table[owner][owners != owner]
        costs = torch.stack([(0.05 + other - right).clamp(min=0) for other in wrong])
        captions.append(costs.sort(descending=True).values[:10])
        others = torch.cat([table[:owner, caption], table[owner + 1 :, caption]])
        pictures.append((0.05 + others - right).clamp(min=0).sort(descending=True).values[:10])
    return torch.cat(captions).mean() + 1.5 * torch.cat(pictures).mean()


@pytest.mark.parametrize("step", [1, 4, 1000])
def test_the_loss_and_its_gradient_are_those_of_all_triplets(step: int) -> None:
    pictures, texts, owners = problem(3, 21)
    owners[3:21] = 2  # fewer than ten captions of other pictures are left for picture 2 … of twelve
    texts, owners = texts[:24], owners[:24]
    queries = Queries(torch.from_numpy(texts.reshape(24, -1)), torch.from_numpy(owners))
    rivals = _Rivals(Dot(), torch.from_numpy(pictures), queries, 3)
    rivals.step = step
    weights = [torch.from_numpy(abs(part)).requires_grad_() for part in random_weights(3, 2)]
    found = triplet_cost(rivals.hardest(network(*weights)), network(*weights))
    filled = Combined(Dot(), Average(3), 3).single(torch.from_numpy(pictures), queries.vectors)
    expected = full_loss(filled, queries.owners, (weights[0], weights[1]))
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(torch.autograd.grad(found, weights), torch.autograd.grad(expected, weights), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-4)
        assert ours.abs().max() > 1e-3


def noisy(languages: int = 3, seed: int = 0) -> tuple[Tensor, Queries]:
    """Queries whose first language knows the picture and whose others are noise."""
    draw = np.random.default_rng(seed)
    pictures = unit(40, 16, seed=seed)
    owners = draw.integers(0, 40, 120)
    texts = unit(120, languages, 16, seed=seed + 1)
    texts[:, 0] = pictures[owners] + 0.3 * texts[:, 0]
    texts /= np.linalg.norm(texts, axis=2, keepdims=True)
    return torch.from_numpy(pictures), Queries(torch.from_numpy(texts.reshape(120, -1)), torch.from_numpy(owners))


def test_it_learns_which_language_to_trust_and_better_than_the_mean() -> None:
    pictures, queries = noisy()
    learned, losses = learn(Dot(), pictures, [queries], 3)
    assert len(losses) == 30
    assert losses[-1] < losses[0]
    importance = learned.importance()
    assert importance[0] > 1.2 * max(importance[1:])
    assert sum(importance) == pytest.approx(1)
    assert learned.exact(torch.full((1, 3), 0.25)).item() == pytest.approx(1.25)  # 1 + what all languages agree on
    fresh, others = noisy(seed=9)
    mean_rank = [
        ranks(fresh, others.vectors, others.owners, score=Combined(Dot(), way, 3)).text_to_image.mean()
        for way in (learned, Average(3))
    ]
    assert mean_rank[0] < mean_rank[1]


def test_learning_is_the_same_every_time_and_does_not_depend_on_the_order_of_queries() -> None:
    pictures, queries = noisy()
    first, _ = learn(Dot(), pictures, [queries], 3, iterations=5)
    again, _ = learn(Dot(), pictures, [queries], 3, iterations=5)
    assert torch.equal(first.first, again.first)
    order = torch.randperm(120, generator=torch.Generator().manual_seed(1))
    moved, _ = learn(Dot(), pictures, [Queries(queries.vectors[order], queries.owners[order])], 3, iterations=5)
    torch.testing.assert_close(first.first, moved.first)
    places = [2, 0, 1]
    turned = queries.vectors.view(120, 3, -1)[:, places].reshape(120, -1)
    permuted, _ = learn(Dot(), pictures, [Queries(turned, queries.owners)], 3, iterations=5)
    torch.testing.assert_close(first.first[places], permuted.first)
