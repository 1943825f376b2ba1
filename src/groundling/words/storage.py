"""Word vectors in one compact file (safetensors), and one door for every format: `read` and `write`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from groundling.errors import UserError
from groundling.files import atomic_path, remove_leftovers
from groundling.words.blocks import Change, Matrix, changed_blocks
from groundling.words.fasttext_bin import read_bin, write_bin
from groundling.words.problems import Problems
from groundling.words.subwords import Subwords
from groundling.words.vec import read_vec, write_vec
from groundling.words.vectors import WordVectors

FORMAT = "groundling words 1"
KINDS = {"f4": "F32", "f2": "F16", "i8": "I64", "u1": "U8"}
Numbers = npt.NDArray[Any]
_TEXT = (".vec", ".vec.gz", ".txt", ".txt.gz")


def read(path: Path, max_words: int | None = None) -> tuple[WordVectors, Problems]:
    """Word vectors from a .vec, .vec.gz, .bin or .safetensors file, and what had to be left out."""
    if path.name.endswith(".bin.gz"):
        raise UserError(f"{path}: unpack it first (gunzip); a binary model is read in place")
    if path.suffix in (".bin", ".ftz"):
        return read_bin(path, max_words)
    if path.suffix == ".safetensors":
        vectors = load(path)
        return vectors if max_words is None else vectors.first(max_words), Problems(path)
    return read_vec(path, max_words)


def check_name(path: Path) -> None:
    """Refuse a name that does not say how to write, before hours of work rather than after."""
    if not path.name.endswith((".safetensors", ".bin", *_TEXT)):
        raise UserError(f"{path}: write word vectors to a name that ends in .safetensors, .bin, .vec or .vec.gz")


def write(path: Path, vectors: WordVectors, half: bool = False, change: Change | None = None) -> None:
    """As text where the name says so (.vec, .vec.gz), else with the subwords, as fastText's .bin or as safetensors.

    `change` is made of every row of words and subwords: a block at a time for safetensors, in memory for the others.
    """
    check_name(path)
    remove_leftovers(path.parent, path.name)
    if path.suffix == ".safetensors":
        return save(path, vectors, half, change)
    vectors = vectors if change is None else vectors.changed(change)
    if path.suffix == ".bin":
        write_bin(path, vectors)
    else:
        write_vec(path, vectors)


def save(path: Path, vectors: WordVectors, half: bool = False, change: Change | None = None) -> None:
    """Words as UTF-8 bytes with the place each ends at, the matrix, and the subwords if there are any.

    `half` stores numbers in float16: half the size, and an error far below what vectors are known to. `change` is made
    of every row of words and subwords. Rows are changed and written a block at a time: those of published models are
    often larger than memory, and lie in a file that is mapped.
    """
    letters = [word.encode() for word in vectors.words]
    tables = {"matrix": vectors.matrix}
    arrays: dict[str, Numbers | Rows] = {
        "words": np.frombuffer(b"".join(letters), dtype=np.uint8),
        "ends": np.cumsum([len(word) for word in letters], dtype=np.int64),
    }
    about: dict[str, str | int] = {"format": FORMAT}
    if vectors.subwords is not None:
        subwords = vectors.subwords
        about |= {name: getattr(subwords, name) for name in ("shortest", "longest", "buckets")}
        tables["ngrams"] = subwords.table
        if subwords.kept is not None:
            arrays["kept"] = subwords.kept
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        write_tensors(
            file, {**arrays, **{name: Rows(table, half, change, path) for name, table in tables.items()}}, about
        )


@dataclass(frozen=True)
class Rows:
    """Rows of numbers that are written a block at a time, changed on the way."""

    table: Matrix
    half: bool
    change: Change | None
    path: Path

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float16 if self.half else np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        nothing = np.zeros((0, self.table.shape[1]), dtype=np.float32)
        width = self.table.shape[1] if self.change is None else self.change(nothing).shape[1]
        return len(self.table), width

    def blocks(self) -> Iterator[Numbers]:
        for rows in changed_blocks(self.table, self.change):
            if self.half and np.abs(rows).max(initial=0) > np.finfo(np.float16).max:
                raise UserError(f"{self.path}: some numbers are too large for float16; write it without --half")
            yield np.ascontiguousarray(rows, dtype=self.dtype)


def write_tensors(file: BinaryIO, tensors: Mapping[str, Numbers | Rows], about: Mapping[str, str | int]) -> None:
    """The layout of safetensors: the length of a JSON header, the header, then the numbers one after another."""
    told: dict[str, object] = {"__metadata__": header(about)}
    at = 0
    for name, tensor in tensors.items():
        size = int(np.prod(tensor.shape, dtype=np.int64)) * tensor.dtype.itemsize
        told[name] = {
            "dtype": KINDS[tensor.dtype.str[1:]],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + size],
        }
        at += size
    text = json.dumps(told, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for tensor in tensors.values():
        for block in tensor.blocks() if isinstance(tensor, Rows) else [tensor]:
            file.write(np.ascontiguousarray(block).data)


def header(about: Mapping[str, str | int]) -> dict[str, str]:
    """Metadata under one key: safetensors writes several in random order, and equal vectors should be equal files."""
    return {"groundling": json.dumps(dict(about), sort_keys=True)}


def read_header(metadata: dict[str, str] | None) -> dict[str, Any]:
    """What `header` wrote; empty where somebody else wrote the file."""
    try:
        about = json.loads((metadata or {}).get("groundling", "{}"))
    except json.JSONDecodeError:
        return {}
    return about if isinstance(about, dict) else {}


def load(path: Path) -> WordVectors:
    """What `save` wrote; anything else is refused in a sentence."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    try:
        with safe_open(path, "numpy") as file:
            about = read_header(file.metadata())
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise UserError(f"{path}: not a safetensors file, or damaged ({error})") from None
    if about.get("format") != FORMAT:
        raise UserError(f"{path}: a safetensors file, but not of word vectors; make one with `groundling words`")
    try:
        return _assemble(about, tensors)
    except (KeyError, TypeError, ValueError, IndexError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: damaged word vectors ({error}); make the file again") from None


def _assemble(about: Mapping[str, Any], tensors: Mapping[str, Numbers]) -> WordVectors:
    letters = tensors["words"].tobytes()
    ends = [0, *tensors["ends"].tolist()]
    if sorted(ends) != ends or ends[-1] != len(letters):
        raise ValueError("words end where they should not")
    words = tuple(letters[start:end].decode() for start, end in pairwise(ends))
    subwords = None
    if "ngrams" in tensors:
        sizes = (int(about["shortest"]), int(about["longest"]), int(about["buckets"]))
        kept = tensors.get("kept")
        subwords = Subwords(tensors["ngrams"].astype(np.float32, copy=False), *sizes, kept)
    matrix = tensors["matrix"].astype(np.float32, copy=False)
    if not np.isfinite(matrix).all():
        raise ValueError("numbers that are not finite")
    return WordVectors(words, matrix, subwords)
