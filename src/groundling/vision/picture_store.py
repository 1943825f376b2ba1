"""Decoded pictures where a network can look at parts of them: on its device, or sent there batch by batch.

On a GPU all pictures lie in its memory where they fit, so that a step needs nothing but the numbers of its pictures.
Where they do not fit, and on a CPU, a batch is copied from the memory-mapped files before the step; the buffer that it
is copied to stays the same one, so that a recorded step (a CUDA graph) can read it.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.vision.augmentation import (
    Boxes,
    Cropping,
    centre_boxes,
    cut,
    jittered,
    normalised,
    random_boxes,
    whole_boxes,
)
from groundling.vision.picture_cache import Pictures

SHARE = 0.6  # of the free memory of a GPU that pictures may take


class PictureStore:
    """Pictures for a network that looks at `side` × `side` pixels.

    Args:
        side: when testing; random parts may be of another size (`Cropping.side`).
        mean, deviation: of red, green and blue, as the network wants them normalised.
        centre: the share of the short side that is looked at when testing.
        resident: whether all pictures lie on the device; where they fit on a GPU when left out.
    """

    def __init__(
        self,
        pictures: Pictures,
        side: int,
        mean: tuple[float, float, float],
        deviation: tuple[float, float, float],
        device: torch.device,
        centre: float = 1.0,
        resident: bool | None = None,
    ) -> None:
        self.pictures, self.side, self.device, self.centre = pictures, side, device, centre
        self._mean, self._deviation = (torch.tensor(values, device=device) for values in (mean, deviation))
        self._sizes = torch.from_numpy(pictures.sizes).to(device)
        self.resident = _fits(3 * pictures.pixels, device) if resident is None else resident
        self._pixels = torch.zeros(0, 3, dtype=torch.uint8, device=device)
        self._first = torch.zeros(0, dtype=torch.int64, device=device)
        if self.resident:
            self._load()

    def __len__(self) -> int:
        return len(self.pictures)

    def stage(self, rows: npt.NDArray[np.int64]) -> None:
        """Bring the pictures of the next batch to the device; must come before each step that looks at pictures."""
        if self.resident:
            return
        counts = self.pictures.sizes[rows].prod(axis=1)
        largest = int(self.pictures.sizes.prod(axis=1).max(initial=0))
        if len(self._first) != len(rows):
            self._pixels = torch.zeros(len(rows) * largest, 3, dtype=torch.uint8, device=self.device)
            self._first = torch.zeros(len(rows), dtype=torch.int64, device=self.device)
        together = np.concatenate([self.pictures[row].reshape(-1, 3) for row in rows.tolist()])
        self._pixels[: len(together)].copy_(torch.from_numpy(together), non_blocking=True)
        self._first.copy_(torch.from_numpy(np.cumsum(counts) - counts), non_blocking=True)

    def random(self, rows: Tensor, cropping: Cropping) -> Tensor:
        """[n, 3, side, side] a random part of each of these pictures, ready for the network."""
        boxes = random_boxes(self._sizes[rows], cropping)
        parts = self._cut(rows, boxes, cropping.side or self.side)
        return self._ready(jittered(parts, cropping.jitter) if cropping.jitter else parts)

    def centres(self, rows: Tensor, mirrored: bool = False) -> Tensor:
        """[n, 3, side, side] the middle of each of these pictures, ready for the network."""
        return self._ready(self._cut(rows, centre_boxes(self._sizes[rows], self.centre, mirrored), self.side))

    def wholes(self, rows: Tensor, mirrored: bool = False) -> Tensor:
        """[n, 3, side, side] all of each of these pictures, made square, ready for the network."""
        return self._ready(self._cut(rows, whole_boxes(self._sizes[rows], mirrored), self.side))

    def _cut(self, rows: Tensor, boxes: Boxes, side: int) -> Tensor:
        first = self._first[rows] if self.resident else self._first
        return cut(self._pixels, first, self._sizes[rows], boxes, side)

    def _ready(self, parts: Tensor) -> Tensor:
        return normalised(parts, self._mean, self._deviation).contiguous(memory_format=torch.channels_last)

    def _load(self) -> None:
        counts = self.pictures.sizes.prod(axis=1)
        first = np.cumsum(counts) - counts
        self._first = torch.from_numpy(first).to(self.device)
        self._pixels = torch.empty(self.pictures.pixels, 3, dtype=torch.uint8, device=self.device)
        for row, (start, count) in enumerate(zip(first.tolist(), counts.tolist(), strict=True)):
            self._pixels[start : start + count] = torch.from_numpy(self.pictures[row].reshape(-1, 3).copy())


def _fits(size: int, device: torch.device) -> bool:
    return device.type == "cuda" and size <= SHARE * torch.cuda.mem_get_info(device)[0]
