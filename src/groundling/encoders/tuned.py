"""Encoders with a picture network of their own, which is trained with them."""

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from groundling.encoders.pair import Encoders


class TunedEncoders(Encoders):
    """The network makes features of pictures, the picture encoder makes vectors of features.

    The statistics of its batch normalisations stay as they are: the batches of a training that compares every picture
    with every other one are too small and too much of one kind to take them from.
    """

    def __init__(self, encoders: Encoders, network: nn.Module) -> None:
        super().__init__(encoders.text, encoders.picture)
        for name, part in encoders.named_children():
            setattr(self, name, part)
        self.network = network

    def train(self, mode: bool = True) -> "TunedEncoders":
        super().train(mode)
        for module in self.network.modules():
            if isinstance(module, _BatchNorm):
                module.eval()
        return self
