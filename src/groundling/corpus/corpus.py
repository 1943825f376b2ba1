"""Pictures, their captions in any number of languages, and the split each picture belongs to.

A corpus does not know which files it came from; `formats/` and `builtin/` make one, everything after reads it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from groundling.corpus.columns import Integers, Mask, Strings
from groundling.corpus.entailment import Entailments
from groundling.corpus.info import CorpusInfo
from groundling.corpus.parquet_texts import chosen
from groundling.errors import UserError

__all__ = ["ORIGINS", "SPLITS", "Corpus", "Integers", "Mask", "Strings"]

SPLITS = ("train", "dev", "test")
ORIGINS = ("human", "translation", "machine")
_BLOCK = 2**16


@dataclass(frozen=True)
class Corpus:
    """Columns of equal length: one row per picture, one row per caption.

    Attributes:
        name: what tables and runs call this corpus.
        pictures: one unique name per picture; where `root` is set, its path below `root`.
        splits: the split of each picture: "train", "dev" or "test". A caption is in its picture's split.
        owners: for each caption, the row of its picture.
        languages: for each caption, its language code ("en", "zh", …).
        texts: the captions as written.
        origins: for each caption "human", "translation" or "machine".
        root: the folder that holds the picture files; None where there are only precomputed features.
        info: what else is worth keeping: licences, which captions are fair test queries, what was left out, ….
        statements: statements about the pictures with their labels, where the corpus has any.
        different: `pictures`, once their names are known to differ, so that millions are compared once only.

    Within one picture and language the order of captions is meaningful: the first is the main one.
    """

    name: str
    pictures: Strings
    splits: Strings
    owners: Integers
    languages: Strings
    texts: Sequence[str]
    origins: Strings
    root: Path | None = None
    info: CorpusInfo = field(default_factory=CorpusInfo)
    statements: Entailments | None = None
    different: Strings | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.splits) != len(self.pictures):
            raise ValueError("splits and pictures differ in length")
        if not len(self.owners) == len(self.languages) == len(self.texts) == len(self.origins):
            raise ValueError("owners, languages, texts and origins differ in length")
        if len(self.owners) and not (self.owners.min() >= 0 and self.owners.max() < len(self.pictures)):
            raise ValueError("a caption's owner is not a row of pictures")
        if self.different is not self.pictures:
            if len(np.unique(self.pictures)) != len(self.pictures):
                raise ValueError("two pictures share a name")
            object.__setattr__(self, "different", self.pictures)
        about = None if self.statements is None else self.statements.owners
        if about is not None and len(about) and not (about.min() >= 0 and about.max() < len(self.pictures)):
            raise ValueError("a statement's owner is not a row of pictures")

    @staticmethod
    def load(name: str | Path, data: Path | None = None) -> "Corpus":
        """The corpus of this name, in this folder, or in this table (see `groundling.corpus.load`)."""
        from groundling.corpus.catalogue import load

        return load(str(name), data)

    @staticmethod
    def of(rows: Iterable[Mapping[str, Any]], pictures: str | Path, name: str = "captions") -> "Corpus":
        """Captions that a program has: rows as a table of captions has them, of files below the folder `pictures`.

        >>> rows = [{"picture": "dog.jpg", "language": "en", "text": "A dog on the beach.", "split": "train"}]
        >>> Corpus.of(rows, "photos")  # doctest: +SKIP
        Corpus captions: 1 picture (train 1), 1 caption (en 1)
        """
        from groundling.corpus.formats.caption_table import from_rows

        return from_rows(rows, Path(pictures), name)

    def __len__(self) -> int:
        """The number of captions."""
        return len(self.texts)

    def __repr__(self) -> str:
        splits = {name: int((self.splits == name).sum()) for name in SPLITS}
        languages = tally(self.languages)
        parts = [_counted(len(self.pictures), "picture", splits), _counted(len(self), "caption", dict(languages))]
        if self.statements is not None:
            parts.append(_counted(len(self.statements), "statement", {}))
        return f"Corpus {self.name}: {', '.join(parts)}"

    def frame(self) -> Any:
        """A pandas table with a row for each caption, as `Corpus.of` takes them."""
        try:
            import pandas
        except ImportError:
            raise UserError("a corpus as a table needs pandas: pip install pandas") from None
        columns = {"picture": self.pictures[self.owners], "language": self.languages, "text": self.texts}
        return pandas.DataFrame({**columns, "split": self.splits[self.owners], "origin": self.origins})

    def all_languages(self) -> list[str]:
        """Language codes, the one with most captions first; ties by name."""
        counts = tally(self.languages)
        return sorted(counts, key=lambda code: (-counts[code], code))

    def path(self, row: int) -> Path | None:
        """The file of picture `row`, where the corpus has files."""
        return None if self.root is None else self.root / str(self.pictures[row])

    def keep_captions(self, keep: Mask) -> "Corpus":
        """The same pictures with only the captions under the mask."""
        rows = np.flatnonzero(keep)
        return replace(
            self,
            owners=self.owners[rows],
            languages=self.languages[rows],
            texts=chosen(self.texts, rows),
            origins=self.origins[rows],
        )

    def keep_pictures(self, keep: Mask) -> "Corpus":
        """Only the pictures under the mask, and their captions; rows are numbered anew, order is kept."""
        new_row = np.cumsum(keep) - 1
        kept, pictures = self.keep_captions(keep[self.owners]), self.pictures[keep]
        return replace(
            kept,
            pictures=pictures,
            different=pictures,
            splits=self.splits[keep],
            owners=new_row[kept.owners].astype(np.int64),
            statements=None if self.statements is None else self.statements.keep_pictures(keep),
        )

    def split(self, name: str) -> "Corpus":
        """One split, pictures and captions."""
        return self.keep_pictures(self.splits == name)

    def only(self, languages: list[str]) -> "Corpus":
        """Captions and statements in these languages; pictures left without any stay (they belong to the gallery)."""
        kept = self.keep_captions(np.isin(self.languages, languages))
        return replace(kept, statements=None if self.statements is None else self.statements.only(languages))

    def judged(self) -> "Corpus":
        """The statements in the place of the captions, so that all that reads captions reads them.

        Caption i is then statement i, whose class is `classes()[i]`.
        """
        if self.statements is None or not len(self.statements):
            raise UserError(
                f"corpus {self.name} has no statements with labels to judge (see `corpus list`: scenes has)"
            )
        return replace(
            self,
            owners=self.statements.owners,
            languages=self.statements.languages,
            texts=self.statements.texts,
            origins=np.full(len(self.statements), "human"),
            info=self.info.of_statements(),
        )

    def classes(self) -> Integers:
        """The classes of statements that stand in the place of captions (see `judged`)."""
        if self.statements is None or len(self.statements) != len(self):
            raise ValueError("no statements stand in the place of captions here")
        return self.statements.classes()

    def is_first(self) -> Mask:
        """For each caption, whether it is the first of its picture and language."""
        codes, number = self.all_languages(), np.zeros(len(self), dtype=np.int64)
        for place, code in enumerate(codes):
            number[self.languages == code] = place
        first = np.zeros(len(self), dtype=bool)
        first[np.unique(self.owners * len(codes) + number, return_index=True)[1]] = True
        return first

    def is_query(self, captions: str | None = None) -> Mask:
        """For each caption, whether it is a fair test query: "first", "all", or (None) what the corpus itself says."""
        which = captions or self.info.queries
        return self.is_first() if which == "first" else np.ones(len(self), dtype=bool)

    def queries(self, captions: str | None = None) -> "Corpus":
        """Only the captions that are fair test queries."""
        return self.keep_captions(self.is_query(captions))

    def counts(self) -> dict[str, dict[str, int]]:
        """Split → number of pictures and of captions per language."""
        table: dict[str, dict[str, int]] = {}
        codes = self.all_languages()
        for split in SPLITS:
            in_split = self.splits == split
            languages = tally(self.languages[in_split[self.owners]])
            table[split] = {"pictures": int(in_split.sum()), **{code: languages[code] for code in codes}}
        return table


def tally(column: Strings) -> Counter[str]:
    """How often each value is there; a block at a time, for there may be millions of a few different ones."""
    counts: Counter[str] = Counter()
    for start in range(0, len(column), _BLOCK):
        values, times = np.unique(column[start : start + _BLOCK], return_counts=True)
        counts.update(dict(zip(values.tolist(), times.tolist(), strict=True)))
    return counts


def _counted(number: int, what: str, of: dict[str, int]) -> str:
    """ "3 pictures (train 2, test 1)", the largest part first."""
    inside = ", ".join(f"{name} {count:,}" for name, count in sorted(of.items(), key=lambda part: -part[1]) if count)
    return f"{number:,} {what}{'' if number == 1 else 's'}{f' ({inside})' if inside else ''}"
