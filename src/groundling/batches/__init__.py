"""From a corpus to batches of rows."""

from groundling.batches.base_language import BaseLanguageSampler
from groundling.batches.data import TrainingData
from groundling.batches.every_language import EveryLanguageSampler
from groundling.batches.pivot import PivotSampler
from groundling.batches.sampler import Batch, DeviceBatch, LanguageSampler, Sampler

__all__ = [
    "BaseLanguageSampler",
    "Batch",
    "DeviceBatch",
    "EveryLanguageSampler",
    "LanguageSampler",
    "PivotSampler",
    "Sampler",
    "TrainingData",
]
