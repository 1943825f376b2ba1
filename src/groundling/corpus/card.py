"""corpus.json: what a corpus in a folder is, written last; it vouches for the tables beside it by their checksums."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError
from groundling.files import check_checksum, read_json, with_checksum

FILE = "corpus.json"
TABLES, SHARDS = 1, 2  # formats: of a corpus that is held in memory, and of one of any size
KINDS: Mapping[str, type | tuple[type, ...]] = {
    "name": str,
    "counts": dict,
    "root": (str, type(None)),
    "sha256": dict,
    "info": dict,
}


@dataclass(frozen=True)
class Counts:
    """How much there is of everything.

    Attributes:
        languages: of shards, those of the captions, by the numbers that stand for them.
        splits: of shards, pictures and captions of each language, by split.
    """

    pictures: int
    captions: int
    statements: int | None = None
    languages: list[str] | None = None
    splits: dict[str, dict[str, int]] | None = None

    def to_json(self) -> dict[str, object]:
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Card:
    """
    Attributes:
        format: TABLES or SHARDS.
        name: of the corpus.
        counts: what the files hold.
        root: the folder of the pictures, from that of the corpus where it is below it.
        sha256: of each file.
        info: what else is known of the corpus.
    """

    format: int
    name: str
    counts: Counts
    root: str | None
    sha256: dict[str, str]
    info: CorpusInfo

    def to_json(self) -> dict[str, object]:
        told = {**vars(self), "counts": self.counts.to_json(), "info": self.info.to_json()}
        return with_checksum(told)

    @staticmethod
    def read(path: Path) -> "Card":
        card = check_checksum(read_json(path), path)
        if not isinstance(card, dict) or "format" not in card:
            raise UserError(f"{path}: not the description of a corpus; build it again")
        if card["format"] not in (TABLES, SHARDS):
            raise UserError(
                f"{path}: format {card['format']}, and this version of groundling reads {TABLES} and {SHARDS}; "
                "build it again"
            )
        for key, kind in KINDS.items():
            if key not in card or not isinstance(card[key], kind):
                raise UserError(f'{path}: "{key}" is missing or not what it should be; build the corpus again')
        try:
            counts, info = Counts(**card["counts"]), CorpusInfo.from_json(card["info"])
        except TypeError as error:
            raise UserError(f"{path}: not the description of a corpus ({error}); build it again") from None
        return Card(card["format"], card["name"], counts, card["root"], card["sha256"], info)

    def root_in(self, folder: Path) -> Path | None:
        return None if self.root is None else (folder / self.root).resolve()
