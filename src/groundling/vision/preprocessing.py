"""From a picture file to the square of pixels a backbone looks at.

The short side is resized (bicubic, with antialiasing) to `resize`, and the centre square of `size` is cut out, as is
usual for ImageNet networks. Colours are normalised by the backbone, which knows what it was trained with.
"""

import io
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from groundling.errors import UserError

Pixels = npt.NDArray[np.uint8]

CROP = 0.875  # the share of the short side that is kept when `resize` is not given: 224 of 256, 260 of 297


class PictureError(Exception):
    """The bytes are not a picture that can be decoded whole; the message says why, without the file's name."""


@dataclass(frozen=True)
class Preprocessing:
    """How pictures are cut for a backbone; part of the key of the feature cache.

    Attributes:
        size: height and width of the result.
        resize: length of the short side before the centre is cut out; `size` keeps the whole short side.
        mirror: whether features are averaged over the picture and its mirror image (twice the work).
    """

    size: int
    resize: int = 0  # replaced by size / CROP where not given
    mirror: bool = False

    def __post_init__(self) -> None:
        if not self.resize:
            object.__setattr__(self, "resize", round(self.size / CROP))
        if self.size < 1 or self.resize < self.size:
            raise UserError(f"cannot cut {self.size} pixels out of a short side resized to {self.resize}; raise resize")

    def pixels(self, data: bytes) -> Pixels:
        """The picture in a file's bytes, cut and scaled: [size, size, 3]. Raises PictureError where it is damaged."""
        try:
            with Image.open(io.BytesIO(data)) as image:
                # A photograph much too large is decoded at a half, quarter or eighth, never below twice what we need.
                image.draft(None, (2 * self.resize, 2 * self.resize))
                upright = ImageOps.exif_transpose(image)
                return np.asarray(self._cut(on_white(upright)))
        except Exception as error:  # decoders raise whatever a damaged file leads them into
            reason = str(error).replace("<_io.BytesIO object", "the bytes").split(" at 0x")[0]
            raise PictureError(f"not a readable picture ({reason or type(error).__name__})") from error

    def _cut(self, image: Image.Image) -> Image.Image:
        """Resize and centre crop in one step: only the pixels that are kept are ever computed."""
        scale = self.resize / min(image.size)
        full = [max(self.resize, math.floor(side * scale)) for side in image.size]
        first = [round((side - self.size) / 2) for side in full]
        step = [side / scaled for side, scaled in zip(image.size, full, strict=True)]
        left, top = first[0] * step[0], first[1] * step[1]
        right, bottom = (first[0] + self.size) * step[0], (first[1] + self.size) * step[1]
        box = (left, top, min(right, image.width), min(bottom, image.height))
        return image.resize((self.size, self.size), Image.Resampling.BICUBIC, box=box)


def on_white(image: Image.Image) -> Image.Image:
    """The picture in RGB: transparent parts show white paper, 16-bit grey keeps its upper 8 bits."""
    if image.mode.startswith("I"):
        grey = np.clip(np.asarray(image).astype(np.int64) >> 8, 0, 255)
        return Image.fromarray(grey.astype(np.uint8)).convert("RGB")
    if "transparency" in image.info or image.mode in ("RGBA", "RGBa", "LA", "La", "PA"):
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image).convert("RGB")
    return image.convert("RGB")
