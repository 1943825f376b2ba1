"""A linear map from the space of one language's words into another's, and its file."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.words.lines import numbered_lines, open_plain
from groundling.words.storage import header, read_header
from groundling.words.vectors import Matrix, WordVectors

FORMAT = "groundling word map 1"
MOST_DIMENSIONS = 10_000


@dataclass(frozen=True, eq=False)
class WordMap:
    """x ↦ M(x − m). A new word's vector is the mean of its pieces, so mapping the pieces maps every word there can be.

    Attributes:
        matrix: M, of shape [target dimensions, source dimensions].
        about: where it came from (method, files), for whoever finds the file.
        mean: m, where languages were centred before they were aligned: the target's vectors then lose their own mean.
    """

    matrix: Matrix
    about: dict[str, str]
    mean: Matrix | None = None

    def rows(self, rows: Matrix) -> Matrix:
        """[n, source dimensions] → [n, target dimensions]"""
        centred = rows if self.mean is None else rows - self.mean
        return np.asarray(centred @ self.matrix.T, dtype=np.float32)

    def check(self, vectors: WordVectors) -> None:
        if vectors.dimensions != self.matrix.shape[1]:
            raise UserError(f"a map from {self.matrix.shape[1]} dimensions cannot take vectors of {vectors.dimensions}")

    def apply(self, vectors: WordVectors) -> WordVectors:
        """The same words, subwords included, in the target's space."""
        self.check(vectors)
        return vectors.changed(self.rows)

    def save(self, path: Path) -> None:
        with atomic_path(path) as temporary:
            tensors = {"map": np.ascontiguousarray(self.matrix, dtype=np.float32)}
            if self.mean is not None:
                tensors["mean"] = np.ascontiguousarray(self.mean, dtype=np.float32)
            safetensors.numpy.save_file(tensors, temporary, header({**self.about, "format": FORMAT}))

    @staticmethod
    def load(path: Path) -> "WordMap":
        try:
            with safe_open(path, "numpy") as file:
                about = read_header(file.metadata())
                names = set(file.keys())
                matrix = file.get_tensor("map") if "map" in names else None
                mean = file.get_tensor("mean") if "mean" in names else None
        except FileNotFoundError:
            raise UserError(f"{path}: no such file") from None
        except (SafetensorError, OSError) as error:
            raise UserError(f"{path}: not a safetensors file, or damaged ({error})") from None
        if about.pop("format", "") != FORMAT or matrix is None or matrix.ndim != 2:
            raise UserError(f"{path}: not a map between words; make one with `groundling align … --out`")
        if mean is not None and mean.shape != matrix.shape[1:]:
            raise UserError(f"{path}: a mean of {len(mean)} dimensions does not fit a map from {matrix.shape[1]}")
        return WordMap(matrix.astype(np.float32, copy=False), about, mean)


def read_map(path: Path) -> WordMap:
    """A map of ours, or a matrix as text, as fastText's aligner writes it: a line for each target dimension, before it
    perhaps a line that says how many lines and numbers there are."""
    if path.suffix == ".safetensors":
        return WordMap.load(path)
    rows: list[list[float]] = []
    with open_plain(path) as file:
        for number, line in numbered_lines(file, path):
            fields = line.split()
            if not fields:
                continue
            try:
                values = [float(field) for field in fields]
            except ValueError:
                raise UserError(f"{path}:{number}: not a line of numbers; a map is a matrix, line by line") from None
            if len(rows) > MOST_DIMENSIONS or len(values) > MOST_DIMENSIONS:
                raise UserError(f"{path}: larger than any map can be ({MOST_DIMENSIONS:,} dimensions)")
            rows.append(values)
    if len(rows) > 1 and len(rows[0]) == 2 and rows[0] == [len(rows) - 1, len(rows[1])]:
        rows = rows[1:]
    if not rows or len({len(row) for row in rows}) != 1 or not np.isfinite(matrix := np.array(rows)).all():
        raise UserError(f"{path}: not a matrix; every line must have as many numbers, all of them finite")
    return WordMap(matrix.astype(np.float32), {"from": path.name})
