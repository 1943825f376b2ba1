"""One training loop, its checkpoints and its early stopping."""

from groundling.training.loop import train

__all__ = ["train"]
