"""FastText's binary models (.bin): dictionary and input matrix, read from the public layout.

    int32 magic, int32 version
    12 × int32: dim ws epoch minCount neg wordNgrams loss model bucket minn maxn lrUpdateRate; double t
    int32 entries, int32 words, int32 labels; int64 tokens, int64 pruned
    entries × (word, a zero byte, int64 count, int8 kind)
    bool quantised; int64 rows, int64 columns; rows × columns × float32: one row per word, then one per bucket

The output matrix behind it (bool quantised, rows, columns, numbers) is of no use here, and written as zeros. The n-gram
rows stay in the file (a memory map): they are often larger than memory, and few are needed. The vectors of words are
made of them; where they are many they lie in a file of their own.
"""

import mmap
import struct
from pathlib import Path

import numpy as np

from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.large_arrays import room
from groundling.progress import bar
from groundling.words.lines import open_plain
from groundling.words.problems import Problems, shown
from groundling.words.subwords import Subwords, piece_hashes
from groundling.words.vectors import HELD_UP_TO, Matrix, WordVectors

MAGIC, VERSIONS = 793712314, (11, 12)
SUPERVISED = 3
LONGEST_WORD = 2**16
BLOCK = 65_536  # rows
MOST_DIMENSIONS = 10_000


class _Bytes:
    """A file as a mapped sequence of bytes with a place in it; reading past its end is the user's error."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.path, self.data, self.at = path, data, 0

    def numbers(self, layout: str) -> tuple[int, ...]:
        size = struct.calcsize("<" + layout)
        if self.at + size > len(self.data):
            raise self.cut_off()
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += size
        return values

    def word(self) -> bytes:
        end = self.data.find(b"\0", self.at, self.at + LONGEST_WORD)
        if end < 0:
            raise self.cut_off()
        raw = self.data[self.at : end]
        self.at = end + 1
        return raw

    def cut_off(self) -> UserError:
        return UserError(f"{self.path}: ends too early, or is damaged at byte {self.at:,}; fetch it again")


def read_bin(path: Path, max_words: int | None = None) -> tuple[WordVectors, Problems]:
    """The first `max_words` words (the most frequent) with their subwords, and what was left out."""
    with open_plain(path) as file:
        if not file.read(1):
            raise UserError(f"{path}: is empty")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    source = _Bytes(path, data)
    magic, version = source.numbers("ii")
    if magic != MAGIC or version not in VERSIONS:
        raise UserError(f"{path}: not a fastText model of version 11 or 12; convert it to .vec first")
    dimensions, *_, kind, buckets, shortest, longest, _rate = source.numbers("12i")
    source.numbers("8x")
    if version == 11 and kind == SUPERVISED:
        longest = 0  # classifiers of that time used no pieces, whatever they say
    entries, words, _labels, _tokens, pruned = source.numbers("iiiqq")
    if not (0 < words <= entries and entries * 10 <= len(data) and 0 < dimensions <= MOST_DIMENSIONS):
        raise source.cut_off()
    if pruned > 0:
        raise UserError(f"{path}: a pruned model cannot be read; use the model as it was before quantising")
    listed = []
    for _ in range(entries):
        listed.append(source.word())
        source.numbers("qb")
    (quantised,) = source.numbers("b")
    if quantised:
        raise UserError(f"{path}: a quantised model (.ftz) cannot be read; use the .bin or .vec it was made from")
    rows, columns = source.numbers("qq")
    if columns != dimensions or not words <= rows <= words + max(buckets, 0):
        raise UserError(f"{path}: a matrix of {rows:,} × {columns:,} does not fit its {words:,} words; fetch it again")
    if source.at + rows * columns * 4 > len(data):
        raise source.cut_off()
    data.close()
    matrix = np.memmap(path, dtype="<f4", mode="r", offset=source.at, shape=(rows, columns))
    has_pieces = 1 <= shortest <= longest and buckets > 0 and rows == words + buckets
    subwords = Subwords(matrix[words:], shortest, longest, buckets) if has_pieces else None
    return _compose(path, listed[: min(words, max_words or words)], matrix[:words], subwords)


def _compose(
    path: Path, raw_words: list[bytes], own: Matrix, subwords: Subwords | None
) -> tuple[WordVectors, Problems]:
    """A word's vector is the mean of its own row and its pieces'."""
    problems = Problems(path)
    words: dict[str, int] = {}
    kept = room((len(raw_words), own.shape[1]), large=HELD_UP_TO)
    with bar(f"Reading {path.name}", len(raw_words)) as progress:
        for row, raw in enumerate(raw_words):
            progress.advance()
            word = raw.decode("utf-8", "replace")
            vector = np.array(own[row])
            if subwords is not None:
                hashes = piece_hashes(word, subwords.shortest, subwords.longest)
                pieces = [value % subwords.buckets for value in hashes]
                vector = (vector + subwords.table[pieces].sum(axis=0)) / np.float32(1 + len(pieces))
            if "\N{REPLACEMENT CHARACTER}" in word and word.encode() != raw:
                problems.add(row + 1, "not UTF-8", f'word {row + 1:,}, "{shown(word)}", is not UTF-8')
            elif word in words:
                problems.add(row + 1, "duplicate word", f'word {row + 1:,}, "{shown(word)}", stands there twice')
            elif not np.isfinite(vector).all():
                problems.add(row + 1, "not finite", f'the vector of word {row + 1:,}, "{shown(word)}", is not finite')
            else:
                kept[len(words)] = vector
                words[word] = len(words)
    if not words:
        raise UserError(f"{path}: holds no word that can be used")
    return WordVectors(tuple(words), kept[: len(words)], subwords), problems


def write_bin(path: Path, vectors: WordVectors) -> None:
    """A model that fastText's own tools read: the same vectors, for listed words and for all others.

    fastText makes a word's vector of its own row and its pieces; a word's row is written so that the mean is the vector
    that it has here. Without subwords, words have no pieces.
    """
    wrong = next((word for word in vectors.words if not word or set(word) & set(" \n\0")), None)
    if wrong is not None:
        raise UserError(f'{path}: the word "{shown(wrong)}" cannot stand in a .bin file; write a .safetensors file')
    subwords, count, dimensions = vectors.subwords, len(vectors), vectors.dimensions
    buckets = 0 if subwords is None else subwords.buckets
    shortest, longest = (0, 0) if subwords is None else (subwords.shortest, subwords.longest)
    skipgram, negative_sampling = 2, 2
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(struct.pack("<ii", MAGIC, VERSIONS[-1]))
        arguments = (dimensions, 5, 1, 1, 5, 1, negative_sampling, skipgram, buckets, shortest, longest, 100)
        file.write(struct.pack("<12id", *arguments, 1e-4))
        file.write(struct.pack("<iiiqq", count, count, 0, count, -1))
        for place, word in enumerate(vectors.words):  # fastText lists frequent words first
            file.write(word.encode() + b"\0" + struct.pack("<qb", count - place, 0))
        file.write(struct.pack("<bqq", 0, count + buckets, dimensions))
        for at in range(0, count, BLOCK):
            file.write(_own_rows(vectors, at, min(count, at + BLOCK)).astype("<f4").data)
        for at in range(0, buckets, BLOCK):
            file.write(_bucket_rows(subwords, at, min(buckets, at + BLOCK)).astype("<f4").data)
        file.write(struct.pack("<bqq", 0, count, dimensions))
        for at in range(0, count, BLOCK):
            file.write(np.zeros((min(count, at + BLOCK) - at, dimensions), dtype="<f4").data)


def _own_rows(vectors: WordVectors, start: int, stop: int) -> Matrix:
    """Rows that make the vectors of words in a mean with their pieces."""
    rows = np.array(vectors.matrix[start:stop], dtype=np.float32)
    if vectors.subwords is None:
        return rows
    for place, word in enumerate(vectors.words[start:stop]):
        pieces = len(piece_hashes(word, vectors.subwords.shortest, vectors.subwords.longest))
        known = vectors.subwords.rows(word)
        rows[place] = rows[place] * np.float32(1 + pieces) - vectors.subwords.table[known].sum(axis=0)
    return rows


def _bucket_rows(subwords: Subwords | None, start: int, stop: int) -> Matrix:
    """Rows of all buckets; those that were dropped are zero."""
    assert subwords is not None  # noqa: S101 (without subwords there are no buckets)
    if subwords.kept is None:
        return np.ascontiguousarray(subwords.table[start:stop], dtype=np.float32)
    rows = np.zeros((stop - start, subwords.table.shape[1]), dtype=np.float32)
    first, last = np.searchsorted(subwords.kept, [start, stop])
    rows[subwords.kept[first:last] - start] = subwords.table[first:last]
    return rows
