"""A linear map from the space of one language's words into another's, and its file."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.words.storage import header, read_header
from groundling.words.vectors import Matrix, WordVectors

FORMAT = "groundling word map 1"


@dataclass(frozen=True, eq=False)
class WordMap:
    """x ↦ Mx. A new word's vector is the mean of its pieces, so mapping the pieces maps every word there can be.

    Attributes:
        matrix: M, of shape [target dimensions, source dimensions].
        about: where it came from (method, files), for whoever finds the file.
    """

    matrix: Matrix
    about: dict[str, str]

    def apply(self, vectors: WordVectors) -> WordVectors:
        """The same words, subwords included, in the target's space."""
        if vectors.dimensions != self.matrix.shape[1]:
            raise UserError(f"a map from {self.matrix.shape[1]} dimensions cannot take vectors of {vectors.dimensions}")
        return vectors.changed(lambda rows: rows @ self.matrix.T)

    def save(self, path: Path) -> None:
        with atomic_path(path) as temporary:
            tensors = {"map": np.ascontiguousarray(self.matrix, dtype=np.float32)}
            safetensors.numpy.save_file(tensors, temporary, header({**self.about, "format": FORMAT}))

    @staticmethod
    def load(path: Path) -> "WordMap":
        try:
            with safe_open(path, "numpy") as file:
                about = read_header(file.metadata())
                matrix = file.get_tensor("map") if "map" in file.keys() else None  # noqa: SIM118
        except FileNotFoundError:
            raise UserError(f"{path}: no such file") from None
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path}: not a safetensors file, or damaged ({error})") from None
        if about.pop("format", "") != FORMAT or matrix is None or matrix.ndim != 2:
            raise UserError(f"{path}: not a map between words; make one with `groundling align … --out`")
        return WordMap(matrix.astype(np.float32, copy=False), about)
