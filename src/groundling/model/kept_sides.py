"""The sides of a pretrained model from the copy of its files that a run keeps."""

from pathlib import Path

import torch

from groundling.model.loading import load
from groundling.model.pretrained import PretrainedModel
from groundling.model.sentence_encoder import SentenceEncoder
from groundling.model.sides import PictureSide, TextSide

CPU = torch.device("cpu")


def text_side(folder: Path, name: str) -> TextSide:
    """Of a pair, or an encoder of its own."""
    if (folder / "modules.json").exists():
        return SentenceEncoder(folder, name, CPU)
    return _pair(folder, "cpu").text


def picture_side(folder: Path, device: str) -> PictureSide:
    return _pair(folder, device).pictures


def _pair(folder: Path, device: str) -> PretrainedModel:
    pair = load(str(folder), device=device)
    assert isinstance(pair, PretrainedModel)  # noqa: S101 (a run keeps nothing else)
    return pair
