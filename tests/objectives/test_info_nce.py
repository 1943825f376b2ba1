"""InfoNCE, the ring of captions and distillation of similarities: each against a slow loop."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from groundling.objectives.caption_ring import caption_ring
from groundling.objectives.info_nce import LearnedInfoNCE, info_nce
from groundling.objectives.similarity_distillation import joined, similarity_distillation


def slow_info_nce(scores: Tensor, scale: float, positives: Tensor | None = None, real: Tensor | None = None) -> float:
    """−log of the share that the partner has among partner and strangers, for each pair and direction."""
    n, costs = len(scores), []
    there = [i for i in range(n) if real is None or real[i]]
    for i in there:
        for direction, allowed in ((scores, positives), (scores.T, None if positives is None else positives.T)):
            strangers = [j for j in there if j != i and not (allowed is not None and allowed[i, j])]
            among = [math.exp(scale * float(direction[i, j])) for j in [i, *strangers]]
            costs.append(-math.log(among[0] / sum(among)))
    return sum(costs) / max(1, len(costs))


@pytest.mark.parametrize("size", [1, 2, 6])
def test_equals_the_slow_version(size: int) -> None:
    torch.manual_seed(size)
    scores = torch.rand(size, size, dtype=torch.float64)
    positives, real = torch.rand(size, size) < 0.3, torch.rand(size) < 0.7
    assert info_nce(scores, 7.0).item() == pytest.approx(slow_info_nce(scores, 7.0))
    assert info_nce(scores, 7.0, positives).item() == pytest.approx(slow_info_nce(scores, 7.0, positives))
    both = info_nce(scores, 7.0, positives, real).item()
    assert both == pytest.approx(slow_info_nce(scores, 7.0, positives, real))


def test_several_batches_at_once_are_the_mean_over_all_pairs() -> None:
    torch.manual_seed(0)
    scores, real = torch.rand(3, 5, 5, dtype=torch.float64), torch.rand(3, 5) < 0.6
    each = [
        slow_info_nce(batch, 4.0, None, there) * int(there.sum()) for batch, there in zip(scores, real, strict=True)
    ]
    assert info_nce(scores, 4.0, real=real).item() == pytest.approx(sum(each) / int(real.sum()))


def test_gradients_and_what_is_absent() -> None:
    torch.manual_seed(0)
    scores = torch.rand(5, 5, dtype=torch.float64, requires_grad=True)
    real = torch.tensor([True, True, False, True, True])
    positives = torch.rand(5, 5) < 0.2
    assert torch.autograd.gradcheck(lambda s: info_nce(s, 3.0, positives, real), (scores,))
    info_nce(scores, 3.0, positives, real).backward()
    assert scores.grad is not None
    assert (scores.grad[2] == 0).all() and (scores.grad[:, 2] == 0).all()
    assert (scores.grad[positives & ~torch.eye(5, dtype=torch.bool)] == 0).all()
    nobody = info_nce(scores, 3.0, real=torch.zeros(5, dtype=torch.bool))
    assert nobody.item() == 0 and torch.autograd.grad(nobody, scores)[0].isfinite().all()


def test_the_temperature_is_learned_and_bounded() -> None:
    objective = LearnedInfoNCE(0.05)
    assert objective.log_scale.exp().item() == pytest.approx(20)
    confused = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    objective(confused).backward()
    assert objective.log_scale.grad is not None and objective.log_scale.grad > 0  # wrong pairs: less sharp is better
    with torch.no_grad():
        objective.log_scale.fill_(math.log(1000))
    assert objective(confused).item() == pytest.approx(slow_info_nce(confused, 100.0))


def slow_ring(captions: Tensor, texts: Tensor, real: Tensor, scale: float) -> float:
    lines, total, pairs = len(captions), 0.0, 0
    for m in range(lines if lines > 2 else 1):
        k = (m + 1) % lines
        there = real[m] & real[k]
        scores = captions[m] @ captions[k].T
        same = texts[m][:, None] == texts[k][None, :]
        total += slow_info_nce(scores, scale, same, there) * int(there.sum())
        pairs += int(there.sum())
    return total / max(1, pairs)


@pytest.mark.parametrize("lines", [2, 3, 5])
def test_the_ring_goes_through_all_lines(lines: int) -> None:
    torch.manual_seed(lines)
    captions = normalize(torch.randn(lines, 6, 4, dtype=torch.float64), dim=-1)
    texts, real = torch.randint(0, 9, (lines, 6)), torch.rand(lines, 6) < 0.8
    objective = LearnedInfoNCE(0.2)
    assert caption_ring(captions, texts, real, objective).item() == pytest.approx(
        slow_ring(captions, texts, real, 5.0), rel=1e-5
    )
    assert caption_ring(captions[:1], texts[:1], real[:1], objective).item() == 0


def slow_distillation(scores: Tensor, teacher: Tensor, temperature: float, real: Tensor) -> float:
    there, total = [i for i in range(len(real)) if real[i]], 0.0
    for own, their in ((scores, teacher), (scores.T, teacher.T)):
        for i in there:
            p = [math.exp(float(their[i, j]) / temperature) for j in there]
            q = [math.exp(float(own[i, j]) / temperature) for j in there]
            p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
            total += sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)) / 2
    return total / max(1, len(there))


def test_distillation_equals_the_slow_version_and_is_zero_for_the_teacher_itself() -> None:
    torch.manual_seed(0)
    scores = torch.rand(6, 6, dtype=torch.float64, requires_grad=True)
    teacher, real = torch.rand(6, 6, dtype=torch.float64), torch.tensor([1, 1, 0, 1, 1, 1]).bool()
    found = similarity_distillation(scores, teacher, 0.3, real)
    assert found.item() == pytest.approx(slow_distillation(scores.detach(), teacher, 0.3, real))
    assert similarity_distillation(teacher, teacher, 0.3, real).item() == pytest.approx(0)
    assert torch.autograd.gradcheck(lambda s: similarity_distillation(s, teacher, 0.3, real), (scores,))
    stacked = similarity_distillation(torch.stack([scores, scores]), torch.stack([teacher, teacher]), 0.3)
    assert stacked.item() == pytest.approx(similarity_distillation(scores, teacher, 0.3).item())


def test_joined_teachers_have_the_mean_of_their_similarities() -> None:
    torch.manual_seed(0)
    one, other = (normalize(torch.randn(4, size), dim=-1) for size in (3, 5))
    together = joined([one, 2 * other])
    torch.testing.assert_close(together @ together.T, (one @ one.T + other @ other.T) / 2)
