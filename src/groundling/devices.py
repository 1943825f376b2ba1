"""Which device and which precision to compute with."""

from contextlib import AbstractContextManager, nullcontext

import torch

from groundling.errors import UserError


def pick_device(name: str = "auto") -> torch.device:
    """ "auto" is the first GPU where there is one, the CPU otherwise."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise UserError(f'device "{name}": this machine has no usable GPU; use --device cpu')
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise UserError(f'no device is called "{name}" here (use auto, cpu, cuda or cuda:0)')
    return device


def pick_precision(wanted: str, device: torch.device) -> str:
    """ "auto" is bf16 where the device multiplies it natively, float32 elsewhere."""
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "float32"
    return "bf16" if device.type == "cpu" and _cpu_has_bf16() else "float32"


def _cpu_has_bf16() -> bool:
    check = getattr(torch.cpu, "_is_avx512_bf16_supported", None)  # not public; absent means we do not know
    return bool(check and check())


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Matrix products in bf16 where asked for; parameters, losses and sums stay float32."""
    return torch.autocast(device.type, torch.bfloat16) if precision == "bf16" else nullcontext()
