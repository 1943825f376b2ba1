"""Sentence pairs in lines, with tabs or commas between them.

Two columns without a header are a known sentence and the same in the new language. A first line may name the columns:
by the languages that they are in (`en`, `ko`, `ja`, as many as one likes), or `known`, `new` and `language`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from groundling.corpus.formats.checks import BadRow, language_code
from groundling.corpus.formats.spreadsheet import delimiter_of, records
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.corpus.pairs.row import COLUMNS, KNOWN, NEW, Row, Wanted
from groundling.errors import UserError, did_you_mean


def read_tabs(path: Path, wanted: Wanted) -> Iterator[Row]:
    """Sentences hold no tabs, and quotes mean nothing."""
    header: list[str] | None = None
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        fields = line.rstrip("\r\n").split("\t")
        if number == 1 and (header := header_of(path.name, fields, wanted)) is not None:
            continue
        if header is None and len(fields) != 2:
            what = "no tab" if len(fields) == 1 else f"{len(fields) - 1} tabs"
            new = wanted.new[0] if len(wanted.new) == 1 else "a new language"
            more = "" if len(fields) == 1 else ", or begin with a line that names the columns: known, new, language"
            yield Row(number, {}, f"{what} in this line; write a known sentence, one tab, the sentence in {new}{more}")
        elif header is not None and len(fields) != len(header):
            yield Row(number, {}, f"{len(fields)} fields where the first line has {len(header)}")
        else:
            yield Row(number, dict(zip(header or (KNOWN, NEW), fields, strict=True)))


def read_commas(path: Path, wanted: Wanted) -> Iterator[Row]:
    """The header must be there."""
    delimiter = delimiter_of(path)
    header: list[str] | None = None
    for record in records(path, delimiter):
        line, fields = record.line, record.fields
        if record.error:
            yield Row(line, {}, record.problem)
        elif header is None:
            header = header_of(path.name, fields, wanted)
            if header is None:
                raise UserError(
                    f"{path.name}:{line}: the first line must name the columns: their languages, such as en,ko, or "
                    "known,new,language"
                )
        elif len(fields) != len(header):
            what = f'{len(fields)} fields where the header has {len(header)}; quote texts that hold "{delimiter}"'
            yield Row(line, {}, what)
        else:
            yield Row(line, dict(zip(header, fields, strict=True)))


def header_of(name: str, fields: Sequence[str], wanted: Wanted) -> list[str] | None:
    """The names of columns, where a first line has such: our own, or codes of languages of which one is asked for."""
    columns = [field.strip().casefold() for field in fields]
    if KNOWN in columns and NEW in columns and set(columns) <= set(COLUMNS):
        return columns
    try:
        codes = [language_code(field) for field in fields]
    except BadRow:
        return None
    asked = set(wanted.new) if wanted.new else set(codes)
    if len(set(codes)) < len(codes) or len(codes) < 2 or not asked & set(codes):
        return None
    if wanted.known is not None and wanted.known not in codes:
        said = ", ".join(code for code in codes if code not in wanted.new)
        raise UserError(f"{name}:1: the header says {said}, and --from {wanted.known}; mend one of them")
    if wanted.knows and not set(wanted.knows) & set(codes):
        said = next((code for code in codes if code not in wanted.new), codes[0])
        raise UserError(f'{name}: the teacher does not know "{said}"{did_you_mean(said, wanted.knows)}')
    return codes
