"""Sentence pairs of a file, of any size, read once and kept: texts in Arrow, all else in NumPy arrays.

They lie in a folder of the cache that is named by what the file holds and by what was asked of it. Pairs that are there
twice are kept once. A tenth of the known sentences, drawn by what they say, with all that is paired with them, is the
dev split, another tenth the test split, of two thousand at most each.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from groundling.checksums import sha256
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.skipped import Report
from groundling.corpus.pairs.distinct import distinct, hash_of, smallest
from groundling.corpus.pairs.pairs import SentencePairs
from groundling.corpus.pairs.readers import files_of, reader_of
from groundling.corpus.pairs.row import Pair, PairsOfRows, Unanswered, Wanted
from groundling.corpus.texts import ArrowTexts, Codes
from groundling.errors import UserError
from groundling.files import cache_folder, make_once, read_json, write_json

FORMAT = 1  # of the folder; another one is made anew
FEWEST = 50  # known sentences; of fewer nothing can be held out that tells anything
HELD_OUT = 10  # a tenth of the known sentences stops the training, another tenth is the test
MOST_HELD_OUT = 2000
BATCH = 2**14  # pairs that are written together
SPLITS = ("train", "dev", "test")
TEXTS = "texts.arrow"


@dataclass(frozen=True)
class PairStore:
    """The pairs of one file, as they are kept.

    Attributes:
        folder: where.
        name: of the file.
    """

    folder: Path
    name: str

    @cached_property
    def about(self) -> dict[str, Any]:
        found: dict[str, Any] = read_json(self.folder / "pairs.json")
        return found

    @property
    def problems(self) -> list[str]:
        """A sentence for each bad row, which was left out; the first thousand."""
        return list(self.about["problems"])

    @property
    def fingerprint(self) -> str:
        return self.folder.name

    @property
    def codes(self) -> list[str]:
        """All languages, by number."""
        return list(self.about["codes"])

    @property
    def new(self) -> list[str]:
        return list(self.about["new"])

    @property
    def known(self) -> list[str]:
        return list(self.about["known"])

    @property
    def duplicates(self) -> int:
        """Pairs that were there before, word for word."""
        return int(self.about["duplicates"])

    def counts(self, split: str) -> dict[str, int]:
        """Language → pairs."""
        return dict(self.about["counts"][split])

    def split(self, name: str) -> SentencePairs:
        rows = self._array(f"{name}-rows")
        ones = np.arange(len(rows) + 1)
        known_rows = self._array("known-rows")
        return SentencePairs(
            self.name,
            ArrowTexts(self.folder / TEXTS, "new", rows),
            Codes(self.codes, self._array("languages")[rows]),
            ArrowTexts(self.folder / TEXTS, "known", known_rows),
            Codes(self.codes, self._array("known-languages")[known_rows]),
            self._array("known-hashes"),
            self._array("known-numbers")[rows],
            ones,
            self.folder,
        )

    def _array(self, name: str) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        return found

    @staticmethod
    def open(path: Path, wanted: Wanted) -> "PairStore":
        """The pairs of a file, read now if nobody has read it before. All mistakes of a user are told here."""
        files = files_of(path, wanted)
        try:
            content = [sha256(file) for file in files]
        except FileNotFoundError:
            raise UserError(f"{path}: no such file") from None
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror})") from None
        key = json.dumps([FORMAT, FEWEST, [file.name for file in files], content, asdict(wanted)])
        folder = cache_folder() / "pairs" / hashlib.sha256(key.encode()).hexdigest()[:32]
        make_once(folder, lambda place: _write(place, path, wanted))
        return PairStore(folder, path.name)


def _write(folder: Path, path: Path, wanted: Wanted) -> None:
    report, codes = Report(), _Numbers()
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / f"{name}.raw").open("wb")) for name in _RAW}
        _write_texts(folder / TEXTS, _pairs(path, wanted, report), files, codes)
    raw = {name: _mapped(folder / f"{name}.raw", dtype) for name, dtype in _RAW.items()}
    kept, _ = distinct(raw["pair-hashes"])
    first, number = distinct(raw["text-hashes"])
    count = int(first.sum())
    if count < FEWEST:
        told = f"{int(kept.sum())} pairs of {count} different known sentences; at least {FEWEST} are needed"
        if report.bad_rows:
            more = f" (and {report.bad_rows - 1:,} more bad lines)" if report.bad_rows > 1 else ""
            raise UserError(f"{report.problems[0]}{more}; {told}")
        raise UserError(f"{path.name}: {told}")
    held_out = min(MOST_HELD_OUT, count // HELD_OUT)
    drawn = number[smallest(raw["draws"], first, 2 * held_out)]
    split_of = np.zeros(count, dtype=np.int8)  # number of the known sentence → place in SPLITS
    split_of[drawn[:held_out]], split_of[drawn[held_out:]] = 1, 2
    rows = np.flatnonzero(kept)
    place = split_of[number[rows]]
    counts = {}
    for at, split in enumerate(SPLITS):
        mine = rows[place == at].astype(np.int32)
        np.save(folder / f"{split}-rows.npy", mine)
        sums = np.bincount(raw["languages"][mine], minlength=len(codes.found))
        counts[split] = {code: int(sums[number]) for code, number in codes.found.items() if sums[number]}
    known_rows = np.flatnonzero(first)
    np.save(folder / "known-rows.npy", known_rows.astype(np.int32))
    np.save(folder / "known-hashes.npy", raw["text-hashes"][known_rows])
    np.save(folder / "known-numbers.npy", number)
    for name in ("languages", "known-languages"):
        np.save(folder / f"{name}.npy", raw[name])
    for name in _RAW:
        (folder / f"{name}.raw").unlink()
    new = sorted({code for part in counts.values() for code in part})
    about = {
        "format": FORMAT,
        "codes": list(codes.found),
        "new": new,
        "known": [code for code in codes.found if code not in new],
        "counts": counts,
        "duplicates": len(kept) - int(kept.sum()),
        "problems": report.sentences(),
    }
    write_json(folder / "pairs.json", about)


#: Files that are only there while the store is made: what each pair says of itself.
_RAW: dict[str, type[np.integer[Any]]] = {
    "pair-hashes": np.uint64,
    "text-hashes": np.uint64,
    "draws": np.uint64,
    "languages": np.int16,
    "known-languages": np.int16,
}


class _Numbers:
    """A number for each code, in the order they are met."""

    def __init__(self) -> None:
        self.found: dict[str, int] = {}

    def __call__(self, code: str) -> int:
        return self.found.setdefault(code, len(self.found))


def _pairs(path: Path, wanted: Wanted, report: Report) -> Iterator[Pair]:
    """All that are right; what is wrong with the others goes into the report."""
    reader, made = reader_of(path, wanted), PairsOfRows(wanted)
    for row in reader(path, wanted):
        report.rows += 1
        try:
            if row.problem:
                raise BadRow(row.problem)
            found = list(made(row.fields))
        except Unanswered as problem:
            raise UserError(f"{path.name}: {problem}") from None
        except BadRow as problem:
            report.bad_row(f"{path.name}:{row.place}: {problem}")
            continue
        yield from found
    there = {*made.met, *made.others}
    for code in wanted.new:
        if code not in made.met and there:
            raise UserError(f'{path.name}: holds nothing in "{code}" (there is: {", ".join(sorted(there))})')


def _write_texts(path: Path, pairs: Iterator[Pair], files: Mapping[str, IO[bytes]], number: _Numbers) -> None:
    import pyarrow as pa

    schema = pa.schema([("known", pa.string()), ("new", pa.string())])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for part in _batches(pairs):
            writer.write_batch(pa.record_batch([[pair.known for pair in part], [pair.new for pair in part]], schema))
            said = [hash_of(pair.known_language, pair.known) for pair in part]
            columns: dict[str, npt.NDArray[Any]] = {
                "text-hashes": _numbers(said),
                "draws": _numbers([hash_of(pair.known) for pair in part]),
                "pair-hashes": _numbers([hash_of(*pair) for pair in part]),
                "languages": np.array([number(pair.language) for pair in part], dtype=np.int16),
                "known-languages": np.array([number(pair.known_language) for pair in part], dtype=np.int16),
            }
            for name, values in columns.items():
                files[name].write(values.tobytes())


def _mapped(path: Path, dtype: Any) -> npt.NDArray[Any]:
    return np.memmap(path, dtype=dtype, mode="r") if path.stat().st_size else np.empty(0, dtype=dtype)


def _numbers(digests: list[bytes]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)


def _batches(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    part: list[Pair] = []
    for pair in pairs:
        part.append(pair)
        if len(part) == BATCH:
            yield part
            part = []
    if part:
        yield part
