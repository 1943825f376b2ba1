"""Captions as numbers, and what cuts them: a padded matrix of entries, and a tokeniser that knows its own words."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.vocabulary import PAD

ANY = 0  # letters to a word: as many as the longest one has


@dataclass(frozen=True)
class Tokens:
    """`ids[i, :lengths[i]]` are the entries of caption i; what follows is padding (0).

    Where words are read letter by letter, `spellings[w]` are the letters of word w and `ids` are rows of it.
    """

    ids: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    spellings: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True)
class TokenizerRules:
    """A tokeniser as the package `tokenizers` has it, for programs that know no other.

    Attributes:
        rules: what stands in its tokenizer.json.
        pad, pad_row: the symbol that fills up shorter captions, and its row.
        longest: entries of a caption that are read, with the marks at its ends.
        notes: what is read otherwise all the same.
    """

    rules: str
    pad: str
    pad_row: int
    longest: int
    notes: tuple[str, ...] = ()


class Tokeniser(ABC):
    """What a text encoder reads with. It is saved with the model as plain JSON, and needs no torch.

    The abstract methods are enough for training. The others have answers that are safe for any tokeniser; one that
    knows better overrides them, and can then be aligned word by word, started from, and asked which words it knows.

    Class attributes:
        kind: the name under which its JSON is found again.
        pretrained: whether it may have met languages that no caption of ours is in.
        exports_entries: whether what was exported gives the very same entries, rather than vectors.

    Attributes:
        settings: how captions are cut into words.
    """

    kind: ClassVar[str]
    pretrained: ClassVar[bool] = False
    exports_entries: ClassVar[bool] = True
    settings: TextSettings

    @property
    @abstractmethod
    def size(self) -> int:
        """Rows of the table that its entries point to."""

    @abstractmethod
    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens: ...

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """What `from_json` needs; under "kind" stands the class's own."""

    @classmethod
    @abstractmethod
    def from_json(cls, value: dict[str, Any]) -> Self: ...

    def exported(self) -> dict[str, object]:
        """What is written beside an exported model: all that it knows, and nothing that lies elsewhere."""
        return self.to_json()

    def tokenizer_rules(self) -> TokenizerRules:
        """The same as tokenizer.json; an error where that cannot say it."""
        raise UserError(
            f"a tokeniser of kind {self.kind} reads captions in a way that no tokenizer.json can say: those of words "
            "and of word pieces can be written as one"
        )

    @property
    def letters(self) -> int | None:
        """Letters of each word: so many, ANY, or None where whole words are read and `Tokens.spellings` is None."""
        return None

    @property
    def symbols(self) -> Sequence[int]:
        """Entries that stand for no word, such as the start and the end of a caption."""
        return ()

    @property
    def codes(self) -> list[str]:
        """Languages that it surely reads; most tokenisers read any."""
        return ["en"]

    def readers(self) -> "list[Tokeniser]":
        """All that read for a model, the first one first: another one for each language that it was taught later."""
        return [self]

    def reader_of(self, language: str) -> int:
        """Who of `readers` reads a language."""
        return 0

    def reader_languages(self) -> list[list[str]]:
        """For each of `readers` the languages that only it reads; none for the first, who reads all that are left."""
        return [[]]

    def spans(self, text: str, language: str) -> tuple[list[str], list[int]]:
        """The words of a caption as they are read here, and where the entries of each begin."""
        raise UserError(
            "system.aligner: an encoder can align what encoders of words, letters and word pieces read, and this "
            "teacher reads something else; use counts"
        )

    def row_names(self) -> Mapping[str, int]:
        """What each row of the table stands for, so that another table can take over rows that mean the same."""
        return {}

    def listed_words(self) -> Mapping[str, Sequence[str]] | None:
        """Words that have a row of their own, by language, under "" where languages share them; None: no such list."""
        return None

    def known_words(self, words: Iterable[str]) -> set[str] | None:
        """Those of the words that it knows; None where it has no words."""
        listed = self.listed_words()
        return None if listed is None else {word for known in listed.values() for word in known}.intersection(words)

    def known_letters(self) -> set[str] | None:
        """Letters that were met in training; None where that cannot be told."""
        listed = self.listed_words()
        return None if listed is None else {letter for known in listed.values() for word in known for letter in word}

    def all_words(self) -> frozenset[str] | None:
        """All words that it knows, those of all `readers`; None where one of these may know more than it lists."""
        listed = [None if reader.pretrained else reader.listed_words() for reader in self.readers()]
        if any(words is None for words in listed):
            return None
        return frozenset(word for words in listed if words is not None for known in words.values() for word in known)

    def __deepcopy__(self, memo: object) -> Self:
        """A tokeniser never changes, so that copies of an encoder share it."""
        return self


def pad(lines: Sequence[Sequence[int]]) -> Tokens:
    """Lines of entries as a matrix.

    >>> pad([[5, 6, 7], [8]]).ids.tolist()
    [[5, 6, 7], [8, 0, 0]]
    """
    lengths = np.array([len(line) for line in lines], dtype=np.int64)
    ids = np.full((len(lines), max(1, int(lengths.max(initial=0)))), PAD, dtype=np.int32)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = (
        np.concatenate([np.asarray(line, dtype=np.int32) for line in lines]) if len(lines) else []
    )
    return Tokens(ids, lengths)
