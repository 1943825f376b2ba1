import pytest
import torch
from torch import nn

from groundling.settings import TrainingSettings
from groundling.training.schedule import learning_rate
from groundling.training.step import make_optimiser


def test_the_learning_rate_rises_in_a_straight_line_and_then_falls() -> None:
    settings = TrainingSettings(learning_rate=1.0, warm_up=0.1, maximum_steps=100)
    rates = [learning_rate(settings, step, 0.0) for step in range(100)]
    assert rates[:10] == pytest.approx([0.1 * (step + 1) for step in range(10)])
    assert set(rates[10:]) == {1.0}
    falling = settings.model_copy(update={"decay_to": 0.0001})
    assert learning_rate(falling, 4, 0.0) < 0.5
    assert learning_rate(falling, 100, 0.0) == pytest.approx(0.0001)


def test_a_straight_line_down_begins_where_the_warm_up_ends() -> None:
    settings = TrainingSettings(learning_rate=1.0, warm_up=0.2, decay="linear", decay_to=1e-9, maximum_steps=100)
    rates = [learning_rate(settings, step, 0.0) for step in (0, 9, 19, 20, 60, 100)]
    assert rates == pytest.approx([0.05, 0.5, 1.0, 1.0, 0.5, 0.0], abs=1e-6)


@pytest.mark.parametrize(("name", "decayed"), [("adamw", 1 - 0.1 * 0.5), ("adam", 1.0 - 0.1)])
def test_decay_apart_from_the_gradient_shrinks_weights_by_rate_times_decay(name: str, decayed: float) -> None:
    """Without a gradient of its own, Adam takes the decay for one and steps by the whole learning rate."""
    part = nn.Linear(1, 1, bias=False)
    nn.init.ones_(part.weight)
    settings = TrainingSettings(learning_rate=0.1, weight_decay=0.5, optimiser=name)  # type: ignore[arg-type]
    optimiser = make_optimiser(part, settings, torch.device("cpu"))  # type: ignore[arg-type]
    part.weight.grad = torch.zeros(1, 1)
    optimiser.step()
    assert part.weight.item() == pytest.approx(decayed, rel=1e-5)
