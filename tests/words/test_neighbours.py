"""Exact neighbours of queries that move: always what a plain search finds."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.words import neighbours
from groundling.words.neighbours import MovingNeighbours, best_scores, nearest


def random(rows: int, dimensions: int, draw: torch.Generator) -> Tensor:
    return torch.nn.functional.normalize(torch.randn(rows, dimensions, generator=draw))


def assert_exact(search: MovingNeighbours, queries: Tensor) -> None:
    found = search(queries)
    plain = (queries.double() @ search.candidates.double().T).topk(search.k, dim=1)
    scale = queries.norm(dim=1, keepdim=True).double()
    assert bool(((found.scores - plain.values).abs() <= 2e-6 * scale + 1e-9).all())
    for rows in found.rows:  # ties aside, the same candidates; never one twice
        assert len(set(rows.tolist())) == search.k
    own = torch.einsum("qd,qkd->qk", queries, search.candidates[found.rows])
    assert torch.allclose(own, found.scores, atol=float(2e-6 * scale.max()))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 150),
    st.integers(1, 12),
    st.sampled_from([1e-4, 0.01, 0.1, 3.0]),
    st.booleans(),
    st.booleans(),
)
def test_however_far_queries_move(
    seed: int, candidates: int, k: int, step: float, bfloat16: bool, copies: bool
) -> None:
    draw = torch.Generator().manual_seed(seed)
    vectors = random(candidates, 8, draw)
    if copies:  # many exact ties
        vectors = vectors[torch.randint(min(3, candidates), (candidates,), generator=draw)]
    search = MovingNeighbours(vectors, k, listed=16, bfloat16=bfloat16)
    queries = torch.randn(20, 8, generator=draw)
    for _ in range(5):
        assert_exact(search, queries)
        queries = (queries + step * torch.randn(20, 8, generator=draw)) * (1 + step)


def test_special_moves() -> None:
    draw = torch.Generator().manual_seed(0)
    search = MovingNeighbours(random(300, 8, draw), 10)
    queries = torch.randn(30, 8, generator=draw)
    for moved in (queries, -queries, 1e-3 * queries, 1e3 * queries, 0 * queries, queries, queries[:7]):
        assert_exact(search, moved)


def test_after_a_query_that_is_not_a_number() -> None:
    draw = torch.Generator().manual_seed(0)
    search = MovingNeighbours(random(300, 8, draw), 10)
    queries = torch.randn(30, 8, generator=draw)
    search(queries * torch.nan)
    assert_exact(search, queries)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_small_moves_spare_the_search(monkeypatch: pytest.MonkeyPatch, bfloat16: bool) -> None:
    draw = torch.Generator().manual_seed(0)
    search = MovingNeighbours(random(3000, 16, draw), 5, bfloat16=bfloat16)
    queries = torch.randn(100, 16, generator=draw)
    searched = []
    whole = MovingNeighbours._search

    def watched(self: MovingNeighbours, queries: Tensor, waiting: Tensor, found: neighbours.Neighbours) -> None:
        searched.append(len(waiting))
        whole(self, queries, waiting, found)

    monkeypatch.setattr(MovingNeighbours, "_search", watched)
    search(queries)
    search(2 * queries + 1e-3 * torch.randn(100, 16, generator=draw))
    assert searched[0] == 100
    assert sum(searched[1:]) < 10


def test_queries_asked_once_in_parts() -> None:
    draw = torch.Generator().manual_seed(0)
    queries, candidates = random(5000, 4, draw), random(200, 4, draw)
    found = nearest(queries, candidates, 3)
    plain = (queries @ candidates.T).topk(3, dim=1)
    assert torch.allclose(found.scores, plain.values, atol=1e-6)
    assert float((found.rows == plain.indices).double().mean()) > 0.99


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 3000), st.integers(0, 2**32 - 1))
def test_the_largest_through_groups_are_the_largest(k: int, columns: int, seed: int) -> None:
    scores = torch.randn(3, max(k, columns), generator=torch.Generator().manual_seed(seed))
    best, expected = best_scores(scores, k), scores.topk(k, dim=1)
    assert torch.equal(best.scores, expected.values) and torch.equal(best.rows, expected.indices)
