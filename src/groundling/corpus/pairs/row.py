"""One row of a file of sentence pairs, whatever its format, and the pairs that are in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.errors import did_you_mean

KNOWN, NEW = "known", "new"
LANGUAGE, KNOWN_LANGUAGE = "language", "known_language"
COLUMNS = (KNOWN, NEW, LANGUAGE, KNOWN_LANGUAGE)


class Unanswered(BadRow):
    """What is wrong with all rows of a file alike."""


class Row(NamedTuple):
    """The place of a row in its file (a line, or a number from 1) and its fields, or what makes it unreadable.

    Fields are called by the language that they are in, or `known`, `new`, `language` and `known_language`.
    """

    place: int
    fields: Mapping[str, str]
    problem: str = ""


class Pair(NamedTuple):
    """A known sentence, and the same in a new language."""

    known_language: str
    known: str
    language: str
    new: str


@dataclass(frozen=True)
class Wanted:
    """What is asked of a file.

    Attributes:
        new: the languages that shall be learned; none: all that the file has beside the known one.
        known: the language of the known sentences; None where the file says it, or the teacher knows only one.
        knows: the languages of the teacher; none where nobody can list them.
    """

    new: tuple[str, ...] = ()
    known: str | None = None
    knows: tuple[str, ...] = ()

    @property
    def known_language(self) -> str:
        """Of known sentences whose row does not say it."""
        code = self.known or (self.knows[0] if len(self.knows) == 1 else "")
        if not code:
            example = self.knows[0] if self.knows else "en"
            new = self.new[0] if len(self.new) == 1 else "ko"
            raise Unanswered(
                "which language are the first sentences in? Say it with --from, or with a first line such as "
                f'"{example}<tab>{new}"'
            )
        return self.known_code(code)

    def known_code(self, code: str) -> str:
        if self.knows and code not in self.knows:
            raise Unanswered(f'the teacher does not know "{code}"{did_you_mean(code, self.knows)}')
        return code


@dataclass
class PairsOfRows:
    """Rows in, pairs out. A row that has no pair of the wanted languages gives none; one that is wrong raises BadRow.

    Attributes:
        met, others: new languages that are wanted and were there, and such that were there and are not wanted.
    """

    wanted: Wanted
    met: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)

    def __call__(self, fields: Mapping[str, str]) -> Iterator[Pair]:
        if KNOWN in fields or NEW in fields:
            yield from self._named(fields)
        else:
            yield from self._by_language(fields)

    def _named(self, fields: Mapping[str, str]) -> Iterator[Pair]:
        for name in (KNOWN, NEW):
            if name not in fields:
                raise BadRow(f'no field "{name}"')
        said = fields.get(LANGUAGE, "").strip()
        if not said and len(self.wanted.new) != 1:
            raise BadRow(f'"{LANGUAGE}" is missing, and several languages shall be learned')
        language = checks.language_code(said) if said else self.wanted.new[0]
        if self._is_wanted(language):
            beside = fields.get(KNOWN_LANGUAGE, "").strip()
            known = self.wanted.known_code(checks.language_code(beside)) if beside else self.wanted.known_language
            yield Pair(known, _text(fields[KNOWN]), language, _text(fields[NEW]))

    def _by_language(self, fields: Mapping[str, str]) -> Iterator[Pair]:
        """A language that lacks a sentence has an empty field, or none."""
        said = {self._matched(checks.language_code(name)): text for name, text in fields.items() if text.strip()}
        known = self._known_of(list(said))
        if known is None:
            return
        for code, text in said.items():
            if code != known and self._is_wanted(code):
                yield Pair(known, _text(said[known]), code, _text(text))

    def _known_of(self, codes: Sequence[str]) -> str | None:
        """The language of a row that is known; None where the row has none."""
        if self.wanted.known is not None:
            return self.wanted.known if self.wanted.known in codes else None
        left = [code for code in codes if code not in self.wanted.new]
        found = [code for code in left if code in self.wanted.knows] if self.wanted.knows else left
        if len(found) > 1 and not self.wanted.knows:  # a pretrained teacher; files are in no order that would tell
            raise Unanswered(f"which of {', '.join(found)} is the language that the teacher knows? Say it with --from")
        return found[0] if found else None

    def _matched(self, code: str) -> str:
        """A variety that nobody asked for by name, such as en-US, stands for its language, where that is asked for."""
        asked, language = (*self.wanted.new, self.wanted.known, *self.wanted.knows), code.split("-")[0]
        return language if code not in asked and language in asked else code

    def _is_wanted(self, code: str) -> bool:
        wanted = not self.wanted.new or code in self.wanted.new
        (self.met if wanted else self.others).add(code)
        return wanted


def _text(text: str) -> str:
    return checks.caption_text(text).strip()
