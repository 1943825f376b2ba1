"""Sentences of many lengths as entries one after the other, in memory or memory-mapped: no padding is kept."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.batches.stream import Rows
from groundling.files import make_once
from groundling.progress import bar
from groundling.text import Tokeniser

CHUNK = 2**15  # sentences that are cut together


@dataclass(frozen=True)
class Ragged:
    """Attributes:
    flat: the entries of all sentences.
    ends: [sentences + 1] where those of each begin, and where the last ends.
    spellings: [words, letters] where words are read letter by letter: entries are its rows.
    """

    flat: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int64]
    spellings: npt.NDArray[np.int32] | None

    def __len__(self) -> int:
        return len(self.ends) - 1

    def lengths(self, rows: Rows) -> Rows:
        found: Rows = self.ends[rows + 1] - self.ends[rows]
        return found

    def padded(self, rows: Rows, longest: int) -> npt.NDArray[np.int32]:
        """[rows, longest], or spelled out [rows, longest, letters], as a text encoder reads them; padding is 0."""
        lengths = self.lengths(rows)
        ids = np.zeros((len(rows), longest), dtype=np.int32)
        inside = np.arange(longest) < lengths[:, None]
        places = self.ends[rows][:, None] + np.arange(longest)
        ids[inside] = self.flat[places[inside]]
        return ids if self.spellings is None else self.spellings[ids]

    @staticmethod
    def cut(tokeniser: Tokeniser, texts: Sequence[str], languages: Sequence[str], folder: Path | None) -> "Ragged":
        """Texts as a tokeniser cuts them. With a `folder` they are kept below it, and found again by the tokeniser."""
        if folder is None:
            return _arrays(tokeniser, texts, languages)
        said = json.dumps(tokeniser.to_json(), sort_keys=True, ensure_ascii=False)
        place = folder / f"tokens-{hashlib.sha256(said.encode()).hexdigest()[:24]}-{len(texts)}"
        make_once(place, lambda made: _write(made, tokeniser, texts, languages))
        flat = np.load(place / "flat.npy", mmap_mode="r", allow_pickle=False)
        spelled = place / "spellings.npy"
        return Ragged(flat, np.load(place / "ends.npy"), np.load(spelled) if spelled.exists() else None)


def _arrays(tokeniser: Tokeniser, texts: Sequence[str], languages: Sequence[str]) -> Ragged:
    spelling, parts, lengths = _Spelling(tokeniser.letters), [], []
    for entries, long in _cut(tokeniser, texts, languages, spelling):
        parts.append(entries)
        lengths.append(long)
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
    return Ragged(flat, _ends(lengths), spelling.table())


def _write(folder: Path, tokeniser: Tokeniser, texts: Sequence[str], languages: Sequence[str]) -> None:
    spelling, lengths = _Spelling(tokeniser.letters), []
    with (folder / "flat.raw").open("wb") as file:
        for entries, long in _cut(tokeniser, texts, languages, spelling):
            file.write(entries.tobytes())
            lengths.append(long)
    ends = _ends(lengths)
    raw = np.memmap(folder / "flat.raw", dtype=np.int32, mode="r") if ends[-1] else np.empty(0, dtype=np.int32)
    np.save(folder / "flat.npy", raw)
    (folder / "flat.raw").unlink()
    np.save(folder / "ends.npy", ends)
    table = spelling.table()
    if table is not None:
        np.save(folder / "spellings.npy", table)


def _cut(tokeniser: Tokeniser, texts: Sequence[str], languages: Sequence[str], spelling: "_Spelling") -> Any:
    with bar("Cutting sentences into words", len(texts)) as progress:
        for start in range(0, len(texts), CHUNK):
            part = texts[start : start + CHUNK]
            tokens = tokeniser.encode(part, languages[start : start + CHUNK])
            ids = tokens.ids if tokens.spellings is None else spelling(tokens.spellings)[tokens.ids]
            yield ids[np.arange(ids.shape[1]) < tokens.lengths[:, None]], tokens.lengths
            progress.advance(len(part))


def _ends(lengths: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.concatenate(lengths))]) if lengths else np.zeros(1, dtype=np.int64)


class _Spelling:
    """One table of spelled words from those of many chunks; word 0 is the padding.

    Args:
        letters: of each word; none: as many as the longest one has.
    """

    def __init__(self, letters: int | None) -> None:
        self.letters = letters
        self.rows: dict[bytes, int] = {}

    def __call__(self, spellings: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """[words of a chunk] → their rows in the table."""
        return np.array(
            [self.rows.setdefault(np.trim_zeros(word, "b").tobytes(), len(self.rows)) for word in spellings],
            dtype=np.int32,
        )

    def table(self) -> npt.NDArray[np.int32] | None:
        if not self.rows:
            return None
        words = [np.frombuffer(word, dtype=np.int32) for word in self.rows]
        width = self.letters or max(1, max(map(len, words)))
        table = np.zeros((len(words), width), dtype=np.int32)
        for row, word in enumerate(words):
            table[row, : len(word)] = word
        return table
