"""What an index asks of a model, and how one is found by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError, did_you_mean
from groundling.export.manifest import is_exported

Vectors = npt.NDArray[np.float32]

# Names for pairs of a picture tower and a text tower that were made for each other.
PAIRS = {
    "clip-multilingual": (
        "sentence-transformers/clip-ViT-B-32",
        "sentence-transformers/clip-ViT-B-32-multilingual-v1",
    )
}


class Encoder(Protocol):
    """Pictures and texts into one space, compared by the inner product of unit vectors.

    Attributes:
        kind: "run" or "pretrained".
        backbone: what looks at the pictures.
        fingerprint: of all files that decide what the vectors are.
        dimensions: the length of a vector.
        languages: codes it was trained on; empty where it is not known.
        batch: how many pictures are best encoded together: one for each core, more on a GPU.
    """

    kind: str
    backbone: str
    fingerprint: str
    dimensions: int
    languages: list[str]
    batch: int

    def open_eyes(self) -> None:
        """Load what looks at pictures, before several threads ask for it; text alone does not need it."""
        ...

    def prepare(self, data: bytes) -> Any:
        """What the network is shown of a picture file. Raises `vision.preprocessing.PictureError`."""
        ...

    def encode_pictures(self, prepared: Sequence[Any]) -> Vectors:
        """[pictures, dimensions] unit vectors; safe to call from several threads."""
        ...

    def encode_text(self, texts: Sequence[str], languages: Sequence[str]) -> Vectors:
        """[texts, dimensions] unit vectors."""
        ...


def load(name: str, text: str | None = None, device: str = "auto") -> Encoder:
    """A run of ours, what was exported from one, or a pretrained model by its folder or its name on the hub.

    Args:
        name: the folder of a run, or one that `groundling export` wrote; the folder or hub name of a CLIP, SigLIP or
            Chinese-CLIP; or a name from `PAIRS`.
        text: the folder or hub name of a separate text tower, as of the multilingual CLIPs of sentence-transformers.
        device: as for all commands.
    """
    if text is None and name in PAIRS and not Path(name).exists():
        name, text = PAIRS[name]
    folder = Path(name).expanduser()
    if "/" not in name and not folder.is_dir():
        raise UserError(
            f"{name}: neither the folder of a run or of a pretrained model, nor a name on the hub (OWNER/MODEL), nor "
            f"that of a pair{did_you_mean(name, PAIRS)}"
        )
    if text is None and is_exported(folder):
        from groundling.search.onnx_encoder import OnnxEncoder

        return OnnxEncoder(folder)
    if text is None and any((folder / file).exists() for file in ("recipe.json", "tokeniser.json")):
        from groundling.search.run_encoder import RunEncoder

        return RunEncoder(folder, device)
    from groundling.search.pretrained import PretrainedEncoder

    return PretrainedEncoder(name, text, device)
