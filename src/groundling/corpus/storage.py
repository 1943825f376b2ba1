"""A corpus in a folder: Parquet tables, and corpus.json, written last, which vouches for them.

The tables are pictures and captions, and statements where the corpus has any.
corpus.json holds the SHA-256 of each, so that a folder that was being replaced when the power failed, or one
that was damaged since, is known for what it is and never read as a mixture of two corpora.
"""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundling.checksums import sha256
from groundling.corpus import sharded
from groundling.corpus.card import FILE as CARD
from groundling.corpus.card import SHARDS, TABLES, Card, Counts
from groundling.corpus.corpus import Corpus, Strings
from groundling.corpus.entailment import Entailments
from groundling.errors import UserError
from groundling.files import atomic_path, only_writer
from groundling.hub import first_line

if TYPE_CHECKING:
    import pyarrow as pa

PICTURES, CAPTIONS = "pictures.parquet", "captions.parquet"
STATEMENTS = "statements.parquet"
_MARK = sharded.MARK  # tells our tables from one the user calls captions.parquet, too


def is_saved(folder: Path) -> bool:
    """Whether `folder` is a corpus written by `save`, or the remains of one."""
    return (folder / CARD).exists() or ((folder / PICTURES).exists() and (folder / CAPTIONS).exists())


def save(corpus: Corpus, folder: Path) -> None:
    """Writes the files; until the last is in place an earlier corpus in the folder is still there."""
    import pyarrow.parquet as pq

    tables = _tables(corpus)
    for file in tables:
        _refuse_to_replace_a_table(folder / file)
    # Files are renamed when the block is left, the last one entered first: corpus.json comes last.
    with only_writer(folder), ExitStack() as written:
        card_file = written.enter_context(atomic_path(folder / CARD))
        digests = {}
        for file, table in tables.items():
            path = written.enter_context(atomic_path(folder / file))
            pq.write_table(table.replace_schema_metadata(_MARK), path)
            digests[file] = sha256(path)
        root = written_root(corpus.root, folder)
        card = Card(TABLES, corpus.name, _counts(corpus), root, digests, corpus.info)
        text = json.dumps(card.to_json(), ensure_ascii=False, indent=1, allow_nan=False)
        card_file.write_text(text + "\n", encoding="utf-8")
    if STATEMENTS not in tables and sharded.is_ours(folder / STATEMENTS, damaged=True):
        (folder / STATEMENTS).unlink()  # of an earlier corpus
    sharded.remove_all(folder)


def _counts(corpus: Corpus) -> Counts:
    return Counts(len(corpus.pictures), len(corpus), None if corpus.statements is None else len(corpus.statements))


def _tables(corpus: Corpus) -> "dict[str, pa.Table]":
    """File name → Arrow table."""
    import pyarrow as pa

    tables = {
        CAPTIONS: pa.table(
            {
                "owner": pa.array(corpus.owners, pa.int64()),
                "language": _coded(corpus.languages),
                "text": pa.array(corpus.texts, pa.string()),
                "origin": _coded(corpus.origins),
            }
        ),
        PICTURES: pa.table(
            {"picture": pa.array(corpus.pictures.tolist(), pa.string()), "split": _coded(corpus.splits)}
        ),
    }
    if corpus.statements is not None:
        said = corpus.statements
        tables[STATEMENTS] = pa.table(
            {
                "owner": pa.array(said.owners, pa.int64()),
                "language": _coded(said.languages),
                "text": pa.array(said.texts, pa.string()),
                "label": _coded(said.labels),
                "id": pa.array(said.ids.tolist(), pa.string()),
            }
        )
    return tables


def load(folder: Path) -> Corpus:
    """The corpus in a folder; a folder that is not one, or not a whole one, is named."""
    folder = folder.expanduser()
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    if not (folder / CARD).exists():
        raise UserError(f"{folder}: no {CARD}, so not a corpus or one whose building was cut short; build it again")
    card = Card.read(folder / CARD)
    if card.format == SHARDS:
        return _whole(folder, card)
    if set(card.sha256) - {STATEMENTS} != {PICTURES, CAPTIONS}:
        raise UserError(f'{folder / CARD}: "sha256" must name {PICTURES} and {CAPTIONS}; build the corpus again')
    for file, expected in card.sha256.items():
        if not (folder / file).is_file():
            raise UserError(f"{folder / file}: no such file; build the corpus again")
        if sha256(folder / file) != expected:
            raise UserError(f"{folder / file}: not the file that {CARD} describes; build the corpus again")
    try:
        corpus = _read_tables(folder, card)
    except Exception as error:  # tables with the right checksum and the wrong content: made by another program
        raise UserError(f"{folder}: not a corpus of this format ({first_line(error)}); build it again") from None
    found = _counts(corpus)
    if found != card.counts:
        raise UserError(
            f"{folder / CARD}: counts {card.counts.to_json()} but the tables hold {found.to_json()}; "
            "build the corpus again"
        )
    return corpus


def _whole(folder: Path, card: Card) -> Corpus:
    try:
        return sharded.load(folder, card)
    except UserError:
        raise
    except Exception as error:  # shards with the right checksum and the wrong content: made by another program
        raise UserError(f"{folder}: not a corpus of this format ({first_line(error)}); build it again") from None


def _read_tables(folder: Path, card: Card) -> Corpus:
    import pyarrow.parquet as pq

    pictures, captions = pq.read_table(folder / PICTURES), pq.read_table(folder / CAPTIONS)
    return Corpus(
        name=card.name,
        pictures=np.array(pictures["picture"].to_pylist(), dtype=np.str_),
        splits=_decoded(pictures["split"]),
        owners=np.array(captions["owner"].to_numpy(), dtype=np.int64),
        languages=_decoded(captions["language"]),
        texts=captions["text"].to_pylist(),
        origins=_decoded(captions["origin"]),
        root=card.root_in(folder),
        info=card.info,
        statements=_read_statements(folder) if STATEMENTS in card.sha256 else None,
    )


def _read_statements(folder: Path) -> Entailments:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / STATEMENTS)
    return Entailments(
        owners=np.array(table["owner"].to_numpy(), dtype=np.int64),
        languages=_decoded(table["language"]),
        texts=table["text"].to_pylist(),
        labels=_decoded(table["label"]),
        ids=np.array(table["id"].to_pylist(), dtype=np.str_),
    )


def _refuse_to_replace_a_table(path: Path) -> None:
    """A user's own captions.parquet may well lie in the folder that is to hold the corpus."""
    damaged = (path.parent / CARD).exists()  # one of a corpus may be replaced
    if path.exists() and not sharded.is_ours(path, damaged):
        raise UserError(f"{path}: a table of your own would be overwritten; choose another folder for the corpus")


def written_root(root: Path | None, folder: Path) -> str | None:
    """Relative where the pictures lie in the folder itself, so that it can be moved as a whole."""
    if root is None:
        return None
    root, folder = root.resolve(), folder.resolve()
    return root.relative_to(folder).as_posix() if root.is_relative_to(folder) else str(root)


def _coded(column: Strings) -> Any:
    """A column of few different strings, each written once (Arrow's dictionary encoding)."""
    import pyarrow as pa

    words, codes = np.unique(column, return_inverse=True)
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(words.tolist(), pa.string()))


def _decoded(column: Any) -> Strings:
    import pyarrow as pa

    return np.array(column.cast(pa.string()).to_pylist(), dtype=np.str_)
