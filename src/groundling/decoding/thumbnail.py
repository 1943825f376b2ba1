"""Small copies of pictures, upright, without what a camera noted."""

import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from groundling.decoding.opening import upright_image


@dataclass(frozen=True)
class Thumbnail:
    """The bytes of a small copy whose longer side has at most `side` pixels; a picture is never made larger.

    Attributes:
        quality, effort: of the WebP; more effort takes longer and makes smaller files.
        or_png: the smaller one of a WebP and a PNG, which is what drawings are better kept as.
    """

    side: int
    quality: int = 80
    effort: int = 2
    or_png: bool = False

    def __call__(self, data: bytes) -> bytes:
        with upright_image(data, 2 * self.side, plain_colours) as image:
            image.thumbnail((self.side, self.side), Image.Resampling.BICUBIC)
            files = [_saved(image, "WEBP", quality=self.quality, method=self.effort, exif=b"")]
            if self.or_png:
                files.append(_saved(image, "PNG", optimize=True))
            return min(files, key=len)


@dataclass(frozen=True)
class Pixels:
    """The pixels of such a copy, [height, width, 3]; what can be seen through is white."""

    side: int

    def __call__(self, data: bytes) -> npt.NDArray[np.uint8]:
        with upright_image(data, 2 * self.side, plain_colours) as image:
            image.thumbnail((self.side, self.side), Image.Resampling.BICUBIC)
            if image.mode == "RGBA":
                image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
            return np.asarray(image.convert("RGB"))


def plain_colours(image: Image.Image) -> Image.Image:
    """In RGB, or RGBA where something can be seen through."""
    clear = "A" in image.getbands() or "transparency" in image.info
    return image.convert("RGBA" if clear else "RGB")


def load_whole(data: bytes) -> bytes:
    """Nothing; but raises PictureError for a picture that does not decode to its last pixel."""
    with upright_image(data, 1) as image:
        image.load()
    return b""


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
