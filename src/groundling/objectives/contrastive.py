"""Cross-entropy over a batch of matching pairs: each tells its partner among all others.

InfoNCE: van den Oord, Li and Vinyals 2018, "Representation learning with contrastive predictive coding",
https://arxiv.org/abs/1807.03748; both directions, as in CLIP: Radford et al. 2021, https://arxiv.org/abs/2103.00020.
With a temperature that is learned: `info_nce`.

>>> import torch
>>> objective = Contrastive(temperature=0.5)
>>> round(objective(torch.tensor([[1.0, 0.0], [0.0, 1.0]])).item(), 4)  # log(1 + exp(−2))
0.1269
"""

from typing import ClassVar

import torch
from pydantic import Field, PositiveFloat
from torch import Tensor
from torch.nn.functional import cross_entropy

from groundling.objectives.objective import Objective, register


@register
class Contrastive(Objective):
    """Each row picks its column and each column its row: −log softmax of the diagonal, mean over rows and columns.

    Wrong pairs that match in truth leave the denominator.
    """

    name: ClassVar = "contrastive"
    paper: ClassVar = "van den Oord et al. 2018 (InfoNCE); Radford et al. 2021 (CLIP)"
    temperature: PositiveFloat = Field(0.05, description="that similarities are divided by")

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        logits = scores / self.temperature
        if positives is not None:
            matching = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
            logits = logits.masked_fill(positives & ~matching, float("-inf"))
        target = torch.arange(len(scores), device=scores.device)
        return (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2
