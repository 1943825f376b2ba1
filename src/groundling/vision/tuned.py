"""What a run keeps of a picture network that it has changed: its weights, and features of the pictures it is tested on.

The features are there so that a copy of the run on a machine without the pictures can still be evaluated.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors
from torch import Tensor, nn

from groundling.errors import UserError
from groundling.files import atomic_path

FEATURES = "picture-features.safetensors"  # beside the weights
NETWORK = "network.safetensors"  # in a run that looks through the network of another one
PREFIX = "network."  # of the network's weights among those of a run


@dataclass(frozen=True)
class Weights:
    """Weights by name, and a fingerprint by which features that they give are found again."""

    tensors: dict[str, Tensor]
    fingerprint: str
    source: str

    def into(self, network: nn.Module, name: str) -> None:
        """Put them into a network of the kind that was tuned."""
        try:
            network.load_state_dict(self.tensors)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise UserError(
                f'{self.source}: not of a tuned "{name}" ({reason}); set features.backbone to what was tuned'
            ) from None


def file_of(run: Path) -> Path:
    """The file that holds the tuned network of a run, given by its folder or by that file itself."""
    if not run.is_dir():
        return run
    return run / NETWORK if (run / NETWORK).exists() else run / "best.safetensors"


def read(run: Path) -> Weights:
    """The tuned network of a run."""
    path = file_of(run)
    try:
        with safe_open(path, framework="pt") as file:
            names = sorted(name for name in file.keys() if name.startswith(PREFIX))  # noqa: SIM118 (not a dict)
            tensors = {name.removeprefix(PREFIX): file.get_tensor(name) for name in names}
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: no weights that can be read ({str(error).splitlines()[0]})") from None
    if not tensors:
        raise UserError(f"{path}: this model has no picture network of its own; leave out features.weights")
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.numpy().tobytes())
    return Weights(tensors, digest.hexdigest()[:16], str(path))


@dataclass(frozen=True)
class SavedFeatures:
    """Features, float16 [pictures, dim], of pictures of a corpus, by their names."""

    corpus: str
    names: list[str]
    features: npt.NDArray[np.float16]

    def write(self, folder: Path) -> None:
        about = {"corpus": self.corpus, "names": json.dumps(self.names, ensure_ascii=False)}
        with atomic_path(folder / FEATURES) as temporary:
            save_file({"features": np.ascontiguousarray(self.features)}, temporary, about)

    def rows(self, corpus: str, names: list[str]) -> npt.NDArray[np.int64]:
        """The row of each picture of a corpus; −1 where it is not here."""
        place = {name: row for row, name in enumerate(self.names)} if corpus == self.corpus else {}
        return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def take_along(run: Path, folder: Path) -> None:
    """Copy a tuned network, and the features beside it, into the run that looks through it: it then needs no other."""
    found = read(run)
    with atomic_path(folder / NETWORK) as temporary:
        save_tensors({f"{PREFIX}{name}": value for name, value in found.tensors.items()}, temporary)
    kept = saved_features_of(run)
    if kept is not None:
        kept.write(folder)


def saved_features_of(run: Path) -> SavedFeatures | None:
    """The features that lie beside the weights of a run; None where there are none, or none that can be read."""
    try:
        with safe_open(file_of(run).parent / FEATURES, framework="np") as file:
            about = file.metadata() or {}
            return SavedFeatures(about["corpus"], json.loads(about["names"]), file.get_tensor("features"))
    except (SafetensorError, OSError, KeyError, ValueError):
        return None
