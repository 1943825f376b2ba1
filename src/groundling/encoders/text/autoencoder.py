"""From the states of one encoder to as many dimensions as another's have.

Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden),
section 3.2.2: 768 → 512.
"""

from torch import Tensor, nn
from torch.nn.functional import mse_loss


class Autoencoder(nn.Module):
    """One linear layer down and one back up again, trained to give back what it got.

    As published, a ReLU follows each of the two. States of encoders are of both signs, so that half of what shall be
    given back, and half of what a teacher says, are out of its reach; `rectified` is for those who want to see it.
    """

    def __init__(self, outer: int, inner: int, rectified: bool = False) -> None:
        super().__init__()
        self.down = nn.Linear(outer, inner)
        self.up = nn.Linear(inner, outer)
        self.rectified = rectified

    def encode(self, states: Tensor) -> Tensor:
        """[…, outer] → […, inner]"""
        inner: Tensor = self.down(states)
        return inner.relu() if self.rectified else inner

    def forward(self, states: Tensor) -> Tensor:
        """[…, outer] → […, outer], the same again"""
        outer: Tensor = self.up(self.encode(states))
        return outer.relu() if self.rectified else outer

    def loss(self, states: Tensor, real: Tensor) -> Tensor:
        """The mean squared error over the real states of [n, longest, outer]; it does not reach what made them."""
        states = states.detach()
        weights = real[:, :, None].float().expand_as(states)
        errors = mse_loss(self(states), states, reduction="none")
        return (errors * weights).sum() / weights.sum()
