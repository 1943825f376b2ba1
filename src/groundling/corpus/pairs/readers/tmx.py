"""Translation memories (TMX 1.4, Localization Industry Standards Association): units of one meaning in many languages.

Read as a stream by expat, which keeps nothing. A file of a stranger cannot make it keep anything, either: entities,
which can describe more than any memory holds, are refused, and so are units beyond all measure.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

from groundling.corpus.formats.checks import LONGEST_TEXT, BadRow, language_code
from groundling.corpus.pairs.row import Row, Wanted
from groundling.errors import UserError
from groundling.progress import bar

PORTION = 2**18  # bytes
DEEPEST = 50  # elements within elements
MOST_LANGUAGES = 500  # of a unit
MARKUP = ("bpt", "ept", "it", "ph", "ut")  # what stands in these is no text of the sentence


class TooMuch(Exception):
    """Something that no translation memory has."""


def read(path: Path, wanted: Wanted) -> Iterator[Row]:
    units = _Units()
    try:
        with path.open("rb") as raw, bar(f"Reading {path.name} (KiB)", path.stat().st_size // 1024) as progress:
            file = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if path.name.lower().endswith(".gz") else raw
            while portion := file.read(PORTION):
                units.parser.Parse(portion, False)
                yield from units.take()
                progress.advance(PORTION // 1024)
            units.parser.Parse(b"", True)
            yield from units.take()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except TooMuch as problem:
        raise UserError(f"{path.name}:{units.parser.CurrentLineNumber}: {problem}") from None
    except expat.ExpatError as error:
        raise UserError(f"{path.name}:{error.lineno}: not well-formed XML ({expat.ErrorString(error.code)})") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: a damaged or incomplete gzip file ({error}); fetch it again") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None


class _Units:
    """What a parser says of elements, as rows."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.EntityDeclHandler = self._entity
        self.parser.ExternalEntityRefHandler = self._entity
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.rows: list[Row] = []
        self.fields: dict[str, str] = {}
        self.problem, self.language, self.line = "", "", 0
        self.depth = self.silent = 0
        self.said: list[str] | None = None  # of the sentence that is being read
        self.length = 0

    def take(self) -> list[Row]:
        found, self.rows = self.rows, []
        return found

    def _entity(self, *_: object) -> int:
        raise TooMuch("declares entities, which are not read; a translation memory needs none")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooMuch(f"more than {DEEPEST} elements within each other")
        if name == "tu":
            self.fields, self.problem, self.line = {}, "", self.parser.CurrentLineNumber
        elif name == "tuv":
            self._of(attributes.get("xml:lang") or attributes.get("lang") or "")
        elif name == "seg":
            self.said, self.length = [], 0
        elif name in MARKUP:
            self.silent += 1

    def _of(self, language: str) -> None:
        try:
            self.language = language_code(language.replace("_", "-"))
        except BadRow as problem:
            self.language, self.problem = "", str(problem)

    def _end(self, name: str) -> None:
        self.depth -= 1
        if name in MARKUP:
            self.silent -= 1
        elif name == "seg" and self.said is not None:
            if self.language:
                self.fields[self.language] = " ".join("".join(self.said).split())
            if len(self.fields) > MOST_LANGUAGES:
                raise TooMuch(f"a unit of more than {MOST_LANGUAGES} languages")
            self.said = None
        elif name == "tu":
            self.rows.append(Row(self.line, self.fields, self.problem))
            self.fields = {}

    def _text(self, text: str) -> None:
        if self.said is None or self.silent:
            return
        self.length += len(text)
        if self.length > 10 * LONGEST_TEXT:
            raise TooMuch(f"a sentence of more than {10 * LONGEST_TEXT:,} characters")
        self.said.append(text)
