"""Moses' files: line n of `x.en` and line n of `x.ko` mean the same. Given by one of the files, or by `x`."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from groundling.corpus.formats.checks import BadRow, language_code
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.corpus.pairs.row import Row, Wanted
from groundling.errors import UserError


def files_of(path: Path, wanted: Wanted) -> list[Path]:
    """Files beside each other whose names differ in a language alone: all that are asked for, or all there are.

    None where there are not two of them.
    """
    code = _code(path)
    stem = path.name.removesuffix(".gz").rpartition(".")[0] if code is not None and path.is_file() else path.name
    if not stem or not path.parent.is_dir():
        return []
    beside = [one for one in sorted(path.parent.glob("*")) if one.name.removesuffix(".gz").rpartition(".")[0] == stem]
    found = {code: one for one in beside if one.is_file() and (code := _code(one)) is not None}
    asked = {*wanted.new, wanted.known, *(() if wanted.known else wanted.knows)} - {None}
    chosen = [
        one for code, one in found.items() if not wanted.new or code in asked or not (wanted.known or wanted.knows)
    ]
    return chosen if len(chosen) > 1 else []


def read(path: Path, wanted: Wanted) -> Iterator[Row]:
    files = files_of(path, wanted)
    codes = [str(_code(file)) for file in files]
    missing = [code for code in wanted.new if code not in codes]
    if missing:
        raise UserError(f"{path}: there is no file in {missing[0]} beside {', '.join(file.name for file in files)}")
    for lines in zip_longest(*(numbered_lines(file) for file in files)):
        if None in lines:
            short = files[lines.index(None)].name
            other = next(file.name for file in files if file.name != short)
            raise UserError(f"{short}: has fewer lines than {other}; line n of each must mean the same")
        texts = [text.rstrip("\r\n") for _, text in lines]
        yield Row(lines[0][0], dict(zip(codes, texts, strict=True)))


def _code(path: Path) -> str | None:
    """The language that a file is named by."""
    try:
        return language_code(path.name.removesuffix(".gz").rpartition(".")[2])
    except BadRow:
        return None
