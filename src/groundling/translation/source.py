"""Where translations come from, by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from groundling.corpus import catalogue
from groundling.errors import UserError

WAYS = "a table (translations.tsv), corpus:NAME, hub:NAME, ctranslate2:NAME, or the folder of a model"


class TranslationSource(Protocol):
    """Something that knows what a text is in another language."""

    @property
    def name(self) -> str:
        """What results and corpora say of it."""
        ...

    @property
    def origin(self) -> str:
        """Whose work its translations are: "translation" of people, or "machine"."""
        ...

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        """Each text of language `source` in language `target`; None where it has no translation."""
        ...


def by_name(name: str, data: Path | None = None, device: str = "cpu") -> TranslationSource:
    """A source as commands name it: a table, `corpus:NAME`, `hub:NAME`, `ctranslate2:NAME`, or the folder of a model.

    `{from}` and `{to}` in the name of a model stand for the languages, for models of a single pair.
    """
    kind, _, rest = name.partition(":")
    if kind == "corpus" and rest:
        from groundling.translation.parallel import ParallelCaptions

        return ParallelCaptions(catalogue.load(rest, data=data))
    path = Path(name).expanduser()
    if path.is_file():
        from groundling.translation.translation_table import Table

        return Table.read(path)
    converted = kind == "ctranslate2" and bool(rest)
    if converted or (path / "model.bin").is_file():
        from groundling.translation.ctranslate import CTranslator, is_converted
        from groundling.translation.memory import Remembered

        if converted or is_converted(path):
            return Remembered(CTranslator(rest if converted else name, device))
    if (kind == "hub" and rest) or path.is_dir() or "{to}" in name or "{from}" in name:
        from groundling.translation.memory import Remembered
        from groundling.translation.model import Translator

        return Remembered(Translator(rest if kind == "hub" else name, device))
    if path.suffix in (".tsv", ".gz") or "/" in name:
        raise UserError(f"{name}: no such file or folder; translations come from {WAYS}")
    raise UserError(f'"{name}" is no source of translations: give {WAYS}')
