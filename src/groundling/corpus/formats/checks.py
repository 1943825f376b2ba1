"""What a field of a row may hold. Each check returns the field in our form, or says in a few words what is wrong."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache, partial
from pathlib import PurePosixPath, PureWindowsPath

from groundling.corpus.corpus import ORIGINS, SPLITS
from groundling.errors import did_you_mean

LONGEST_TEXT = 10_000  # characters; a caption is a sentence or two, more is a table read with the wrong columns
_OTHER_SPLIT_NAMES = {"val": "dev", "valid": "dev", "validation": "dev"}
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*", re.IGNORECASE | re.ASCII)
# All of ISO 639-1. Longer codes, of which there are thousands, are taken as they are.
_TWO_LETTERS = (
    " aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el "
    "en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja "
    "jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd "
    "ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr "
    "ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "
)


class BadRow(Exception):
    """What is wrong with one row, without its place: whoever reads the file knows the file and the line."""


def needed_field(fields: Mapping[str, object], name: str) -> str:
    """A field that must be there and hold text."""
    if name not in fields:
        raise BadRow(f'no field "{name}"{did_you_mean(name, fields)}')
    value = fields[name]
    if value is None:
        raise BadRow(f'"{name}" is missing')
    if not isinstance(value, str):
        raise BadRow(f'"{name}" must be text, not {type(value).__name__}')
    return value


def optional_field(fields: Mapping[str, object], name: str) -> str:
    """A field that may be left out, null or blank, all of which are ""."""
    return "" if fields.get(name) is None else needed_field(fields, name).strip()


def caption_text(text: str) -> str:
    """The caption as written; blank, over-long and unwritable ones are refused."""
    if not text.strip():
        raise BadRow("the text is empty")
    if len(text) > LONGEST_TEXT:
        raise BadRow(f"the text has {len(text):,} characters, more than {LONGEST_TEXT:,}")
    _writable(text, "text")
    return text


@lru_cache(maxsize=1024)
def language_code(code: str) -> str:
    """A code such as "en", "zh" or "pt-BR" in its usual case, so that "EN" and "en" are one language."""
    code = code.strip()
    if not _LANGUAGE.fullmatch(code):
        raise BadRow(f'language "{short(code)}" is not a code such as "en", "zh" or "pt-BR"')
    language, *rest = code.split("-")
    if len(language) == 2 and f" {language.lower()} " not in _TWO_LETTERS:
        raise BadRow(f'language "{short(code)}" is none: no language has the code "{language.lower()}" (ISO 639)')
    usual = {2: str.upper, 4: str.title}  # a country, a script
    return "-".join([language.lower(), *(usual.get(len(part), str.lower)(part) for part in rest)])


def split_name(split: str) -> str:
    """ "train", "dev" or "test"; the other usual names of the development set are understood."""
    name = split.strip().casefold()
    name = _OTHER_SPLIT_NAMES.get(name, name)
    if name not in SPLITS:
        raise BadRow(f'unknown split "{short(split)}"{did_you_mean(name, [*SPLITS, *_OTHER_SPLIT_NAMES])}')
    return name


def one_of(known: Collection[str], what: str, given: str) -> str:
    """A name that must be one of those that are known, whatever its letters' case."""
    name = given.strip().casefold()
    if name not in known:
        raise BadRow(f'unknown {what} "{short(given)}"{did_you_mean(name, known)}')
    return name


origin_name = partial(one_of, ORIGINS, "origin")


@lru_cache(maxsize=65_536)  # the rows of one picture are many, and paths are slow to take apart
def picture_name(name: str) -> str:
    """A path below the table's folder, written one way only ("./a.jpg" and "a.jpg" are one picture)."""
    if not name.strip():
        raise BadRow("the picture is empty")
    if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute():
        raise BadRow(f'picture "{short(name)}" is an absolute path; write it relative to the table')
    if ".." in PurePosixPath(name).parts or ".." in PureWindowsPath(name).parts:
        raise BadRow(f'picture "{short(name)}" leads out of the folder; put the table beside or above the pictures')
    if "\0" in name:
        raise BadRow("the picture's name holds a NUL character")
    _writable(name, "picture's name")
    return str(PurePosixPath(name))


def _writable(text: str, what: str) -> None:
    """JSON can spell half of a surrogate pair, which no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRow(f"the {what} holds half a character (a lone surrogate)") from None


def short(value: str) -> str:
    """A value fit for a message: one line, not a page, nothing a terminal would act on."""
    line = "".join(letter if letter.isprintable() else "�" for letter in value[:61])
    return line if len(value) <= 60 else line[:60] + "…"
