"""Captions as tokens that stay in files: what a step needs of them is read when it is needed.

A corpus that lies in files is cut into words once. The entries of all captions one after the other, and where each
begins (see `ragged`), are .npy files in the cache, found again by what the corpus and the tokeniser are.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.batches.ragged import Ragged
from groundling.corpus.pairs.distinct import distinct, hash_of
from groundling.corpus.parquet_texts import ParquetTexts
from groundling.corpus.texts import Codes
from groundling.files import cache_folder
from groundling.text import Tokeniser

_BLOCK = 2**16  # captions

Numbers = npt.NDArray[np.int64]


class MappedIds:
    """The matrix [captions, longest] of padded entries that training data have, of which only parts are ever made."""

    def __init__(self, tokens: Ragged, device: torch.device) -> None:
        self.tokens, self.device = Ragged(tokens.flat, tokens.ends, None), device
        self.shape = (len(tokens), int(np.diff(tokens.ends).max(initial=1)))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Tensor | tuple[Tensor, slice]) -> Tensor:
        """`ids[rows]` or `ids[rows, :longest]`, as of a tensor."""
        rows, longest = (key[0], key[1].stop) if isinstance(key, tuple) else (key, None)
        places = rows.cpu().numpy()
        padded = self.tokens.padded(places.reshape(-1), min(longest or self.shape[1], self.shape[1]))
        return torch.from_numpy(padded.reshape(*places.shape, padded.shape[1])).to(self.device)

    def on(self, device: torch.device) -> Tensor:
        """All of it on a device, where there is room for it; only a block at a time is made here."""
        made = torch.empty(self.shape, dtype=torch.int32, device=device)
        for start in range(0, len(self), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(self)))
            made[start : start + len(rows)] = torch.from_numpy(self.tokens.padded(rows, self.shape[1])).to(device)
        return made

    def cpu(self) -> Tensor:
        return self.on(torch.device("cpu"))


def cut_once(tokeniser: Tokeniser, texts: ParquetTexts, codes: Sequence[str], languages: Numbers) -> Ragged:
    """The captions of a corpus in files as a tokeniser cuts them, from the cache, or cut now and kept there.

    `languages` are numbers into `codes`.
    """
    return Ragged.cut(tokeniser, texts, Codes(codes, languages), cache_folder() / "tokens" / texts.fingerprint())


def text_numbers(texts: Sequence[str]) -> Numbers:
    """A number for each text, the same for the same text, without all of them in memory."""
    hashes = np.empty(len(texts), dtype=np.uint64)
    for start in range(0, len(texts), _BLOCK):
        digests = b"".join([hash_of(text) for text in texts[start : start + _BLOCK]])
        hashes[start : start + _BLOCK] = np.frombuffer(digests, dtype=">u8")
    return distinct(hashes)[1].astype(np.int64)
