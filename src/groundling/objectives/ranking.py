"""Captions ranked against pictures, or against other captions, by any objective over a batch's similarities."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from groundling.batches import DeviceBatch, TrainingData
from groundling.encoders.pair import Encoders
from groundling.encoders.similarity import caption_scores, picture_scores
from groundling.objectives.objective import Objective

#: Numbers of pictures [n] → their features [n, dim], as training sees them in this step.
Look = Callable[[Encoders, Tensor], Tensor]


@dataclass(frozen=True)
class RankingLoss:
    """The loss of batches of the kinds "picture" (captions, their pictures) and "caption" (captions of one picture).

    Attributes:
        similarity: how captions and pictures are compared.
        mask_false_negatives: a wrong pair of a batch that is right in truth, of the same picture or with the same
            text, costs nothing.
        look: how pictures are seen in training, where their features change.
    """

    objective: Objective
    similarity: str = "cosine"
    mask_false_negatives: bool = False
    look: Look | None = None

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        captions, partners = batch.rows
        if batch.kind == "picture":
            left = encoders.text(*data.captions(captions, batch.longest))
            seen = data.features[partners] if self.look is None else self.look(encoders, partners)
            right = encoders.picture(seen)
        else:  # both captions of a pair in one pass through the encoder
            left, right = encoders.text(*data.captions(batch.rows.flatten(), batch.longest)).chunk(2)
        return self.ranked(data, batch.kind, captions, partners, left, right, batch.step)

    def ranked(
        self,
        data: TrainingData,
        kind: str,
        captions: Tensor,
        partners: Tensor,
        left: Tensor,
        right: Tensor,
        step: Tensor,
    ) -> Tensor:
        """The loss of captions with their partners, given by rows and vectors [n, dimensions]; `kind` as of a batch."""
        scores = picture_scores if kind == "picture" else caption_scores
        with torch.autocast(left.device.type, enabled=False):  # in bf16 scores within .004 are one: recalls are lost
            positives = self.positives(data, kind, captions, partners)
            return self.objective(scores(self.similarity, full_precision(left), full_precision(right)), positives, step)

    def positives(self, data: TrainingData, kind: str, captions: Tensor, partners: Tensor) -> Tensor | None:
        """Pairs (row, column) that match in truth: of one picture, or with a caption that says the same."""
        if not self.mask_false_negatives:
            return None
        # Against pictures, column j stands for the picture of caption j, so its text is caption j's text.
        return data.alike(captions, captions if kind == "picture" else partners)


def full_precision(vectors: Tensor) -> Tensor:
    """Vectors in float32 or better: an encoder of somebody else's may leave them in the bf16 of its products."""
    return vectors.float() if vectors.dtype in (torch.bfloat16, torch.float16) else vectors
