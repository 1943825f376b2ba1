"""What tells one model's vectors from another's."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from groundling.errors import UserError
from groundling.run import Run
from groundling.settings import FeatureSettings


def run_fingerprint(run: Run, features: FeatureSettings) -> str:
    """SHA-256 of all that decides what the vectors are: how pictures are looked at, tokeniser and weights.

    An exported model has that of its run, since it gives the same vectors: an index that was built with one can be
    searched with the other.
    """
    digest = hashlib.sha256(features.model_dump_json(exclude_defaults=True).encode())
    for file in (run.tokeniser_file, run.weights_file):
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def side_fingerprint(facts: Any, weights: Mapping[str, Tensor], side: str) -> str:
    """SHA-256 of one side of a model: the weights whose names begin with `side`, and what else it depends on."""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode())
    for name in sorted(name for name in weights if name.startswith(side)):
        array = weights[name].detach().cpu().contiguous()
        digest.update(f"{name}:{array.dtype}:{list(array.shape)}\n".encode())
        digest.update(array.flatten().view(torch.uint8).numpy().tobytes() if array.numel() else b"")
    return digest.hexdigest()


class StoredWeights(Mapping[str, Tensor]):
    """Weights in the safetensors files of a folder, each read when it is asked for: no network is built.

    Args:
        wanted: which, by name.
    """

    def __init__(self, folder: Path, wanted: Callable[[str], bool]) -> None:
        self.files: dict[str, Path] = {}
        for path in sorted(folder.glob("*.safetensors")):
            try:
                with safe_open(path, "pt") as opened:
                    self.files |= {name: path for name in opened.keys() if wanted(name)}  # noqa: SIM118 (no mapping)
            except SafetensorError as error:
                raise UserError(f"{path}: damaged ({error}); fetch it again") from None

    def __getitem__(self, name: str) -> Tensor:
        with safe_open(self.files[name], "pt") as opened:
            tensor: Tensor = opened.get_tensor(name)
        return tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)
