"""Exact ranks on a GPU in one pass: multiplied, compared and counted tile by tile, no score ever leaving the chip."""

from importlib.util import find_spec

import torch

WORTHWHILE = 2**26  # pairs; fewer are ranked before the kernels are even compiled
HOPPER = 9  # the kernels were measured on an H200; other GPUs round sums, and hold tiles, in their own ways


def is_worthwhile(device: torch.device, pictures: int, captions: int) -> bool:
    """Whether there are a GPU that the kernels are made for, a Triton that has what they need, and enough to do."""
    if device.type != "cuda" or torch.version.cuda is None or pictures * captions < WORTHWHILE:
        return False
    if torch.cuda.get_device_capability(device)[0] != HOPPER or find_spec("triton") is None:
        return False
    return find_spec("triton.tools.tensor_descriptor") is not None  # since Triton 3.4
