"""Is a sentence true of a picture? The head that tells, from the vectors of both.

CLIP-VE: Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis,
Leiden), section 3.1. Joining two vectors by themselves, their difference and their product is how sentence pairs are
classified in InferSent (Conneau et al. 2017, https://arxiv.org/abs/1705.02364).

>>> EntailmentHead(4, hidden=6).eval()(torch.rand(2, 4), torch.rand(2, 4)).shape
torch.Size([2, 3])
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

CLASSES = 3  # in the order of `corpus.entailment.LABELS`


def classifier(dimensions: int, hidden: int, dropout: float) -> nn.Sequential:
    """Batch norm → dropout → hidden → hidden → batch norm → dropout → 3, with ReLU after both hidden layers."""
    return nn.Sequential(
        nn.BatchNorm1d(dimensions),
        nn.Dropout(dropout),
        nn.Linear(dimensions, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.BatchNorm1d(hidden),
        nn.Dropout(dropout),
        nn.Linear(hidden, CLASSES),
    )


class EntailmentHead(nn.Module):
    """Unit vectors → dropout → [h, p, |h − p|, h∘p] → classifier."""

    def __init__(self, dimensions: int, hidden: int = 128, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.layers = classifier(4 * dimensions, hidden, dropout)

    def forward(self, sentences: Tensor, pictures: Tensor) -> Tensor:
        """[n, dimensions] each, row by row → [n, 3] logits"""
        h = self.dropout(normalize(sentences.float(), dim=-1))
        p = self.dropout(normalize(pictures.float(), dim=-1))
        logits: Tensor = self.layers(torch.cat([h, p, (h - p).abs(), h * p], dim=-1))
        return logits.float()
