import pytest
import torch
from torch.nn.functional import normalize

from groundling.objectives.distillation import spread, squared_distance, squared_error, unexplained


def test_a_case_by_hand() -> None:
    student = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    teacher = torch.tensor([[1.0, 0.0], [1.0, 0.0], [-0.6, -0.8]])
    assert squared_distance(student, teacher).item() == pytest.approx((0 + 2 + 4) / 3)
    assert squared_error(student, teacher).item() == pytest.approx((0 + 2 + 4) / 6)
    assert squared_error(2 * teacher, teacher).item() == pytest.approx(3 / 6)  # lengths count
    mean = (1.4 / 3, -0.8 / 3)
    each = [(1 - mean[0]) ** 2 + mean[1] ** 2] * 2 + [(-0.6 - mean[0]) ** 2 + (-0.8 - mean[1]) ** 2]
    assert spread(teacher).item() == pytest.approx(sum(each) / 3)
    assert unexplained(student, teacher).item() == pytest.approx(2 / (sum(each) / 3), rel=1e-5)


def test_it_is_the_mean_squared_error_of_the_paper_times_the_dimensions_and_two_minus_two_cosines() -> None:
    torch.manual_seed(0)
    student, teacher = normalize(torch.randn(7, 5), dim=1), normalize(torch.randn(7, 5), dim=1)
    found = squared_distance(student, teacher)
    slow = (
        sum(
            (s - t) ** 2
            for row, other in zip(student.tolist(), teacher.tolist(), strict=True)
            for s, t in zip(row, other, strict=True)
        )
        / 7
    )
    assert found.item() == pytest.approx(slow, rel=1e-5)
    assert torch.allclose(found, 5 * torch.nn.functional.mse_loss(student, teacher))
    assert torch.allclose(found, (2 - 2 * (student * teacher).sum(1)).mean())


def test_the_mean_of_the_teacher_explains_nothing_and_the_teacher_everything() -> None:
    torch.manual_seed(1)
    teacher = normalize(torch.tensor([[10.0, 0, 0]]) + 1e-2 * torch.randn(50, 3), dim=1)  # a narrow cone
    assert unexplained(teacher.mean(0).expand(50, 3), teacher).item() == pytest.approx(1, rel=1e-3)
    assert unexplained(teacher, teacher).item() == 0
    assert unexplained(teacher, teacher[:1].expand(50, 3)).isfinite()  # nothing to explain


def test_only_the_student_learns() -> None:
    student, teacher = torch.randn(4, 3, requires_grad=True), torch.randn(4, 3, requires_grad=True)
    unexplained(student, teacher).backward()
    assert teacher.grad is None
    expected = 2 * (student - teacher).detach() / 4 / spread(teacher)
    assert torch.allclose(student.grad, expected)  # type: ignore[arg-type]
