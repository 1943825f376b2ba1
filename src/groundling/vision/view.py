"""What of a network's maps becomes the features of a picture."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d


@dataclass(frozen=True)
class View:
    """By default the average of the last map.

    Attributes:
        grid: average over each cell of a grid of so many rows and columns, rather than over the whole picture; the
            cells follow each other row by row.
        stage: EfficientNet-Lite: the map after this stage rather than the last one. Earlier maps are finer.
        projected: the vector that a network of two sides, such as CLIP, compares with text.
    """

    grid: int = 1
    stage: int | None = None
    projected: bool = False

    def settings(self) -> dict[str, object]:
        """What features depend on; only what is used, so that features computed before are found again."""
        default = View()
        return {name: value for name, value in vars(self).items() if value != getattr(default, name)}


def on_grid(maps: Tensor, grid: int) -> Tensor:
    """[B, channels, height, width] → [B, grid · grid · channels]"""
    return adaptive_avg_pool2d(maps.float(), grid).flatten(2).transpose(1, 2).flatten(1)
