"""A pretrained pair of one network, and its two sides as parts of it."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Generic, TypeVar

import torch
from torch import nn

from groundling.model.sides import PictureSide, Side, TextSide


class Pair(ABC):
    """The network that both sides share is loaded when one of them is first used.

    Attributes:
        name: what it was asked for by.
        folder: where its files are.
        device: where it computes.
        text, pictures: its sides.
    """

    name: str
    folder: Path
    device: torch.device
    text: TextSide
    pictures: PictureSide

    @property
    @abstractmethod
    def network(self) -> nn.Module:
        """Loaded when first asked for, in evaluation mode."""

    @property
    @abstractmethod
    def dimensions(self) -> int: ...


P = TypeVar("P", bound=Pair)


class SideOfPair(Side, Generic[P]):
    """What a side has from its pair."""

    def __init__(self, pair: P) -> None:
        self.pair, self.name, self.folder, self.device = pair, pair.name, pair.folder, pair.device

    @property
    def network(self) -> nn.Module:
        return self.pair.network

    @property
    def dimensions(self) -> int:
        return self.pair.dimensions
