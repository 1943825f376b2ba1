"""Precision of word translation: plain loops, ties, several right answers."""

import pytest
import torch
from torch import Tensor

from groundling.words import retrieval


def unit_rows(rows: int, dimensions: int, seed: int) -> Tensor:
    vectors = torch.randn(rows, dimensions, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(vectors)


def slow_precision(mapped: Tensor, target: Tensor, answers: dict[int, list[int]], depth: int, k: int | None) -> float:
    """CSLS as published, 2·cos − r(x) − r(y); cosine where k is None."""
    cosines = (mapped.double() @ target.double().T).tolist()
    right = 0
    for word, good in answers.items():
        scores = []
        for y in range(len(target)):
            score = 2 * cosines[word][y]
            if k is not None:
                score -= sum(sorted(cosines[word], reverse=True)[:k]) / k
                score -= sum(sorted((row[y] for row in cosines), reverse=True)[:k]) / k
            scores.append(score)
        best = max(scores[y] for y in good)
        before = sum(score >= best - 1e-6 for y, score in enumerate(scores) if y not in good)
        right += before < depth
    return right / len(answers)


@pytest.mark.parametrize("seed", range(3))
def test_against_plain_loops(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "SCORES_AT_ONCE", 200)  # several blocks
    mapped, target = unit_rows(50, 4, seed), unit_rows(60, 4, seed + 5)
    answers = {word: [word, (7 * word) % 60] for word in range(0, 50, 2)}
    found = retrieval.precision(mapped, target, answers, k=5)
    for depth in (1, 5, 10):
        assert found["nn"][str(depth)] == slow_precision(mapped, target, answers, depth, None)
        assert found["csls"][str(depth)] == slow_precision(mapped, target, answers, depth, 5)


def test_ties_count_against() -> None:
    target = torch.tensor([[1.0, 0], [1, 0], [0, 1]])
    query = torch.tensor([[1.0, 0]])
    assert retrieval.ranks(query, target, [[0]]).tolist() == [2]
    assert retrieval.ranks(query, target, [[0, 1]]).tolist() == [1]  # both are right
    assert retrieval.ranks(query, target, [[2]]).tolist() == [3]


def test_all_vectors_alike_is_no_success() -> None:
    same = torch.ones(20, 3) / 3**0.5
    found = retrieval.precision(same, same, {word: [word] for word in range(20)})
    assert set(found["nn"].values()) | set(found["csls"].values()) == {0.0}


def test_csls_is_not_fooled_by_a_hub() -> None:
    """Word 0 of the target is near to everything, and nobody's translation."""
    axes = torch.eye(8)
    hub = torch.ones(1, 8) / 8**0.5
    queries = torch.nn.functional.normalize(axes + 1.2 * hub)
    found = retrieval.precision(queries, torch.cat([hub, axes]), {row: [row + 1] for row in range(8)}, k=2)
    assert (found["nn"]["1"], found["csls"]["1"]) == (0, 1)
