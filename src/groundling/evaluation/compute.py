"""Full precision, for the ranking of tiles."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Float32 products in float32, whatever training has set: neither autocast nor TF32 nor bfloat16 inside."""
    parts = [getattr(backend, "matmul", None) for backend in (torch.backends.cuda, torch.backends.mkldnn)]
    with torch.autocast(device.type, enabled=False):
        if all(hasattr(part, "fp32_precision") for part in parts):
            before = [part.fp32_precision for part in parts]  # type: ignore[union-attr]
            try:
                for part in parts:
                    part.fp32_precision = "ieee"  # type: ignore[union-attr]
                yield
            finally:
                for part, value in zip(parts, before, strict=True):
                    part.fp32_precision = value  # type: ignore[union-attr]
        else:  # before torch 2.9 there is one setting for all
            legacy = torch.get_float32_matmul_precision()
            try:
                torch.set_float32_matmul_precision("highest")
                yield
            finally:
                torch.set_float32_matmul_precision(legacy)
