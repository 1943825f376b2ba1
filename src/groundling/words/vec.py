"""Word vectors as text, one word a line: fastText's .vec, also gzipped.

The file is read a block at a time and never trusted: what its header promises allocates nothing, a line that does not
hold one word and exactly so many finite numbers is left out and named, and no number slips into another column. Where
there are many rows they lie in a file that is mapped.
"""

import gzip
from pathlib import Path

import numpy as np

from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.large_arrays import GrowingArray
from groundling.progress import bar
from groundling.words.lines import numbered_lines, open_plain
from groundling.words.problems import Problems, shown
from groundling.words.vectors import HELD_UP_TO, Matrix, WordVectors

MOST_DIMENSIONS = 10_000
_BLOCK_BYTES = 2**22
Numbered = tuple[int, bytes]


def read_vec(path: Path, max_words: int | None = None) -> tuple[WordVectors, Problems]:
    """The first `max_words` good words of a .vec or .vec.gz file, and what was left out.

    Fields are parted by single spaces and counted from the right, so that a word may hold any other character.
    The first line is a header where it is two whole numbers; without one, it says how many numbers a line has.
    """
    reader = _Reader(path)
    with open_plain(path) as file, bar(f"Reading {path.name}", max_words) as progress:
        waiting: list[Numbered] = []
        size, whole = 0, True
        for number, line in numbered_lines(file, path):
            if number == 1 and reader.header(line.rstrip(b" ").split(b" ")):
                continue
            if max_words is not None and len(reader.words) >= max_words:
                whole = False
                break
            waiting.append((number, line.rstrip(b" ")))
            size += len(line)
            if size >= _BLOCK_BYTES or (max_words is not None and len(reader.words) + len(waiting) >= max_words):
                progress.advance(reader.block(waiting))
                waiting, size = [], 0
        reader.block(waiting)
    return reader.result(whole), reader.problems


class _Reader:
    """What is known of a file so far: its dimensions, its good words and its problems."""

    def __init__(self, path: Path) -> None:
        self.path, self.problems = path, Problems(path)
        self.words: dict[str, int] = {}
        self.matrix = GrowingArray(HELD_UP_TO)
        self.promised: int | None = None
        self.dimensions = 0

    def header(self, fields: list[bytes]) -> bool:
        """Learn the dimensions from the first line; whether it was a header, not a word already."""
        is_header = len(fields) == 2 and all(field.isdigit() and len(field) < 19 for field in fields)
        if is_header:
            self.promised, self.dimensions = int(fields[0]), int(fields[1])
        else:
            self.dimensions = len(fields) - 1
        if not 1 <= self.dimensions <= MOST_DIMENSIONS:
            raise UserError(
                f"{self.path}:1: {self.dimensions:,} numbers to a word, where 1 to {MOST_DIMENSIONS:,} can be; "
                "is this a file of word vectors?"
            )
        if not is_header:
            self.problems.note(f"has no header; its first line has {self.dimensions} numbers, so all should")
        return is_header

    def block(self, lines: list[Numbered]) -> int:
        """Add the good lines; how many there were. A block with a bad line is halved until the line stands alone."""
        matrix = _numbers(lines, self.dimensions)
        if matrix is None:
            if len(lines) == 1:
                self._say_what_is_wrong(*lines[0])
                return 0
            middle = len(lines) // 2
            return self.block(lines[:middle]) + self.block(lines[middle:])
        kept = []
        for place, (number, line) in enumerate(lines):
            if self._is_new(number, line.rsplit(b" ", self.dimensions)[0], matrix[place]):
                kept.append(place)
        self.matrix.add(matrix if len(kept) == len(lines) else matrix[kept])
        return len(kept)

    def _say_what_is_wrong(self, number: int, line: bytes) -> None:
        fields = line.split(b" ")[1:]
        wrong = next((field for field in fields[-self.dimensions :] if not _is_number(field)), b"")
        if len(fields) == self.dimensions or (len(fields) > self.dimensions and wrong):
            text = shown(wrong.decode("utf-8", "replace"))
            self.problems.add(number, "not a number", f'"{text}" stands where a number should')
        else:
            self.problems.add(number, "wrong length", f"{len(fields):,} numbers instead of {self.dimensions:,}")

    def _is_new(self, number: int, raw: bytes, vector: Matrix) -> bool:
        """Whether a word can be taken in; if not, say why."""
        try:
            word = raw.decode("utf-8")
        except UnicodeDecodeError:
            text = shown(raw.decode("utf-8", "replace"))
            self.problems.add(number, "not UTF-8", f'the word "{text}" is not UTF-8')
            return False
        if not word.strip(" "):
            self.problems.add(number, "no word", "no word stands before the numbers")
        elif word in self.words:
            self.problems.add(number, "duplicate word", f'"{shown(word)}" stands here again, the first one is kept')
        elif not np.isfinite(vector).all():
            self.problems.add(number, "not finite", f'the vector of "{shown(word)}" is not finite')
        else:
            self.words[word] = len(self.words)
            return True
        return False

    def result(self, whole: bool) -> WordVectors:
        if not self.words:
            first = f"; {self.problems.sentences[0]}" if self.problems.sentences else ""
            raise UserError(f"{self.path}: holds no word vectors{first}")
        there = len(self.words) + self.problems.total
        if self.promised is not None and whole and self.promised != there:
            self.problems.note(f"its header promises {self.promised:,} words, it has {there:,} lines")
        return WordVectors(tuple(self.words), self.matrix.whole())


def _numbers(lines: list[Numbered], dimensions: int) -> Matrix | None:
    """The last `dimensions` fields of all lines as float32; None where some line has not so many numbers.

    Arrow's parser reads hundreds of columns eight times as fast as Python's float. It is strict: no white space
    around a number, no missing field.
    """
    import pyarrow as pa
    from pyarrow import csv

    if not lines:
        return np.zeros((0, dimensions), dtype=np.float32)
    numbers = []
    for _, line in lines:
        if line.count(b" ") == dimensions:
            numbers.append(line[line.index(b" ") + 1 :])
        else:
            fields = line.rsplit(b" ", dimensions)
            if len(fields) <= dimensions or _is_number(line.split(b" ", 2)[1]):
                return None
            numbers.append(b" ".join(fields[1:]))
    names = [str(column) for column in range(dimensions)]
    try:
        table = csv.read_csv(
            pa.py_buffer(b"\n".join(numbers) + b"\n"),
            csv.ReadOptions(column_names=names, block_size=2 * _BLOCK_BYTES),
            csv.ParseOptions(delimiter=" ", quote_char=False, escape_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.float32()), null_values=[], strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    if table.num_rows != len(lines):  # a carriage return inside a line
        return None
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


def _is_number(field: bytes) -> bool:
    """Whether Arrow can read this as a number."""
    import pyarrow as pa

    try:
        pa.array([field], type=pa.binary()).cast(pa.string()).cast(pa.float32())
    except pa.ArrowInvalid:
        return False
    return True


def write_vec(path: Path, vectors: WordVectors, digits: int = 6) -> None:
    """The words and their vectors as text; subwords have no place in this format."""
    wrong = next((word for word in vectors.words if not word or set(word) & set(" \n\r")), None)
    if wrong is not None:
        raise UserError(f'{path}: the word "{shown(wrong)}" cannot stand in a .vec file; write a .safetensors file')
    with (
        atomic_path(path) as temporary,
        gzip.open(temporary, "wb") if path.suffix == ".gz" else temporary.open("wb") as file,
        bar(f"Writing {path.name}", len(vectors)) as progress,
    ):
        file.write(f"{len(vectors)} {vectors.dimensions}\n".encode())
        for word, row in zip(vectors.words, vectors.matrix, strict=True):
            file.write(f"{word} {' '.join(f'{x:.{digits}g}' for x in row.tolist())}\n".encode())
            progress.advance()
