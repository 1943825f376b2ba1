"""A corpus in a folder: two Parquet tables, and corpus.json, written last, which vouches for them.

corpus.json holds the SHA-256 of both tables, so that a folder that was being replaced when the power failed, or one
that was damaged since, is known for what it is and never read as a mixture of two corpora.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from groundling.corpus.corpus import Corpus, Strings
from groundling.errors import UserError
from groundling.files import atomic_path, read_json

FORMAT = 1
PICTURES, CAPTIONS, CARD = "pictures.parquet", "captions.parquet", "corpus.json"
_MARK = {b"groundling": b"corpus"}  # tells our tables from one the user calls captions.parquet, too


def is_saved(folder: Path) -> bool:
    """Whether `folder` is a corpus written by `save`, or the remains of one."""
    return (folder / CARD).exists() or ((folder / PICTURES).exists() and (folder / CAPTIONS).exists())


def save(corpus: Corpus, folder: Path) -> None:
    """Writes the three files; until the last is in place an earlier corpus in the folder is still there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pictures = pa.table({"picture": pa.array(corpus.pictures.tolist(), pa.string()), "split": _coded(corpus.splits)})
    captions = pa.table(
        {
            "owner": pa.array(corpus.owners, pa.int64()),
            "language": _coded(corpus.languages),
            "text": pa.array(corpus.texts, pa.string()),
            "origin": _coded(corpus.origins),
        }
    )
    for file in (PICTURES, CAPTIONS):
        _refuse_to_replace_a_table(folder / file)
    # Files are renamed when the blocks are left, the innermost first: corpus.json comes last.
    with (
        atomic_path(folder / CARD) as card_file,
        atomic_path(folder / CAPTIONS) as captions_file,
        atomic_path(folder / PICTURES) as pictures_file,
    ):
        pq.write_table(pictures.replace_schema_metadata(_MARK), pictures_file)
        pq.write_table(captions.replace_schema_metadata(_MARK), captions_file)
        card = {
            "format": FORMAT,
            "name": corpus.name,
            "counts": {"pictures": len(corpus.pictures), "captions": len(corpus)},
            "root": _written_root(corpus.root, folder),
            "sha256": {PICTURES: _sha256(pictures_file), CAPTIONS: _sha256(captions_file)},
            "info": corpus.info,
        }
        text = json.dumps(card, ensure_ascii=False, indent=1, allow_nan=False)
        card_file.write_text(text + "\n", encoding="utf-8")


def load(folder: Path) -> Corpus:
    """The corpus in a folder; a folder that is not one, or not a whole one, is named."""
    folder = folder.expanduser()
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    if not (folder / CARD).exists():
        raise UserError(f"{folder}: no {CARD}, so not a corpus or one whose building was cut short; build it again")
    card = _checked_card(folder / CARD)
    for file, expected in card["sha256"].items():
        if not (folder / file).is_file():
            raise UserError(f"{folder / file}: no such file; build the corpus again")
        if _sha256(folder / file) != expected:
            raise UserError(f"{folder / file}: not the file that {CARD} describes; build the corpus again")
    try:
        corpus = _read_tables(folder, card)
    except Exception as error:  # tables with the right checksum and the wrong content: made by another program
        raise UserError(f"{folder}: not a corpus of this format ({error}); build it again") from None
    found = {"pictures": len(corpus.pictures), "captions": len(corpus)}
    if found != card["counts"]:
        raise UserError(f"{folder / CARD}: counts {card['counts']} but the tables hold {found}; build the corpus again")
    return corpus


def _read_tables(folder: Path, card: dict[str, Any]) -> Corpus:
    import pyarrow.parquet as pq

    pictures, captions = pq.read_table(folder / PICTURES), pq.read_table(folder / CAPTIONS)
    return Corpus(
        name=card["name"],
        pictures=np.array(pictures["picture"].to_pylist(), dtype=np.str_),
        splits=_decoded(pictures["split"]),
        owners=np.array(captions["owner"].to_numpy(), dtype=np.int64),
        languages=_decoded(captions["language"]),
        texts=captions["text"].to_pylist(),
        origins=_decoded(captions["origin"]),
        root=None if card["root"] is None else (folder / card["root"]).resolve(),
        info=card["info"],
    )


def _checked_card(path: Path) -> dict[str, Any]:
    card = read_json(path)
    if not isinstance(card, dict) or "format" not in card:
        raise UserError(f"{path}: not the description of a corpus; build it again")
    if card["format"] != FORMAT:
        raise UserError(
            f"{path}: format {card['format']}, and this version of groundling reads {FORMAT}; build it again"
        )
    kinds: dict[str, type | tuple[type, ...]] = {
        "name": str,
        "counts": dict,
        "root": (str, type(None)),
        "sha256": dict,
        "info": dict,
    }
    for key, kind in kinds.items():
        if key not in card or not isinstance(card[key], kind):
            raise UserError(f'{path}: "{key}" is missing or not what it should be; build the corpus again')
    if set(card["sha256"]) != {PICTURES, CAPTIONS}:
        raise UserError(f'{path}: "sha256" must name {PICTURES} and {CAPTIONS}; build the corpus again')
    return card


def _refuse_to_replace_a_table(path: Path) -> None:
    """A user's own captions.parquet may well lie in the folder that is to hold the corpus."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.exists():
        return
    try:
        ours = _MARK.items() <= (pq.read_schema(path).metadata or {}).items()
    except (pa.ArrowException, OSError):
        ours = (path.parent / CARD).exists()  # a damaged table of a corpus may be replaced
    if not ours:
        raise UserError(f"{path}: a table of your own would be overwritten; choose another folder for the corpus")


def _written_root(root: Path | None, folder: Path) -> str | None:
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


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
