"""From a corpus to batches of rows."""

from groundling.batches.data import TrainingData
from groundling.batches.sampler import Batch, DeviceBatch, LanguageSampler, Sampler

__all__ = ["Batch", "DeviceBatch", "LanguageSampler", "Sampler", "TrainingData"]
