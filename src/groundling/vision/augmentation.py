"""Parts of pictures for a network to look at, cut out on the device: random ones to train on, fixed ones to test.

A part is a box of a picture (crop), made as large as the network wants and perhaps mirrored ("inception-style" crops:
Szegedy et al. 2015, https://arxiv.org/abs/1409.4842). All parts of a batch are cut at once from pictures that lie one
after another in one array, whatever their shapes, so that nothing is padded and nothing waits for the host.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

LUMINANCE = (0.299, 0.587, 0.114)  # how bright red, green and blue look (ITU-R BT.601)


@dataclass(frozen=True)
class Cropping:
    """How random parts are drawn.

    Attributes:
        area: the smallest and largest share of the picture's area.
        aspect: how much wider than high a part may be, or the other way round; 4/3 means from 3/4 to 4/3.
        flip: how often a part is mirrored.
        side: pixels of a side of what is cut out; as when testing where it is 0.
        jitter: how much brightness, contrast and saturation change, each by a factor from 1 − jitter to 1 + jitter.
    """

    area: tuple[float, float] = (0.35, 1.0)
    aspect: float = 4 / 3
    flip: float = 0.5
    jitter: float = 0.0
    side: int = 0


@dataclass(frozen=True)
class Boxes:
    """Parts of pictures, one for each, in pixels of that picture; they need not begin or end between two pixels.

    Attributes:
        corner: [n, 2] top and left.
        size: [n, 2] height and width.
        mirrored: [n] whether it is turned round.
    """

    corner: Tensor
    size: Tensor
    mirrored: Tensor


def random_boxes(sizes: Tensor, cropping: Cropping, generator: torch.Generator | None = None) -> Boxes:
    """A random part of each picture, whose heights and widths are [n, 2].

    A part that would be wider or higher than its picture is made as wide or as high as it: it then has less than the
    area that was drawn.
    """
    draw = torch.rand(len(sizes), 5, device=sizes.device, generator=generator)
    sizes = sizes.float()
    low, high = cropping.area
    area = (low + (high - low) * draw[:, 0]) * sizes.prod(dim=1)
    aspect = torch.exp((2 * draw[:, 1] - 1) * math.log(cropping.aspect))  # even on a logarithmic scale
    size = torch.minimum(torch.stack([area / aspect, area * aspect], dim=1).sqrt(), sizes)
    return Boxes((sizes - size) * draw[:, 2:4], size, draw[:, 4] < cropping.flip)


def centre_boxes(sizes: Tensor, share: float, mirrored: bool = False) -> Boxes:
    """The middle square of each picture, its side `share` of the picture's short side: the usual look at test time."""
    sizes = sizes.float()
    size = (sizes.amin(dim=1, keepdim=True) * share).expand(-1, 2)
    return Boxes((sizes - size) / 2, size, _all(mirrored, sizes))


def whole_boxes(sizes: Tensor, mirrored: bool = False) -> Boxes:
    """All of each picture, made square."""
    sizes = sizes.float()
    return Boxes(torch.zeros_like(sizes), sizes, _all(mirrored, sizes))


def _all(value: bool, sizes: Tensor) -> Tensor:
    return torch.full((len(sizes),), value, dtype=torch.bool, device=sizes.device)


def cut(pixels: Tensor, first: Tensor, sizes: Tensor, boxes: Boxes, side: int) -> Tensor:
    """The parts as pictures of `side` × `side`: float32 [n, 3, side, side] from 0 to 255, channels innermost in memory.

    Each pixel is interpolated between the four that it falls among; beyond its edge a picture goes on with the pixels
    of the edge. The same as `grid_sample` (bilinear, border, corners not aligned) for each picture by itself.

    Args:
        pixels: uint8 [pixels, 3], many pictures one after another.
        first: [n] where each picture begins there.
        sizes: [n, 2] its height and width.
    """
    steps = (torch.arange(side, device=pixels.device) + 0.5) / side
    across = torch.where(boxes.mirrored[:, None], 1 - steps, steps)  # [n, side]
    rows = _between(boxes.corner[:, :1] + steps * boxes.size[:, :1], sizes[:, :1])
    columns = _between(boxes.corner[:, 1:] + across * boxes.size[:, 1:], sizes[:, 1:])
    (top, bottom, down), (left, right, aside) = rows, columns
    down, aside = down[:, :, None, None], aside[:, None, :, None]

    def at(row: Tensor, column: Tensor) -> Tensor:
        return pixels[(first[:, None] + row * sizes[:, 1:])[:, :, None] + column[:, None, :]].float()

    upper = torch.lerp(at(top, left), at(top, right), aside)
    lower = torch.lerp(at(bottom, left), at(bottom, right), aside)
    return torch.lerp(upper, lower, down).permute(0, 3, 1, 2)


def _between(places: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The pixels before and after a place on a line of pixels, and how far the place is from the first of them."""
    last = (lengths - 1).clamp(min=0)
    inside = torch.minimum((places - 0.5).clamp(min=0), last.float())
    before = inside.floor()
    number = before.long()
    return number, torch.minimum(number + 1, last), inside - before


def jittered(pictures: Tensor, strength: float, generator: torch.Generator | None = None) -> Tensor:
    """Pictures [n, 3, height, width] from 0 to 255 in another light, which is drawn for each of them."""
    draw = torch.rand(3, len(pictures), 1, 1, 1, device=pictures.device, generator=generator)
    brightness, contrast, saturation = 1 + strength * (2 * draw - 1)
    bright = pictures * brightness
    red, green, blue = LUMINANCE
    grey = red * bright[:, :1] + green * bright[:, 1:2] + blue * bright[:, 2:]
    mean = grey.mean(dim=(2, 3), keepdim=True)
    coloured = grey + (bright - grey) * saturation
    return (mean + (coloured - mean) * contrast).clamp(0, 255)


def normalised(pictures: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    """What a network looks at, of pictures from 0 to 255; `mean` and `deviation` are shares of full brightness [3]."""
    return (pictures / 255 - mean[:, None, None]) / deviation[:, None, None]
