"""How alike the vectors of captions and pictures are: by their cosine, or by the order they stand in.

Order embeddings (Vendrov et al. 2015, "Order-embeddings of images and language", https://arxiv.org/abs/1511.06361) put
the general below the specific: a caption says less than its picture shows, so that no entry of its vector should exceed
the picture's. What does exceed it is squared and added up,

    order(picture a, caption b) = −‖max(0, b − a)‖²    from −1, where they share nothing, to 0, where nothing exceeds.

As published, entries are never negative: the encoders' unit vectors enter with the absolute values of their entries.

Two captions of one picture say different things about it, and neither language is the more general one: for them the
mean of both directions is taken. As max(0, x)² + max(0, −x)² = x², that is −½‖b − a‖², which for unit vectors is their
cosine (of absolute values) less 1. It cannot depend on which language comes first, of any number of languages.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

SHALLOWEST, DEEPEST = 16, 128  # dimensions that are summed before they join a score; long sums round more


def picture_scores(similarity: str, captions: Tensor, pictures: Tensor) -> Tensor:
    """[captions, pictures] similarities of unit vectors, "cosine" or "order"."""
    if similarity == "order":
        return order_similarities(pictures.abs(), captions.abs()).T
    return captions @ pictures.T


def caption_scores(similarity: str, captions: Tensor, others: Tensor) -> Tensor:
    """[captions, others] similarities of unit vectors of captions; the order's are the mean of both directions."""
    if similarity == "order":
        return captions.abs() @ others.abs().T - 1
    return captions @ others.T


def order_similarities(specific: Tensor, general: Tensor) -> Tensor:
    """−‖max(0, general − specific)‖² of all pairs of [s, d] and [g, d] vectors: [s, g].

    The s × g × d differences are never there together, neither now nor when gradients are asked for.
    """
    scores: Tensor = _Order.apply(specific, general)  # type: ignore[no-untyped-call]
    return scores


class _Order(Function):
    """Gradients from differences that are computed anew: they would need a thousand times the memory of the scores."""

    @staticmethod
    def forward(context: Any, specific: Tensor, general: Tensor) -> Tensor:
        context.save_for_backward(specific, general)
        scores = specific.new_zeros(len(specific), len(general))
        for rows, _, excess in _excesses(specific, general):
            scores[rows] -= excess.square_().sum(dim=0)
        return scores

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, Tensor]:
        """∂/∂a = Σ 2·max(0, b − a)·upstream over all b, and ∂/∂b = −Σ 2·max(0, b − a)·upstream over all a."""
        specific, general = context.saved_tensors
        by_specific, by_general = torch.zeros_like(specific.T), torch.zeros_like(general.T)
        for rows, dimensions, excess in _excesses(specific, general):
            pull = excess.mul_(upstream[rows])
            by_specific[dimensions, rows] += pull.sum(dim=2)
            by_general[dimensions] -= pull.sum(dim=1)
        return 2 * by_specific.T, 2 * by_general.T


def _excesses(specific: Tensor, general: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """Rows, dimensions, and there max(0, general − specific), [dimensions, rows, general], until all had their turn.

    They come in one and the same buffer: a cacheful on a CPU, 64 MiB (of float32) on a GPU.
    """
    (height, size), width = specific.shape, max(1, len(general))
    room = 2**17 if specific.device.type == "cpu" else 2**24
    depth = min(DEEPEST, max(SHALLOWEST, room // (width * max(1, height))))
    height = max(1, min(height, room // (depth * width)))
    by_dimension = specific.T.contiguous()[:, :, None], general.T.contiguous()[:, None, :]
    buffer = specific.new_empty(depth, height, len(general))
    for row in range(0, len(specific), height):
        rows = slice(row, min(row + height, len(specific)))
        for start in range(0, size, depth):
            dimensions = slice(start, min(start + depth, size))
            excess = buffer[: dimensions.stop - start, : rows.stop - row]
            torch.sub(by_dimension[1][dimensions], by_dimension[0][dimensions, rows], out=excess)
            yield rows, dimensions, excess.relu_()
