"""Fewer dimensions by principal components, so that word tables fit a small model."""

import numpy as np

from groundling.errors import UserError
from groundling.words.blocks import Change, Matrix
from groundling.words.vectors import WordVectors


def reduce(vectors: WordVectors, dimensions: int) -> tuple[WordVectors, float]:
    """The vectors in their first principal components, all held in memory, and the share of the variance they keep."""
    project, kept = projection(vectors, dimensions)
    return vectors.changed(project), kept


def projection(vectors: WordVectors, dimensions: int) -> tuple[Change, float]:
    """What makes rows of words or pieces their first principal components, and the share of the variance they keep.

    The mean is taken off words and pieces alike: a new word's vector, a mean of pieces, is then reduced as a listed
    word's is. A component's sign, which is arbitrary, makes its largest weight positive.
    """
    if not 1 <= dimensions <= vectors.dimensions:
        raise UserError(f"cannot reduce {vectors.dimensions} dimensions to {dimensions}; choose fewer than there are")
    mean = vectors.matrix.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((vectors.dimensions, vectors.dimensions))
    for at in range(0, len(vectors), 16_384):
        centred = vectors.matrix[at : at + 16_384] - mean
        covariance += centred.T @ centred
    variances, axes = np.linalg.eigh(covariance)  # ascending
    axes = axes[:, ::-1][:, :dimensions]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)])
    kept = float(variances[::-1][:dimensions].sum() / max(variances.sum(), np.finfo(float).tiny))

    weights, offset = axes.astype(np.float32), (mean @ axes).astype(np.float32)

    def project(rows: Matrix) -> Matrix:
        return rows @ weights - offset

    return project, kept
