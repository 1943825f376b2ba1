"""SNLI-VE as published (Xie et al. 2019): snli_ve_train.jsonl, snli_ve_dev.jsonl, snli_ve_test.jsonl, in English.

One JSON object per line: sentence2 is the statement, gold_label its label, Flickr30K_ID its photo (Flikr30kID in some
copies), sentence1 the caption that it was written about.
"""

from functools import partial
from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.entailment_statements import (
    Fields,
    StatementBuilder,
    first_folder,
    flickr30k_name,
    read_lines,
)
from groundling.corpus.formats.text_lines import plain_or_gzipped
from groundling.errors import did_you_mean

FOLDERS = ("snli-ve", "SNLI-VE", "entailment", "")
PHOTO = ("Flickr30K_ID", "Flikr30kID", "Flickr30kID")


def read(data: Path) -> Corpus:
    """The corpus in data/snli-ve."""
    folder = first_folder(data, FOLDERS, "snli_ve_train.jsonl")
    statements = StatementBuilder("snli-ve")
    for split in ("test", "dev", "train"):
        path = plain_or_gzipped(folder / f"snli_ve_{split}.jsonl")
        read_lines(path, partial(add, statements, split=split, language="en", origin="human"))
    return statements.corpus(folder, data)


def add(statements: StatementBuilder, fields: Fields, split: str, language: str, origin: str) -> None:
    """One line; XVNLI has the same fields."""
    photo = next((field for field in PHOTO if field in fields), None)
    if photo is None:
        raise BadRow(f'no field "{PHOTO[0]}"{did_you_mean(PHOTO[0], fields)}')
    row = statements.add(
        split,
        flickr30k_name(checks.needed_field(fields, photo)),
        language,
        checks.needed_field(fields, "sentence2"),
        checks.needed_field(fields, "gold_label"),
        checks.needed_field(fields, "pairID"),
    )
    if row is not None:
        premise, name = checks.optional_field(fields, "sentence1"), checks.optional_field(fields, "captionID")
        statements.caption(row, name or premise, language, premise, origin)
