"""Rows in, a Corpus out: gives each picture its row when it is first seen."""

from pathlib import Path
from typing import Any

import numpy as np

from groundling.corpus.corpus import Corpus


class Builder:
    """Collects pictures and captions in the order they come."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._rows: dict[str, int] = {}
        self._splits: list[str] = []
        self._owners: list[int] = []
        self._languages: list[str] = []
        self._texts: list[str] = []
        self._origins: list[str] = []

    def __contains__(self, picture: str) -> bool:
        return picture in self._rows

    def __len__(self) -> int:
        """The number of captions so far."""
        return len(self._texts)

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

    def corpus(self, root: Path | None = None, info: dict[str, Any] | None = None) -> Corpus:
        return Corpus(
            name=self.name,
            pictures=np.array(list(self._rows), dtype=np.str_),
            splits=np.array(self._splits, dtype=np.str_),
            owners=np.array(self._owners, dtype=np.int64),
            languages=np.array(self._languages, dtype=np.str_),
            texts=list(self._texts),
            origins=np.array(self._origins, dtype=np.str_),
            root=root,
            info=info or {},
        )
