"""Everything a training needs to go on as if it had never stopped, in one safetensors file, or several if it is large.

One file is replaced whole, so that encoders, optimiser and random state always belong to the same step. Of several the
parts are written first, under names that have the step in them; the file that names them is replaced last, and parts of
other steps are removed after it. A training that is killed meanwhile goes on from the checkpoint before.
"""

import json
import math
import re
import time
import zlib
from collections.abc import Iterator
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
from groundling.hub import first_line
from groundling.training.average import MovingAverage

AT_MOST = 4 * 2**30  # bytes of one file
TO_SAVE = 5.0  # seconds that a checkpoint may take


@dataclass
class Progress:
    """Where a training stands."""

    step: int = 0
    best_score: float = float("-inf")
    best_step: int = 0
    without_gain: int = 0
    seconds: float = 0.0
    sampler: list[int] = field(default_factory=list)


class Due:
    """When a checkpoint is saved: every so many seconds (`math.inf`: never), and once shortly before `until`, when the
    training is stopped, by `time.monotonic`."""

    def __init__(self, seconds: float, until: float = math.inf) -> None:
        self.seconds, self.until = seconds, until
        self.restart()

    @property
    def ever(self) -> bool:
        return math.isfinite(self.seconds)

    def restart(self) -> None:
        """Count from now: the training begins, or a checkpoint has been saved."""
        self.saved = self.asked = time.monotonic()

    def now(self) -> bool:
        """Whether to save one now. Asked at each moment when one can be saved, the next of which may be too late."""
        now = time.monotonic()
        before_end = self.ever and now + 2 * (now - self.asked) + TO_SAVE > self.until
        if before_end:
            self.until = math.inf  # one will do
        self.asked = now
        return before_end or now - self.saved >= self.seconds


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
    *parts, last = _portions(tensors)
    sums = [_write(_part_file(path, progress.step, number), part) for number, part in enumerate(parts)]
    _write(path, last, {**about, "parts": json.dumps(sums), "beside": json.dumps(_beside(path.parent))})
    for file in part_files(path):
        if not file.name.startswith(_part_file(path, progress.step).name):
            file.unlink()


def _write(path: Path, tensors: dict[str, Tensor], about: dict[str, str] | None = None) -> int:
    """Only what is in this file is copied from a GPU. Returns its checksum, which `about` gets, too."""
    kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    found = _crc32(kept)
    with atomic_path(path) as temporary:
        save_file(kept, temporary, {**(about or {}), "crc32": str(found)})
    return found


def _portions(tensors: dict[str, Tensor]) -> list[dict[str, Tensor]]:
    """In their order, as many in each as one file may hold; at least one."""
    portions: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, value in tensors.items():
        size += value.nbytes
        if size > AT_MOST and portions[-1]:
            portions.append({})
            size = value.nbytes
        portions[-1][name] = value
    return portions


def _part_file(path: Path, step: int, number: int | None = None) -> Path:
    """Of a checkpoint in `path`; without a number, how the names of all parts of a step begin."""
    return path.with_name(f"{path.stem}.step-{step}." + ("" if number is None else f"part-{number}.safetensors"))


def part_files(path: Path) -> Iterator[Path]:
    """All parts beside a checkpoint, of whatever step."""
    ours = re.compile(re.escape(path.stem) + r"\.step-\d+\.part-\d+\.safetensors")
    return (file for file in path.parent.iterdir() if ours.fullmatch(file.name))


def remove(path: Path) -> None:
    """A checkpoint that nobody needs any more."""
    path.unlink(missing_ok=True)
    for file in part_files(path):
        file.unlink()


def load(
    path: Path, encoders: nn.Module, optimiser: torch.optim.Optimizer, average: MovingAverage | None = None
) -> Progress:
    """Puts encoders, optimiser, average and random state back; returns where the training stood."""
    try:
        tensors, said = _read(path)
        about = json.loads(said["progress"])
        for at, expected in enumerate(json.loads(said.get("parts", "[]"))):
            file = _part_file(path, int(about["step"]), at)
            if not file.exists():
                raise KeyError(f"{file.name} is missing")
            part, of = _read(file)
            if of["crc32"] != str(expected):
                raise KeyError(f"{file.name} is not what was written")
            tensors |= part
        encoders.load_state_dict(_part(tensors, "towers."))
        if average is not None:
            average.load(_part(tensors, "average."))
    except (SafetensorError, LookupError, RuntimeError, json.JSONDecodeError) as error:
        why = first_line(error).strip("'")  # a KeyError puts its sentence into quotes
        raise UserError(f"{path}: this checkpoint cannot be used ({why}); train anew") from None
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


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What a file holds, and says of itself."""
    with safe_open(path, framework="pt") as file:
        said = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if "crc32" in said and said["crc32"] != str(_crc32(tensors)):
        raise KeyError(f"{path.name} is not what was written")
    return tensors, said


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
