"""Translations that a model made, kept on disk: each text is translated once.

They are written in parts of some dozens, each a JSON file whose name is a checksum of its content. A process that is
killed loses the part in hand; one that was damaged is reported, removed and made again.
"""

import hashlib
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from groundling.files import cache_folder, write_text
from groundling.progress import bar

PART = 64  # translations
BATCH = 32


class Costly(Protocol):
    """A source that takes its time."""

    name: str

    def key(self, source: str, target: str) -> str:
        """What its translations depend on: the same key, the same translations."""
        ...

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]: ...


class Remembered:
    """A source whose translations are kept in `translations/` of the cache folder."""

    origin = "machine"

    def __init__(self, source: Costly, folder: Path | None = None) -> None:
        self.source, self.folder, self.name = source, folder, source.name

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        base = self.folder or cache_folder() / "translations"
        place = base / f"{source}-{target}-{self.source.key(source, target)[:16]}"
        known = _read_all(place)
        new = sorted({text for text in texts if text not in known}, key=lambda text: (len(text), text))
        part: dict[str, str | None] = {}
        try:
            with bar(f"Translating {source} → {target}", len(new)) as progress:
                for start in range(0, len(new), BATCH):  # of like length, so that little of a batch is padding
                    batch = new[start : start + BATCH]
                    part |= dict(zip(batch, self.source.translate(batch, source, target), strict=True))
                    if len(part) >= PART:
                        known |= _write(place, part)
                        part = {}
                    progress.advance(len(batch))
        finally:
            known |= _write(place, part)
        return [known[text] for text in texts]


def _write(place: Path, part: dict[str, str | None]) -> dict[str, str | None]:
    if part:
        text = json.dumps(list(part.items()), ensure_ascii=False, indent=0)
        write_text(place / f"{_checksum(text)}.json", text)
    return part


def _read_all(place: Path) -> dict[str, str | None]:
    known: dict[str, str | None] = {}
    for path in sorted(place.glob("*.json")):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # another process has just removed it as damaged
            continue
        text = data.decode("utf-8", errors="replace")
        if _checksum(text) != path.stem:
            warnings.warn(f"{path}: damaged translations removed; they are made again", stacklevel=3)
            path.unlink(missing_ok=True)
        else:
            known |= dict(json.loads(text))
    return known


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
