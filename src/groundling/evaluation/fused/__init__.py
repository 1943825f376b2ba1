"""Exact ranks on a GPU in one pass: multiplied, compared and counted tile by tile, no score ever leaving the chip."""

from importlib.util import find_spec

import torch

WORTHWHILE = 2**26  # pairs; fewer are ranked before the kernels are even compiled


def is_worthwhile(device: torch.device, pictures: int, captions: int) -> bool:
    """Whether there are a GPU with tensor cores for float16 that add up in float32, Triton, and enough to do."""
    if device.type != "cuda" or torch.version.cuda is None or pictures * captions < WORTHWHILE:
        return False
    return torch.cuda.get_device_capability(device)[0] >= 8 and find_spec("triton") is not None
