"""How pictures are looked at before training."""

from typing import Literal

from pydantic import Field

from groundling.settings.base import Settings


class FeatureSettings(Settings):
    backbone: str = Field(
        "efficientnet-lite0",
        description="the frozen picture network, by name; hf:NAME or hf:FOLDER through transformers",
    )
    size: int | None = Field(None, ge=32, le=1024, description="pixels per side; the backbone's own when left out")
    crop: bool = Field(True, description="cut out the centre, as for photos; false: the whole picture, as for drawings")
    mirror: bool = Field(False, description="average the features of the picture and of its mirror image")
    crops: Literal[1, 2, 10] = Field(
        1,
        description="average the features of several parts; 2: the centre and the whole made square; 10: the four "
        "corners, the centre and their mirror images",
    )
    views: int = Field(
        1,
        ge=1,
        le=64,
        description="features of so many parts of each picture (centre, whole, both ends, then random ones): a system "
        "that can trains on one at random in each step; elsewhere their mean is taken",
    )
    weights: str | None = Field(
        None, description="the folder of a run whose tuned picture network is looked through, not the published one"
    )
    grid: int = Field(1, ge=1, le=8, description="features of each cell of a grid of so many rows and columns")
    stage: int | None = Field(
        None,
        ge=1,
        le=7,
        description="EfficientNet-Lite: stop after this stage, which sees smaller parts; none: the end",
    )
    projected: bool = Field(
        False, description="hf:, CLIP and its like: the vector that is compared with text, not the average over patches"
    )
    array: str | None = Field(None, description="a precomputed .npy array instead of a backbone")
    names: str | None = Field(None, description="the list of picture names that goes with `array`")
