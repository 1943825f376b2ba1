"""From a corpus to batches of rows."""

from groundling.batches.data import TrainingData
from groundling.batches.sampler import Batch, LanguageSampler, Sampler

__all__ = ["Batch", "LanguageSampler", "Sampler", "TrainingData"]
