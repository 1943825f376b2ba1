"""Writes the files of a `disk_store`, a block at a time: memory holds one block, however many there are.

Each step leaves a file in a folder of its own (the trained index, one index for each block), so that a build that was
killed goes on behind the last whole one. The folder is gone when the manifest is there. It belongs to the entries
and vectors that it was begun for; for others it is begun anew.
"""

import hashlib
import os
import secrets
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundling.checksums import sha256
from groundling.files import atomic_path, write_text
from groundling.model.vectors import Vectors
from groundling.progress import bar
from groundling.search import recall
from groundling.search.disk_store import DiskSearch
from groundling.search.entries import Entries, Rows
from groundling.search.faiss_store import faiss_module
from groundling.search.manifest import SearchFacts, StoredFile
from groundling.search.store import Fetch, Written, lists_for

WORK = "vectors-building"
LEAST = 50_000  # vectors from which lists are worth it; fewer are all compared
BLOCK = 2**20  # vectors of one file of codes
AT_ONCE = 2**15  # vectors in memory in full precision
TRAINING = 48  # vectors for each list to find its centre with
CODE_ROUNDS, CODE_TRAINING = 10, 128  # of the codes: rounds of k-means, vectors for each of its 256 centres
NUMBERS_OF_A_BYTE = 4  # numbers of a vector that one byte stands for
MOST_CANDIDATES = 512  # compared by their vectors, unless even these are not enough
SAMPLED = 256  # vectors by which a build that was cut short is known again


def write(folder: Path, entries: Entries, dimensions: int, fetch: Fetch, kind: str, aim: recall.Aim) -> Written:
    """vectors-….npy, and beside it vectors-….faiss where there are many."""
    name = f"vectors-{secrets.token_hex(8)}"
    work = Work.of(folder / WORK, entries, dimensions, fetch, lists=kind != "exact" and len(entries) >= LEAST)
    with bar("Vectors on disk", total=len(entries)) as progress:
        if work.lists:
            work.train()
        for block in work.blocks():
            progress.advance(work.write_block(block))
    paths = work.gather(folder, name)
    facts = tune(DiskSearch(*paths), aim) if work.lists else SearchFacts()
    return Written(facts, *(StoredFile(name=path.name, sha256=sha256(path)) for path in paths))


@dataclass(frozen=True)
class Work:
    """A build on its way. `lists` is how many lists the vectors are put into; 0 for none."""

    place: Path
    count: int
    dimensions: int
    fetch: Fetch
    lists: int

    @staticmethod
    def of(place: Path, entries: Entries, dimensions: int, fetch: Fetch, lists: bool) -> "Work":
        """What is there of the same build, or a beginning."""
        count = len(entries)
        number = lists_for(count, share=1) if lists else 0
        work = Work(place, count, dimensions, fetch, number)
        about, note = work._about(entries), place / "about.txt"
        known = note.exists() and note.read_text(encoding="utf-8") == about
        if not known or (any(place.glob("block-*")) and not work._vectors.exists()):
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            write_text(note, about)
        return work

    def _about(self, entries: Entries) -> str:
        """Known by names and contents of the entries, by some of the vectors, and by how they are written."""
        some = np.linspace(0, self.count - 1, min(SAMPLED, self.count)).astype(np.int64)
        digest = hashlib.sha256(np.ascontiguousarray(self.fetch(some), dtype="<f4").tobytes())
        for column in ("name", "digest"):
            for chunk in entries.table[column].chunks:
                for buffer in chunk.buffers():
                    digest.update(b"" if buffer is None else buffer)
        return f"{digest.hexdigest()} {self.count} {self.dimensions} {self.lists} {BLOCK}\n"

    def train(self) -> None:
        """Centres of the lists and of the codes, found with a sample."""
        path = self.place / "trained.faiss"
        if path.exists():
            return
        faiss = faiss_module()
        metric = faiss.METRIC_INNER_PRODUCT
        parts = code_bytes(self.dimensions)
        index = faiss.IndexIVFPQ(faiss.IndexFlatIP(self.dimensions), self.dimensions, self.lists, parts, 8, metric)
        index.pq.cp.niter, index.pq.cp.max_points_per_centroid = CODE_ROUNDS, CODE_TRAINING
        few = np.random.default_rng(0).choice(self.count, min(self.count, TRAINING * self.lists), replace=False)
        index.train(np.ascontiguousarray(self.fetch(np.sort(few)), dtype=np.float32))
        with atomic_path(path) as temporary:
            faiss.write_index(index, str(temporary))

    def blocks(self) -> Iterator[range]:
        for start in range(0, self.count, BLOCK):
            yield range(start, min(start + BLOCK, self.count))

    def _block_path(self, block: range) -> Path:
        return self.place / f"block-{block.start // BLOCK:06}.{'faiss' if self.lists else 'done'}"

    def write_block(self, block: range) -> int:
        """The vectors of a block, and their codes; returns how many. What is there is left as it is."""
        path = self._block_path(block)
        if path.exists():
            return len(block)
        faiss = faiss_module()
        index = faiss.read_index(str(self.place / "trained.faiss")) if self.lists else None
        with self._open_vectors() as file:
            for start in range(block.start, block.stop, AT_ONCE):
                rows: Rows = np.arange(start, min(start + AT_ONCE, block.stop), dtype=np.int64)
                vectors = np.ascontiguousarray(self.fetch(rows), dtype=np.float32)
                file.seek(self._header() + start * self.dimensions * 2)
                file.write(vectors.astype("<f2").tobytes())
                if index is not None:
                    index.add_with_ids(vectors, rows)
        with atomic_path(path) as temporary:
            if index is not None:
                faiss.write_index(index, str(temporary))
        return len(block)

    @property
    def _vectors(self) -> Path:
        return self.place / "vectors.npy"

    def _open_vectors(self) -> Any:
        """The file of the vectors, which has its full length from the beginning."""
        if not self._vectors.exists():
            with atomic_path(self._vectors) as temporary:
                shape = (self.count, self.dimensions)
                np.lib.format.open_memmap(temporary, "w+", dtype="<f2", shape=shape).flush()
        return self._vectors.open("r+b")

    def _header(self) -> int:
        """The bytes before the numbers."""
        return self._vectors.stat().st_size - self.count * self.dimensions * 2

    def gather(self, folder: Path, name: str) -> list[Path]:
        """The files of the index under their names."""
        vectors, lists = folder / f"{name}.npy", folder / f"{name}.faiss"
        if self.lists:
            with atomic_path(lists) as temporary:
                self._merge(temporary)
        _sync(self._vectors)
        try:  # a second name rather than a move: a build that is killed now still has it where the blocks are
            vectors.hardlink_to(self._vectors)
        except OSError:  # a file system without them: such a build begins anew
            self._vectors.rename(vectors)
        return [vectors, lists] if self.lists else [vectors]

    def _merge(self, path: Path) -> None:
        """The blocks as one index, list by list: what FAISS would write of it, if it had all of it in memory."""
        faiss = faiss_module()
        index = faiss.read_index(str(self.place / "trained.faiss"))
        blocks = [faiss.read_index(str(self._block_path(block)), faiss.IO_FLAG_MMAP) for block in self.blocks()]
        parts = [block.invlists for block in blocks]
        index.ntotal = self.count
        head = faiss.serialize_index(index).tobytes()
        about = struct.pack("<4sQQ", b"ilar", index.nlist, index.code_size)
        empty = about + struct.pack("<4sQ", b"sprs", 0)
        if not head.endswith(empty):
            raise RuntimeError("this version of FAISS writes its lists in another way")
        sizes = [[part.list_size(number) for number in range(index.nlist)] for part in parts]
        totals = np.sum(sizes, axis=0).astype("<u8")
        with path.open("wb") as file, bar("Lists on disk", total=index.nlist) as progress:
            file.write(head[: -len(empty)] + about + struct.pack("<4sQ", b"full", index.nlist) + totals.tobytes())
            for number in range(index.nlist):
                held = [(part, size[number]) for part, size in zip(parts, sizes, strict=True) if size[number]]
                for part, size in held:
                    file.write(faiss.rev_swig_ptr(part.get_codes(number), size * index.code_size))
                for part, size in held:
                    file.write(faiss.rev_swig_ptr(part.get_ids(number), size))
                progress.advance()


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def code_bytes(dimensions: int) -> int:
    """The bytes of a code: the divisor of the dimensions nearest to a byte for four numbers.

    >>> code_bytes(128), code_bytes(512), code_bytes(30), code_bytes(7)
    (32, 128, 6, 1)
    """
    divisors = [number for number in range(1, dimensions + 1) if dimensions % number == 0]
    return min(divisors, key=lambda number: (abs(number - dimensions / NUMBERS_OF_A_BYTE), number))


def tune(searched: DiskSearch, aim: recall.Aim) -> SearchFacts:
    """The fewest lists, and then the fewest candidates, with which enough is found."""
    count, lists = len(searched.vectors), searched.lists.nlist

    def search(queries: Vectors, k: int, effort: tuple[int, int]) -> Rows:
        return searched.search(queries, k, *effort)[1]

    def nearest(queries: Vectors, k: int) -> Rows:
        return searched.nearest(queries, k)[1]

    groups = recall.questions(
        count, lambda rows: np.array(searched.vectors[rows], dtype=np.float32), nearest, aim.texts
    )
    most = min(MOST_CANDIDATES, count)
    probes = recall.least(search, groups, [(probes, most) for probes in steps(lists)], aim.recall)[0]
    fewer = [(probes, candidates) for candidates in recall.doubled(most) if candidates >= 2 * recall.NEAREST]
    more = [(probes, min(count, most * factor)) for factor in (2, 4, 8, 16)]
    effort = recall.least(search, groups, [*fewer, *more], aim.recall)
    facts = SearchFacts(kind="ivf-pq", effort=effort[0], candidates=effort[1])
    return recall.measured(search, groups, effort, aim.recall, facts)


def steps(most: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12 and so on up to `most`: finer than doubling, for every list that is read costs time.

    >>> steps(10)
    [1, 2, 3, 4, 6, 8, 10]
    """
    numbers = sorted({*recall.doubled(most), *(3 * 2**power for power in range(most.bit_length()))})
    return [number for number in numbers if number <= most]
