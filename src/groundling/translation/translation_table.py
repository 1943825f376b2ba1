"""A table of translations: tab-separated lines of source language, target language, text, translation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.errors import UserError
from groundling.files import atomic_path, remove_leftovers

HEADER = ("source", "target", "text", "translation")

Line = tuple[str, str, str, str]


@dataclass(frozen=True)
class Table:
    """Translations by language pair and text; where a text is there twice, its first translation counts.

    Texts are compared without regard to the kind and number of blanks.
    """

    name: str
    pairs: dict[tuple[str, str], dict[str, str]]
    origin: str = "machine"

    @staticmethod
    def of(name: str, lines: Iterable[Line]) -> "Table":
        pairs: dict[tuple[str, str], dict[str, str]] = {}
        for source, target, text, translation in lines:
            pairs.setdefault((source, target), {}).setdefault(plain(text), translation)
        return Table(name, pairs)

    @staticmethod
    def read(path: Path) -> "Table":
        """The table in a .tsv file, which may be gzipped; a first line of `source target text translation` is a
        header."""
        lines = []
        for number, line in numbered_lines(path):
            fields = line.rstrip("\r\n").split("\t")
            if not line.strip() or (number == 1 and tuple(field.strip().lower() for field in fields) == HEADER):
                continue
            if len(fields) != len(HEADER):
                raise UserError(
                    f"{path.name}:{number}: {len(fields)} columns, where {', '.join(HEADER)} are needed, with tabs "
                    "between them"
                )
            try:
                source, target = checks.language_code(fields[0]), checks.language_code(fields[1])
                lines.append((source, target, checks.caption_text(fields[2]), checks.caption_text(fields[3])))
            except BadRow as problem:
                raise UserError(f"{path.name}:{number}: {problem}") from None
        if not lines:
            raise UserError(f"{path}: holds no translation")
        return Table.of(str(path), lines)

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        known = self.pairs.get((source, target), {})
        return [known.get(plain(text)) for text in texts]


def write(path: Path, lines: Iterable[Line]) -> None:
    """A table that `Table.read` reads; blanks that would break a line become spaces."""
    remove_leftovers(path.parent, path.name)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for line in (HEADER, *lines):
            file.write("\t".join(plain(field) for field in line) + "\n")


def plain(text: str) -> str:
    return " ".join(text.split())
