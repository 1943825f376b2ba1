"""Hinges that turn from all wrong pairs to the hardest ones while training goes on (LIWE; seed 004, section 1)."""

from torch import Tensor

from groundling.objectives.hinge import hinge_costs


def hardness(rate: float, step: Tensor) -> Tensor:
    """k = 1 − rateᵗ at the t-th step of training, of which `step` (a tensor) are over: t = step + 1.

    With the rate .991 the hardest pairs weigh half at t = 77 and .99 at t = 509. The step belongs to training, so that
    evaluation does not advance it and a resumed training goes on where it was.
    """
    return 1 - rate ** (step + 1)


def hardening_hinges(
    scores: Tensor, step: Tensor, rate: float = 0.991, margin: float = 0.2, spared: Tensor | None = None
) -> Tensor:
    """(1 − k)·sum of hinges + k·max of hinges; see `hinge` for both and for `spared`."""
    by_row, by_column = hinge_costs(scores, margin, spared)
    k = hardness(rate, step)
    everything = by_row.sum() + by_column.sum()
    hardest = by_row.amax(dim=1).sum() + by_column.amax(dim=0).sum()
    return (1 - k) * everything + k * hardest
