"""The picture side of a pretrained model while it is trained: its network, and pictures as the network is given them.

The side itself (`model.sides.PictureSide`) cuts pictures as its makers did; it is opened by name from its files.
"""

import importlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.corpus import Corpus
from groundling.decoding.workers import shared
from groundling.errors import UserError
from groundling.progress import bar

OPENER = "groundling.model.copied_sides"
AT_ONCE = 64  # pictures that are decoded, or looked at outside training, together


@dataclass
class Given:
    """What the network is given of many pictures: arrays by name, memory-mapped, in half precision.

    Attributes:
        arrays: name → [pictures, …]
        here: what was brought to the device last.
    """

    arrays: dict[str, npt.NDArray[Any]]
    device: torch.device
    here: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def bring(self, rows: npt.NDArray[np.int64]) -> None:
        self.here = self.some(rows)

    def some(self, rows: npt.NDArray[np.int64]) -> dict[str, Tensor]:
        parts = {name: torch.from_numpy(np.ascontiguousarray(array[rows])) for name, array in self.arrays.items()}
        return {
            name: (part.float() if part.is_floating_point() else part).to(self.device) for name, part in parts.items()
        }


class PictureNetwork:
    """Args:
    side: a `model.sides.PictureSide` with a network of its own.
    """

    def __init__(self, side: Any, device: torch.device) -> None:
        self.side, self.device = side, device
        self.network: nn.Module = side.network
        for name in ("text_model", "text_projection"):  # what reads text is another's
            if getattr(self.network, name, None) is not None:
                setattr(self.network, name, None)
        self.network.to(device).requires_grad_(True)
        for name, parameter in self.network.named_parameters():  # of open_clip, whose text side has no name of its own
            parameter.requires_grad_(not hasattr(self.network, "visual") or name.startswith("visual."))

    @staticmethod
    def open(folder: Path, device: torch.device) -> "PictureNetwork":
        return PictureNetwork(importlib.import_module(OPENER).picture_side(folder, str(device)), device)

    def features(self, given: dict[str, Tensor]) -> Tensor:
        """[pictures, dimensions] unit vectors, with gradients"""
        vectors: Tensor = self.side.vectors(given)
        return normalize(vectors.float(), dim=-1)

    @torch.no_grad()
    def features_of(self, pictures: Given) -> Tensor:
        """Of all of them."""
        starts = range(0, len(pictures), AT_ONCE)
        rows = [np.arange(start, min(start + AT_ONCE, len(pictures))) for start in starts]
        return torch.cat([self.features(pictures.some(part)) for part in rows])

    def look_at(self, corpus: Corpus) -> Given:
        """The pictures of a corpus, decoded and cut once, in a file that goes when the training ends."""
        if corpus.root is None:
            raise UserError(
                f"corpus {corpus.name} has no picture files here, and a picture side is trained on pictures"
            )
        paths = [Path(corpus.root) / name for name in corpus.pictures.tolist()]
        arrays: dict[str, npt.NDArray[Any]] = {}
        with bar("Pictures", len(paths)) as progress:
            for start in range(0, len(paths), AT_ONCE):
                part = paths[start : start + AT_ONCE]
                files = [(str(path), path.read_bytes()) for path in part]
                prepared = shared().named_arrays(files, self.side.preparation)
                for name, values in self.side.inputs(prepared).items():
                    cut = values.half().numpy() if values.is_floating_point() else values.numpy()
                    if name not in arrays:
                        file = tempfile.TemporaryFile(prefix="groundling-pictures-")  # noqa: SIM115 (until the end)
                        arrays[name] = np.memmap(file, dtype=cut.dtype, mode="w+", shape=(len(paths), *cut.shape[1:]))
                    arrays[name][start : start + len(part)] = cut
                progress.advance(len(part))
        return Given(arrays, self.device)
