"""Words are paired where both directions agree, and only the student moves."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.objectives.token_alignment import token_distance, token_spread, unexplained_tokens, word_pairs

ALL = torch.ones(1, 3, dtype=torch.bool)


def slow_pairs(similarities: Tensor, student: Tensor, teacher: Tensor, threshold: float) -> Tensor:
    """Word by word, straight from awesome-align's description."""
    found = torch.zeros_like(similarities, dtype=torch.bool)
    for n in range(len(similarities)):
        rows = [i for i in range(student.shape[1]) if student[n, i]]
        columns = [j for j in range(teacher.shape[1]) if teacher[n, j]]
        for i in rows:
            for j in columns:
                value = math.exp(similarities[n, i, j])
                forth = value / sum(math.exp(similarities[n, i, k]) for k in columns)
                back = value / sum(math.exp(similarities[n, k, j]) for k in rows)
                found[n, i, j] = forth > threshold and back > threshold
    return found


def slow_distance(student: Tensor, teacher: Tensor, pairs: Tensor) -> Tensor:
    total = [(student[n, i] - teacher[n, j]).square().sum() for n, i, j in pairs.nonzero().tolist()]
    return torch.stack(total).mean() if total else torch.zeros(())


def test_three_by_three_by_hand() -> None:
    """Shares forth: (.8 .1 .1), (.6 .2 .2), (1/3 each); back, by columns: (8 2 1)/11, (3 2 3)/8 twice."""
    alike = torch.tensor([[[8.0, 1.0, 1.0], [2.0, 2 / 3, 2 / 3], [1.0, 1.0, 1.0]]]).log()
    forth, back = alike.softmax(dim=2)[0], alike.softmax(dim=1)[0]
    assert forth[0].tolist() == pytest.approx([0.8, 0.1, 0.1])
    assert forth[1].tolist() == pytest.approx([0.6, 0.2, 0.2])
    assert back[:, 0].tolist() == pytest.approx([8 / 11, 2 / 11, 1 / 11])
    assert back[:, 1].tolist() == pytest.approx([3 / 8, 2 / 8, 3 / 8])
    # Above a half both ways: only the first with the first. The second word's .6 is not returned (2/11).
    assert word_pairs(alike, ALL, ALL, 0.5)[0].tolist() == [[True, False, False], [False] * 3, [False] * 3]
    # Above .3: the third word, too, which is as good for all three, is chosen back by the second and the third.
    assert word_pairs(alike, ALL, ALL, 0.3)[0].tolist() == [[True, False, False], [False] * 3, [False, True, True]]


def test_one_direction_is_not_enough() -> None:
    forth = torch.tensor([[[9.0, 0.0], [9.0, 0.0]]])  # both choose the first
    back = torch.tensor([[[0.0, 9.0], [9.0, 9.0]]])  # which chooses the second of them
    real = torch.ones(1, 2, dtype=torch.bool)
    assert word_pairs(forth, real, real, 0.4, back)[0].tolist() == [[False, False], [True, False]]
    assert word_pairs(forth, real, real, 0.4)[0].tolist() == [[True, False], [True, False]]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 0.9))
def test_like_the_slow_twin_whatever_is_padding(seed: int, threshold: float) -> None:
    draw = torch.Generator().manual_seed(seed)
    alike = 3 * torch.randn(3, 4, 5, generator=draw)
    student, teacher = (torch.rand(3, size, generator=draw) < 0.7 for size in (4, 5))
    found = word_pairs(alike, student, teacher, threshold)
    assert torch.equal(found, slow_pairs(alike, student, teacher, threshold))
    # What stands in the padding changes nothing, nor does more of it.
    other = torch.where(student[:, :, None] & teacher[:, None, :], alike, 100 * torch.randn(3, 4, 5, generator=draw))
    assert torch.equal(word_pairs(other, student, teacher, threshold), found)
    wider = torch.nn.functional.pad(alike, (0, 2, 0, 1), value=50.0)
    padded = torch.nn.functional.pad(student, (0, 1)), torch.nn.functional.pad(teacher, (0, 2))
    assert torch.equal(word_pairs(wider, *padded, threshold)[:, :4, :5], found)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_the_distance_is_that_of_the_slow_twin_and_moves_the_student_only(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    student = torch.randn(3, 4, 6, generator=draw, dtype=torch.float64).requires_grad_()
    teacher = (5 + torch.randn(3, 5, 6, generator=draw, dtype=torch.float64)).requires_grad_()
    pairs = torch.rand(3, 4, 5, generator=draw) < 0.3
    loss = token_distance(student, teacher, pairs)
    assert loss.item() == pytest.approx(slow_distance(student, teacher, pairs).item(), rel=1e-6, abs=1e-9)
    loss.backward()
    assert teacher.grad is None
    assert student.grad is not None
    slow = torch.autograd.grad(slow_distance(student, teacher, pairs) + 0 * student.sum(), student)[0]
    assert torch.allclose(student.grad, slow, atol=1e-9)
    unpaired = ~pairs.any(dim=2)
    assert not student.grad[unpaired].any()


def test_one_is_the_mean_and_zero_the_teacher() -> None:
    draw = torch.Generator().manual_seed(0)
    teacher = 100 + torch.randn(4, 3, 5, generator=draw)
    pairs = torch.eye(3).expand(4, 3, 3)
    mean = teacher.mean(dim=(0, 1)).expand_as(teacher)
    assert unexplained_tokens(mean, teacher, pairs).item() == pytest.approx(1, abs=1e-4)
    assert unexplained_tokens(teacher, teacher, pairs).item() == pytest.approx(0, abs=1e-6)
    assert token_spread(teacher, pairs).item() == pytest.approx(
        (teacher - teacher.mean(dim=(0, 1))).square().sum(dim=-1).mean().item(), rel=1e-4
    )


def test_no_pairs_at_all_cost_nothing() -> None:
    student = torch.randn(2, 3, 4, requires_grad=True)
    loss = unexplained_tokens(student, torch.randn(2, 3, 4), torch.zeros(2, 3, 3))
    loss.backward()
    assert loss.item() == 0
    assert student.grad is not None
    assert not student.grad.any()
