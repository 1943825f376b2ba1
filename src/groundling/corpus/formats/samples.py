"""Pictures with their captions as files hold them that are made to be read once, from beginning to end.

A format of such files is a `SampleFormat`, and a line in `sources`.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from groundling.corpus.formats.checks import BadRow, language_code
from groundling.errors import UserError

MOST_BYTES = 64 * 2**20  # of one picture; a photo of 100 megapixels has less
MOST_TEXT = 2**20  # bytes of the captions and notes about one picture
_SPLIT = re.compile(r"(?:^|[_.-])(train|val|valid|validation|dev|test)(?=$|[_.\-\d])", re.IGNORECASE)
_BY_LANGUAGE = re.compile(r"(?:text|caption|sentence)s?[_-]([a-z]{2,3}(?:-[a-z0-9]{2,8})*)")
_TEXTS = ("captions", "caption", "text", "texts", "sentences", "sentence", "alt_text", "top_caption")


class Sample(NamedTuple):
    """One picture with its captions.

    Attributes:
        where: the file and the place in it, for whoever must find it.
        rows: for each caption its fields, as a table of captions has them.
        picture: the bytes of the picture; None where each row names a file below the folder that is read, or that the
            file lies in.
        problem: why nothing can be made of it.
    """

    where: str
    rows: tuple[Mapping[str, object], ...] = ()
    picture: bytes | None = None
    problem: str = ""


class SampleFormat(NamedTuple):
    """Attributes:
    about: what it is, in a few words.
    suits: whether a path is one of these files (or folders), by its name and its first bytes.
    read: what is in it; the second argument is the language of captions that do not say theirs.
    """

    about: str
    suits: Callable[[Path], bool]
    read: Callable[[Path, str], Iterator[Sample]]


def captions_in(fields: Mapping[str, object], where: str, language: str) -> list[dict[str, object]]:
    """Rows for the captions among the fields that a sample has, under one of the usual names.

    A caption is a text, a list of texts, or texts by language; "captions": {"en": "…", "de": ["…", "…"]}. One that does
    not say its language has that of the sample ("language"), or `language`; beside fields of single languages
    ("caption_de") it is read where its language is known and has no such field.
    """
    plain = {str(key).strip().casefold(): value for key, value in fields.items()}
    said = plain.get("language") or plain.get("lang")
    code = said if isinstance(said, str) else language
    rows = [
        {"language": found[1], "text": text}
        for key, value in plain.items()
        if (found := _BY_LANGUAGE.fullmatch(key)) and _is_language(found[1])
        for text in _listed(value)
    ]
    named = {str(row["language"]) for row in rows}
    for row in _without_names(plain, code):
        if not row["language"] and not named:
            raise UserError(f"{where}: the captions do not say their language; give --language, for example en")
        if row["language"] and row["language"].strip().casefold() not in named:
            rows.append(row)
    common = {name: plain[name] for name in ("split", "origin") if isinstance(plain.get(name), str)}
    return [{**common, **row} for row in rows]


def _without_names(fields: Mapping[str, object], code: str) -> list[dict[str, Any]]:
    """Captions in the first field of a usual name that has any; they are in `code` where they do not say theirs."""
    for name in _TEXTS:
        value = fields.get(name)
        by_language = value if isinstance(value, dict) else {code: value}
        rows = [{"language": str(key), "text": text} for key, texts in by_language.items() for text in _listed(texts)]
        if rows:
            return rows
    return []


def split_of(path: Path) -> str:
    """The split that a file is named by, or else its folder ("train-00001.tar", "val/00001.tar"); "" for none."""
    found = _SPLIT.search(path.name) or _SPLIT.fullmatch(path.parent.name)
    return found[1].lower() if found else ""


def _listed(value: Any) -> list[Any]:
    """Texts, of which there may be one, several or none; what is no text is left to the check of the row."""
    return [] if value is None or value == "" else list(value) if isinstance(value, (list, tuple)) else [value]


def _is_language(code: str) -> bool:
    try:
        language_code(code)
    except BadRow:
        return False
    return True
