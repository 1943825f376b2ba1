"""XVNLI as published in IGLUE (Bugliarello et al. 2022): one folder per language with test.jsonl and train_48.jsonl.

The lines are those of SNLI-VE; a statement and its translations share their pairID. The training photos are the few of
IGLUE's few-shot setting, of which the largest file holds all.
"""

from functools import partial
from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.entailment_statements import StatementBuilder, read_lines
from groundling.corpus.formats.snli_ve import add
from groundling.corpus.formats.text_lines import plain_or_gzipped
from groundling.errors import UserError

FOLDERS = ("xvnli", "XVNLI", "xvnli/annotations", "XVNLI/annotations", "entailment/xvnli")
FILES = {"test": "test.jsonl", "train": "train_48.jsonl"}


def read(data: Path) -> Corpus:
    """The corpus in data/xvnli, with a folder for each language; translations of English are marked as such."""
    languages = [path for name in FOLDERS for path in sorted((data / name).glob("*")) if _has(path, FILES["test"])]
    if not languages:
        raise UserError(
            f"{data / FOLDERS[0] / 'en' / FILES['test']}: no such file; put IGLUE's XVNLI/annotations there"
        )
    statements = StatementBuilder("xvnli")
    for split, file in FILES.items():
        for folder in languages:
            try:
                language = checks.language_code(folder.name)
            except BadRow as problem:
                raise UserError(f"{folder}: {problem}") from None
            if split == "test" or _has(folder, file):
                origin = "human" if language == "en" else "translation"
                row = partial(add, statements, split=split, language=language, origin=origin)
                read_lines(plain_or_gzipped(folder / file), row)
    return statements.corpus(languages[0].parent, data)


def _has(folder: Path, file: str) -> bool:
    return (folder / file).is_file() or (folder / f"{file}.gz").is_file()
