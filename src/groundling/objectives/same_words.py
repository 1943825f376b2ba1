"""Pictures that share the words of a caption: no wrong ones for it, although it was written for another.

Two drawings of one concept have the same names, and "a dog runs" may stand under many photos. A loss that takes every
other picture of a batch for a wrong one punishes such pairs (`mask_false_negatives`).
"""

import numpy as np
import torch
from torch import Tensor

from groundling.batches import TrainingData


def picture_texts(data: TrainingData) -> Tensor:
    """[pictures, most] the numbers of the texts that each picture has, in any language, each once; −1 elsewhere."""
    texts = data.device_texts.cpu().numpy()
    owners, numbers = np.unique(np.stack([data.owners, texts]), axis=1)
    counts = np.bincount(owners, minlength=len(data.features))
    table = np.full((len(counts), max(1, int(counts.max(initial=0)))), -1, dtype=np.int64)
    table[owners, np.arange(len(owners)) - (np.cumsum(counts) - counts)[owners]] = numbers
    return torch.from_numpy(table).to(data.features.device)


def shared_words(data: TrainingData, texts: Tensor, pictures: Tensor, lines: Tensor) -> Tensor:
    """[languages, captions, n] whether a picture has a caption, in any language, of the same words.

    Args:
        texts: what `picture_texts` gives.
        pictures: [n] of the batch.
        lines: [languages, captions] of the batch; what stands for an empty place (−1) means nothing.
    """
    said, has = data.device_texts[lines.clamp(min=0)], texts[pictures]  # [languages, captions], [n, most]
    found = torch.zeros(*said.shape, len(has), dtype=torch.bool, device=has.device)
    for place in range(has.shape[1]):  # all at once would be as many times as large
        found |= said[:, :, None] == has[:, place]
    return found
