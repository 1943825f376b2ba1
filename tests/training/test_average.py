"""The moving average of weights: against a plain loop, and put in the place of the weights and taken away again."""

import pytest
import torch
from torch import nn

from groundling.training.average import MovingAverage


def walk(module: nn.Module, average: MovingAverage, steps: int, first: int = 0) -> list[torch.Tensor]:
    """Weights after each of some steps at random."""
    seen = []
    for step in range(first, first + steps):
        torch.manual_seed(step)
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.add_(torch.randn_like(parameter))
        average.update(torch.tensor(float(step)))
        seen.append(next(module.parameters()).detach().clone())
    return seen


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.9])
def test_the_mean_of_all_weights_at_first_and_of_the_last_ones_later(decay: float) -> None:
    module = nn.Linear(3, 2)
    average = MovingAverage(module, decay)
    seen = walk(module, average, 30)
    slow = torch.zeros_like(seen[0])
    for t, weights in enumerate(seen):
        d = min(decay, t / (t + 1))
        slow = d * slow + (1 - d) * weights
    torch.testing.assert_close(average.state()["weight"], slow)
    few = nn.Linear(3, 2)
    plain = MovingAverage(few, 0.999)
    torch.testing.assert_close(torch.stack(walk(few, plain, 8)).mean(dim=0), plain.state()["weight"])


def test_in_the_place_of_the_weights_and_away_again() -> None:
    module = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    module[1].requires_grad_(False)
    average = MovingAverage(module, 0.9)
    walk(module, average, 5)
    assert set(average.names) == {"0.weight", "0.bias"}
    own, frozen = module[0].weight.detach().clone(), module[1].weight.detach().clone()
    where = module[0].weight.data_ptr()
    with average.in_place():
        torch.testing.assert_close(module[0].weight, average.state()["0.weight"])
        assert torch.equal(module[1].weight, frozen)
    assert torch.equal(module[0].weight, own) and module[0].weight.data_ptr() == where
    with pytest.raises(ZeroDivisionError), average.in_place():
        1 / 0  # noqa: B018
    assert torch.equal(module[0].weight, own)


def test_a_state_that_was_saved_goes_on_the_same() -> None:
    whole, parts = nn.Linear(3, 2), nn.Linear(3, 2)
    parts.load_state_dict(whole.state_dict())
    one, first = MovingAverage(whole, 0.8), MovingAverage(parts, 0.8)
    walk(whole, one, 12)
    walk(parts, first, 5)
    second = MovingAverage(parts, 0.8)
    second.load({name: value.clone() for name, value in first.state().items()})
    walk(parts, second, 7, first=5)
    for name, value in one.state().items():
        assert torch.equal(value, second.state()[name])
