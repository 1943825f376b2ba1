"""Where sentence pairs come from: a file that was read into a store, or the captions of a corpus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from groundling.corpus.corpus import Corpus
from groundling.corpus.pairs.pairs import SentencePairs


class PairSource(Protocol):
    """Attributes:
    new, known: the languages that shall be learned, and those of the known sentences.
    fingerprint: of what was read, where it was a file.
    """

    @property
    def new(self) -> list[str]: ...

    @property
    def known(self) -> list[str]: ...

    @property
    def fingerprint(self) -> str | None: ...

    def split(self, name: str) -> SentencePairs: ...


@dataclass(frozen=True)
class CorpusPairs:
    """The captions of a corpus whose "pictures" are meanings (see `sentence_pairs`)."""

    corpus: Corpus
    languages: Sequence[str]

    @property
    def new(self) -> list[str]:
        return list(self.languages)

    @property
    def known(self) -> list[str]:
        return [code for code in self.corpus.all_languages() if code not in self.languages]

    @property
    def fingerprint(self) -> None:
        return None

    def split(self, name: str) -> SentencePairs:
        return SentencePairs.of_corpus(self.corpus.split(name), self.languages)
