"""e-SNLI-VE as published (Do et al. 2020, Kayser et al. 2021): esnlive_train.csv, esnlive_dev.csv, esnlive_test.csv.

SNLI-VE with labels corrected. Columns: pairID, Flickr30kID, hypothesis, gold_label, and an explanation we do not use.
"""

import csv
import hashlib
from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.entailment_statements import StatementBuilder, first_folder, flickr30k_name
from groundling.corpus.formats.text_lines import numbered_lines, plain_or_gzipped
from groundling.errors import UserError, did_you_mean

FOLDERS = ("e-snli-ve", "entailment", "")
COLUMNS = ("pairID", "Flickr30kID", "hypothesis", "gold_label")
NO_TRAINING_FILE = (
    "esnlive_train.csv is not there: four fifths of the photos of esnlive_dev.csv train instead, and the others are "
    "dev, so numbers cannot be compared with published ones"
)


def read(data: Path) -> Corpus:
    """The corpus in data/e-snli-ve or data/entailment.

    The training file is hard to come by. Without it photos of the dev file are divided, and `info.note` says so.
    """
    folder = first_folder(data, FOLDERS, "esnlive_test.csv")
    whole = (folder / "esnlive_train.csv").is_file() or (folder / "esnlive_train.csv.gz").is_file()
    statements = StatementBuilder("e-snli-ve")
    for split in ("test", "dev", *(["train"] if whole else [])):
        _read(
            plain_or_gzipped(folder / f"esnlive_{split}.csv"), statements, split, divided=split == "dev" and not whole
        )
    return statements.corpus(folder, data, None if whole else NO_TRAINING_FILE)


def _read(path: Path, statements: StatementBuilder, split: str, divided: bool) -> None:
    reader = csv.reader((line for _, line in numbered_lines(path)), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for values in reader:
            if header is None:
                header = _checked_header(values)
            elif values and len(values) != len(header):
                raise BadRow(f"{len(values)} fields where the header has {len(header)}")
            elif values:
                _add(statements, dict(zip(header, values, strict=True)), split, divided)
            line = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{path.name}:{line}: broken row ({error}); is a quote left open?") from None
    except BadRow as problem:
        raise UserError(f"{path.name}:{line}: {problem}") from None


def _checked_header(values: list[str]) -> list[str]:
    for column in COLUMNS:
        if column not in values:
            raise BadRow(f'no column "{column}"{did_you_mean(column, values)}')
    return values


def _add(statements: StatementBuilder, fields: dict[str, str], split: str, divided: bool) -> None:
    photo = flickr30k_name(checks.needed_field(fields, "Flickr30kID"))
    statements.add(
        _by_name(photo) if divided else split, photo, "en", fields["hypothesis"], fields["gold_label"], fields["pairID"]
    )


def _by_name(photo: str) -> str:
    return "dev" if hashlib.sha256(photo.encode()).digest()[0] < 256 // 5 else "train"
