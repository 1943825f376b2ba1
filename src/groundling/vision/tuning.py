"""A picture network that is trained, and the pictures that it looks at while it is."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from groundling.corpus.corpus import Corpus
from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision import backbones
from groundling.vision.augmentation import Cropping
from groundling.vision.from_settings import preprocessing_of
from groundling.vision.picture_cache import Pictures, decode_pictures
from groundling.vision.picture_store import PictureStore

BORDER = 300 / 260  # pictures are kept so much larger than the network's, so that small parts of them are still sharp
AT_ONCE = 256  # pictures that are looked at together outside training

Network = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Tuning:
    """A network as a recipe's features name it, in the form in which it is trained.

    Attributes:
        cropping: how training cuts parts out of pictures.
        compiled: whether the network is compiled for a GPU, which takes a minute before the first step.
    """

    features: FeatureSettings
    device: torch.device
    cropping: Cropping
    compiled: bool = False

    def __post_init__(self) -> None:
        if self.features.weights is not None or self.features.array is not None or self.features.views > 1:
            raise UserError("features.weights, features.array and features.views are not for a network that is trained")

    @cached_property
    def backbone(self) -> backbones.Backbone:
        made = backbones.get(self.features.backbone, self.features.size, trainable=True)
        network = cast(nn.Module, made.network)
        network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        return made

    @cached_property
    def network(self) -> nn.Module:
        return cast(nn.Module, self.backbone.network)

    @cached_property
    def run(self) -> Network:
        """The network, as it is called."""
        return torch.compile(self.network) if self.compiled and can_compile(self.device) else self.network

    def decode(self, corpus: Corpus) -> Pictures:
        """The corpus's pictures, from the cache of decoded ones."""
        if corpus.root is None:
            raise UserError(
                f"corpus {corpus.name} has no picture files here, and a picture network is trained on pictures; put "
                "them beside the captions, or leave out system.tune"
            )
        paths = [Path(corpus.root) / name for name in corpus.pictures.tolist()]
        side = max(self.backbone.size, round((self.cropping.side or self.backbone.size) * BORDER))
        return decode_pictures(paths, side, strict=True)

    def store(self, corpus: Corpus) -> PictureStore:
        """The corpus's pictures, where the network can look at them."""
        cut = preprocessing_of(self.features, self.backbone)
        share = 1.0 if cut.stretch else cut.size / cut.resize
        mean, deviation = self.backbone.mean, self.backbone.std
        return PictureStore(self.decode(corpus), cut.size, mean, deviation, self.device, share)


def can_compile(device: torch.device) -> bool:
    """Only GPUs gain by it, and there it takes Triton and a C compiler; without them the network runs as it is."""
    compilers = [os.environ.get("CC", "cc"), "gcc", "clang"]
    return device.type == "cuda" and find_spec("triton") is not None and any(map(shutil.which, compilers))


@torch.no_grad()
def features_of(network: Network, store: PictureStore, settings: FeatureSettings) -> Tensor:
    """[pictures, dim] of the middles of all pictures, averaged with those of whole ones and of mirror images where the
    settings ask for them."""
    looks = [store.centres, store.wholes] if settings.crops == 2 else [store.centres]
    sides = [False, True] if settings.mirror else [False]
    parts = []
    for first in range(0, len(store), AT_ONCE):
        rows: npt.NDArray[np.int64] = np.arange(first, min(first + AT_ONCE, len(store)))
        store.stage(rows)
        chosen = torch.from_numpy(rows).to(store.device)
        found = [network(look(chosen, mirrored)).float() for look in looks for mirrored in sides]
        parts.append(torch.stack(found).mean(dim=0))
    return torch.cat(parts)
