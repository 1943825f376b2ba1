"""The sides of a pretrained model from the copy of its files that a run keeps."""

from pathlib import Path

import torch

from groundling.model.loading import open_pair, open_text
from groundling.model.sides import PictureSide, TextSide


def text_side(folder: Path, alone: bool) -> TextSide:
    """That of a pair, or a text encoder that stands `alone`; on the CPU."""
    cpu = torch.device("cpu")
    return open_text(str(folder), cpu) if alone else open_pair(str(folder), cpu).text


def picture_side(folder: Path, device: str) -> PictureSide:
    return open_pair(str(folder), torch.device(device)).pictures
