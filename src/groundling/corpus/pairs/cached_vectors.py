"""A teacher's vectors of known sentences: each is asked for once, when it is first needed, and kept.

They lie in a folder of the cache that is named by the teacher's fingerprint, and are found again by the hash of a
sentence and its language, in whatever file of pairs it stands. A training that was cut off, or another one with the
same teacher, asks only for what is missing.
"""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.corpus.pairs.pairs import SentencePairs
from groundling.files import make_folder, problems_of

Vectors = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
#: Texts and the language of each → their vectors.
Ask = Callable[[Sequence[str], Sequence[str]], Vectors]

NOWHERE = -1


class CachedVectors:
    """The vectors of the known sentences of some pairs.

    Args:
        ask: the teacher.
        folder: where its vectors are kept; None: nowhere.
    """

    def __init__(self, pairs: SentencePairs, ask: Ask, folder: Path | None) -> None:
        self.pairs, self.ask, self.folder = pairs, ask, folder
        self.shards: list[Vectors] = []
        self.place = np.full(len(pairs.known), NOWHERE, dtype=np.int64)  # shard · 2³² + row
        self.own = uuid.uuid4().hex  # what this process adds
        for path in sorted(folder.glob("*.hashes")) if folder is not None and folder.is_dir() else []:
            self._find(path)

    @property
    def known(self) -> int:
        """How many sentences need not be asked for."""
        return int((self.place != NOWHERE).sum())

    def __call__(self, rows: Rows, soon: Callable[[], Rows] | None = None) -> Vectors:
        """[rows, dimensions] of known sentences, float32; `soon`: which will be needed next, asked for together."""
        if (self.place[rows] == NOWHERE).any():
            wanted = rows if soon is None else np.concatenate([rows, soon()])
            missing = np.unique(wanted)
            self._ask(missing[self.place[missing] == NOWHERE])
        shards, places = np.divmod(self.place[rows], 2**32)
        found = np.empty((len(rows), self.shards[int(shards[0])].shape[1]), dtype=np.float32)
        for shard in np.unique(shards).tolist():
            mine = shards == shard
            found[mine] = self.shards[shard][places[mine]]
        return found

    def _ask(self, rows: Rows) -> None:
        """Rows rise."""
        texts, codes = self.pairs.known.pick(rows), self.pairs.known_languages.pick(rows)
        vectors = np.ascontiguousarray(self.ask(texts, codes), dtype=np.float32)
        self.place[rows] = len(self.shards) * 2**32 + np.arange(len(rows))
        self.shards.append(self._kept(rows, vectors))

    def _kept(self, rows: Rows, vectors: Vectors) -> Vectors:
        """Vectors are written before their hashes: who reads what a killed process left takes whole ones only."""
        if self.folder is None:
            return vectors
        with problems_of(self.folder):
            make_folder(self.folder)
            path = self.folder / f"{self.own}.vectors"
            with path.open("ab") as file:
                start = file.tell()
                file.write(vectors.tobytes())
            with (self.folder / f"{self.own}.hashes").open("ab") as file:
                file.write(self.pairs.hashes[rows].tobytes())
        return np.memmap(path, dtype=np.float32, mode="r", offset=start, shape=vectors.shape)

    def _find(self, path: Path) -> None:
        """Take over what is there from before."""
        there = np.fromfile(path, dtype=np.uint64)
        size = path.with_suffix(".vectors").stat().st_size // 4
        if not len(there) or not size:
            return
        wide = size // len(there)
        if wide * len(there) != size:  # it was killed between the two files: what is whole begins at the front
            wide = self._width(size, len(there))
        if not wide:
            return
        vectors = np.memmap(path.with_suffix(".vectors"), dtype=np.float32, mode="r")[: len(there) * wide]
        order = np.argsort(there, kind="stable")
        spot = np.minimum(np.searchsorted(there[order], self.pairs.hashes), len(there) - 1)
        found = (there[order][spot] == self.pairs.hashes) & (self.place == NOWHERE)
        self.place[found] = len(self.shards) * 2**32 + order[spot[found]]
        self.shards.append(vectors.reshape(len(there), wide))

    def _width(self, size: int, count: int) -> int:
        """Dimensions of vectors, told by another shard; 0 where there is none."""
        return self.shards[0].shape[1] if self.shards and self.shards[0].shape[1] * count <= size else 0
