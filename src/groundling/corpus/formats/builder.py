"""Rows in, a Corpus out: gives each picture its row when it is first seen."""

from pathlib import Path

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.entailment import Entailments
from groundling.corpus.info import CorpusInfo


class Builder:
    """Collects pictures, captions and statements in the order they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rows: dict[str, int] = {}
        self._splits: list[str] = []
        self._owners: list[int] = []
        self._languages: list[str] = []
        self._texts: list[str] = []
        self._origins: list[str] = []
        self._statements: list[tuple[int, str, str, str, str]] = []

    def __contains__(self, picture: str) -> bool:
        return picture in self._rows

    def __len__(self) -> int:
        """The number of captions and statements so far."""
        return len(self._texts) + len(self._statements)

    def picture(self, name: str, split: str) -> int:
        """The row of a picture; its split is the one it came with first."""
        row = self._rows.setdefault(name, len(self._rows))
        if row == len(self._splits):
            self._splits.append(split)
        return row

    def caption(self, owner: int, language: str, text: str, origin: str = "human") -> None:
        self._owners.append(owner)
        self._languages.append(language)
        self._texts.append(text)
        self._origins.append(origin)

    def statement(self, owner: int, language: str, text: str, label: str, name: str = "") -> None:
        """A statement with its label; `name` is what it shares with its translations, its number when left out."""
        self._statements.append((owner, language, text, label, name or str(len(self._statements))))

    def split_of(self, picture: str) -> str:
        return self._splits[self._rows[picture]]

    def corpus(self, root: Path | None = None, info: CorpusInfo = CorpusInfo()) -> Corpus:
        return Corpus(
            name=self.name,
            pictures=np.array(list(self._rows), dtype=np.str_),
            splits=np.array(self._splits, dtype=np.str_),
            owners=np.array(self._owners, dtype=np.int64),
            languages=np.array(self._languages, dtype=np.str_),
            texts=list(self._texts),
            origins=np.array(self._origins, dtype=np.str_),
            root=root,
            info=info,
            statements=self._entailments() if self._statements else None,
        )

    def _entailments(self) -> Entailments:
        owners, languages, texts, labels, names = zip(*self._statements, strict=True)
        return Entailments(
            np.array(owners, dtype=np.int64), np.array(languages), list(texts), np.array(labels), np.array(names)
        )
