"""Vectors of texts and pictures, and how they are compared. Without torch: an exported model needs none."""

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Owners = npt.NDArray[np.int64]


def similarities(kind: str, captions: Vectors, pictures: Vectors) -> Vectors:
    """[captions, pictures] of unit vectors: their cosine, or −‖max(0, |caption| − |picture|)‖² for "order"."""
    if kind != "order":
        return captions @ pictures.T
    sizes = np.abs(pictures)
    scores = np.zeros((len(captions), len(pictures)), dtype=np.float32)
    for row, caption in enumerate(np.abs(captions)):
        scores[row] = -np.square(np.maximum(caption - sizes, 0)).sum(axis=1)
    return scores
