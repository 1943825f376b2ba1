"""Everything a training needs to go on as if it had never stopped, in one safetensors file.

One file, so that it is replaced whole: encoders, optimiser and random state always belong to the same step.
"""

import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from groundling.checksums import sha256
from groundling.encoders.lora import merged
from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.training.average import MovingAverage


@dataclass
class Progress:
    """Where a training stands."""

    step: int = 0
    best_score: float = float("-inf")
    best_step: int = 0
    without_gain: int = 0
    seconds: float = 0.0
    sampler: list[int] = field(default_factory=list)


def save_weights(path: Path, encoders: nn.Module, about: dict[str, str] | None = None) -> None:
    with atomic_path(path) as temporary:
        save_file(
            {name: value.detach().cpu().contiguous() for name, value in merged(encoders).items()}, temporary, about
        )


def save(
    path: Path,
    encoders: nn.Module,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    average: MovingAverage | None = None,
) -> None:
    tensors = {f"towers.{name}": value for name, value in encoders.state_dict().items()}
    if average is not None:
        tensors |= {f"average.{name}": value for name, value in average.state().items()}
    for number, values in optimiser.state_dict()["state"].items():
        for key, value in values.items():
            tensors[f"optimiser.{number}.{key}"] = torch.as_tensor(value)
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    # JSON has no −∞; the score is written as text and float() reads it back.
    about = {"progress": json.dumps({**progress.__dict__, "best_score": str(progress.best_score)})}
    kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    about |= {"crc32": str(_crc32(kept)), "beside": json.dumps(_beside(path.parent))}
    with atomic_path(path) as temporary:
        save_file(kept, temporary, about)


def load(
    path: Path, encoders: nn.Module, optimiser: torch.optim.Optimizer, average: MovingAverage | None = None
) -> Progress:
    """Puts encoders, optimiser, average and random state back; returns where the training stood."""
    try:
        with safe_open(path, framework="pt") as file:
            said = file.metadata() or {}
            about = json.loads(said["progress"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        if "crc32" in said and said["crc32"] != str(_crc32(tensors)):
            raise KeyError("it is not what was written")
        encoders.load_state_dict(_part(tensors, "towers."))
        if average is not None:
            average.load(_part(tensors, "average."))
    except (SafetensorError, KeyError, RuntimeError, json.JSONDecodeError) as error:
        raise UserError(f"{path}: this checkpoint cannot be used ({str(error).splitlines()[0]}); train anew") from None
    for name, expected in json.loads(said.get("beside", "{}")).items():
        if _beside(path.parent).get(name) != expected:
            raise UserError(f"{path.parent / name}: damaged (not the file that the training began with); train anew")
    states: dict[int, dict[str, Any]] = {}
    for name, value in _part(tensors, "optimiser.").items():
        number, key = name.split(".", 1)
        states.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": states})
    for parameter, values in optimiser.state.items():
        for key, value in values.items():  # in memory as the parameter is: one kernel goes through both side by side
            if value.shape == parameter.shape and value.stride() != parameter.stride():
                values[key] = torch.empty_like(parameter, requires_grad=False).copy_(value)
    torch.set_rng_state(tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return Progress(**{**about, "best_score": float(about["best_score"])})


def _crc32(tensors: dict[str, Tensor]) -> int:
    """Of all values, in the order of their names: a checkpoint that was damaged must not be gone on from."""
    found = 0
    for name in sorted(tensors):
        value = tensors[name]
        found = zlib.crc32(name.encode(), found)
        if value.numel():
            raw = value.flatten().view(torch.uint8).numpy()
            found = zlib.crc32(raw.data, found)
    return found


def _beside(folder: Path) -> dict[str, str]:
    """The checksums of what else a training goes on from."""
    files = (folder / name for name in ("recipe.json", "tokeniser.json"))
    return {file.name: sha256(file) for file in files if file.exists()}


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
