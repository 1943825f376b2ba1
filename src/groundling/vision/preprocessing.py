"""From a picture file to the squares of pixels a backbone looks at.

The short side is resized (bicubic, with antialiasing) to `resize`, and the centre square of `size` is cut out, as is
usual for ImageNet networks; or five squares, the corners and the centre, whose features are averaged with those of
their mirror images ("ten crops"). Colours are normalised by the backbone, which knows what it was trained with.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from groundling.decoding.opening import upright_image
from groundling.errors import UserError

Pixels = npt.NDArray[np.uint8]

CROP = 0.875  # the share of the short side that is kept when `resize` is not given: 224 of 256, 260 of 297

VIEW_AREA = (0.3, 1.0)  # of a random view, as a share of the picture


@dataclass(frozen=True)
class Preprocessing:
    """How pictures are cut for a backbone; part of the key of the feature cache.

    Attributes:
        size: height and width of the result.
        resize: length of the short side before the centre is cut out; `size` keeps the whole short side.
        mirror: whether features are averaged over the picture and its mirror image (twice the work).
        crops: 1 for the centre; 2 for the centre and the whole made square; 10 for corners, centre and the mirror
            images of all five (ten times the work).
        stretch: make all of the picture a square instead of cutting one out, as ViTs are used to.
        resample: how pixels are interpolated.
        views: how many parts of the picture are looked at, each with features of its own: the centre, the whole made
            square, both ends of the long side, then random parts of 0.3 to 1 of its area, every other one mirrored.
            What is drawn depends on the content of the file alone.
    """

    size: int
    resize: int = 0  # replaced by size / CROP where not given
    mirror: bool = False
    crops: Literal[1, 2, 10] = 1
    stretch: bool = False
    resample: Literal["bicubic", "bilinear"] = "bicubic"
    views: int = 1

    def __post_init__(self) -> None:
        if not self.resize:
            object.__setattr__(self, "resize", round(self.size / CROP))
        if self.crops == 10:
            object.__setattr__(self, "mirror", True)
        if self.size < 1 or self.resize < self.size:
            raise UserError(f"cannot cut {self.size} pixels out of a short side resized to {self.resize}; raise resize")
        if self.crops == 10 and (self.resize == self.size or self.stretch):
            raise UserError("ten crops are cut out of a picture larger than they are; leave out the whole picture")
        if self.views > 1 and (self.mirror or self.stretch):
            raise UserError("features.views are not averaged over mirror images or crops; leave those out")

    @property
    def parts(self) -> int:
        """How many squares are cut out of a picture."""
        return self.views if self.views > 1 else {1: 1, 2: 2, 10: 5}[self.crops]

    def settings(self) -> dict[str, object]:
        """What tells this way of cutting from others; what came later is left out where it is not used, so that
        features computed before are found again."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        names = ("crops", "stretch", "resample", "views")
        late = {field.name: field.default for field in fields(self) if field.name in names}
        return {name: value for name, value in every.items() if name not in late or value != late[name]}

    def pixels(self, data: bytes) -> Pixels:
        """The picture in a file's bytes, cut and scaled: [size, size, 3], or [parts, size, size, 3] where there are
        several parts.

        Raises PictureError where it is damaged.
        """
        with upright_image(data, 2 * self.resize, on_white) as whole:
            cut = self._squares(whole) if self.views == 1 else self._views(whole, data)
            squares = [np.asarray(square) for square in cut]
            return np.stack(squares) if len(squares) > 1 else squares[0]

    __call__ = pixels

    def _squares(self, image: Image.Image) -> Iterator[Image.Image]:
        """Resize and crop in one step: only the pixels that are kept are ever computed."""
        resample = Image.Resampling[self.resample.upper()]
        if self.stretch or self.crops == 2:
            yield image.resize((self.size, self.size), resample)
        if self.stretch:
            return
        scale = self.resize / min(image.size)
        full = [max(self.resize, math.floor(side * scale)) for side in image.size]
        step = [side / scaled for side, scaled in zip(image.size, full, strict=True)]
        centre = tuple(round((side - self.size) / 2) for side in full)
        last = [side - self.size for side in full]
        corners = [(0, 0), (last[0], 0), (0, last[1]), (last[0], last[1])] if self.crops == 10 else []
        for first in (*corners, centre):
            left, top = first[0] * step[0], first[1] * step[1]
            right, bottom = (first[0] + self.size) * step[0], (first[1] + self.size) * step[1]
            box = (left, top, min(right, image.width), min(bottom, image.height))
            yield image.resize((self.size, self.size), resample, box=box)

    def _views(self, image: Image.Image, data: bytes) -> Iterator[Image.Image]:
        """The first `views` of them, in the order of the class's description."""
        resample = Image.Resampling[self.resample.upper()]
        width, height = image.size
        side = min(width, height) * self.size / self.resize
        left, top = (width - side) / 2, (height - side) / 2
        wide = width >= height
        ends = [(0.0, top) if wide else (left, 0.0), (width - side, top) if wide else (left, height - side)]
        squares = [(x, y, x + side, y + side) for x, y in ((left, top), *ends)]
        boxes = [squares[0], (0.0, 0.0, float(width), float(height)), *squares[1:]]
        draw = np.random.default_rng(np.frombuffer(hashlib.sha256(data).digest(), dtype=np.uint32))
        while len(boxes) < self.views:
            area, aspect = draw.uniform(*VIEW_AREA) * width * height, math.exp(draw.uniform(-1, 1) * math.log(4 / 3))
            w, h = min(width, math.sqrt(area * aspect)), min(height, math.sqrt(area / aspect))
            x, y = draw.uniform(0, width - w), draw.uniform(0, height - h)
            boxes.append((x, y, x + w, y + h))
        for number, box in enumerate(boxes[: self.views]):
            part = image.resize((self.size, self.size), resample, box=box)
            yield ImageOps.mirror(part) if number % 2 else part


@dataclass(frozen=True)
class Upright:
    """The whole picture, upright and on white paper, for networks that cut it in a way of their own.

    Attributes:
        side: pixels that the short side needs; a photograph that is much larger is decoded smaller.
    """

    side: int

    def __call__(self, data: bytes) -> Pixels:
        """[height, width, 3]. Raises PictureError where the picture is damaged."""
        with upright_image(data, self.side, on_white) as image:
            return np.asarray(image)


@dataclass(frozen=True)
class ProcessorCut(Preprocessing):
    """One square, cut in the steps of transformers' image processors by Pillow: the whole picture is resized, and the
    middle is cut out of that, so that a pretrained model sees the very pixels that it sees through its own processor.
    """

    def pixels(self, data: bytes) -> Pixels:
        image = Image.fromarray(Upright(2 * self.resize)(data))
        resample = Image.Resampling[self.resample.upper()]
        if self.stretch:
            return np.asarray(image.resize((self.size, self.size), resample))
        width, height = image.size
        short = min(width, height)
        whole = image.resize((self.resize * width // short, self.resize * height // short), resample)
        left, top = (self._middle(side - self.size) for side in whole.size)
        return np.asarray(whole.crop((left, top, left + self.size, top + self.size)))

    __call__ = pixels

    @staticmethod
    def _middle(left_over: int) -> int:
        return left_over // 2


@dataclass(frozen=True)
class TorchvisionCut(ProcessorCut):
    """The same in the steps of torchvision's transforms, which open_clip uses: they round where the middle begins."""

    @staticmethod
    def _middle(left_over: int) -> int:
        return round(left_over / 2)


def on_white(image: Image.Image) -> Image.Image:
    """The picture in RGB: transparent parts show white paper, 16-bit grey keeps its upper 8 bits."""
    if image.mode.startswith("I"):
        grey = np.clip(np.asarray(image).astype(np.int64) >> 8, 0, 255)
        return Image.fromarray(grey.astype(np.uint8)).convert("RGB")
    if "transparency" in image.info or image.mode in ("RGBA", "RGBa", "LA", "La", "PA"):
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")
