"""A corpus larger than memory, in a folder: Parquet shards, and corpus.json, written last, which vouches for them.

The shards of one build lie in a folder of their own, shards-N, which gets its name when it is whole; corpus.json, which
names it, is replaced after that. Whenever a build is killed, the corpus that was there before is still there, whole,
or there is none, and what the killed one has left is removed by the next build.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from groundling.checksums import is_unchanged, sha256
from groundling.corpus.card import FILE as CARD
from groundling.corpus.card import SHARDS, Card, Counts
from groundling.corpus.columns import Integers, Strings
from groundling.corpus.corpus import ORIGINS, SPLITS, Corpus
from groundling.corpus.info import CorpusInfo
from groundling.corpus.parquet_texts import ParquetTexts
from groundling.errors import UserError
from groundling.files import make_folder, new_folder, write_json

SHARD = 2**20  # rows of a file
GROUP = 2**14  # rows that are written and read together
PICTURE_FILES = "files"  # below the folder of the shards: pictures that came inside other files
MARK = {b"groundling": b"corpus"}


@contextmanager
def new_shards(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Where new shards of the corpus in `folder` are written, and where they lie after the block, when `write_card`
    makes them the corpus."""
    make_folder(folder)
    taken = [int(number) for path in folder.glob("shards-*") if (number := path.name.removeprefix("shards-")).isdigit()]
    lasting = folder / f"shards-{max(taken, default=0) + 1}"
    with new_folder(lasting) as place:
        yield place, lasting


def write_card(folder: Path, shards: Path, name: str, counts: Counts, root: str | None, info: CorpusInfo) -> None:
    """Vouches for these shards, and removes those of earlier builds."""
    files = sorted(shards.glob("*.parquet"))
    digests = {path.relative_to(folder).as_posix(): sha256(path) for path in files}
    write_json(folder / CARD, Card(SHARDS, name, counts, root, digests, info).to_json())
    remove_all(folder, but=shards)
    for table in ("pictures.parquet", "captions.parquet", "statements.parquet"):  # of an earlier, small corpus
        if is_ours(folder / table):
            (folder / table).unlink()


def remove_all(folder: Path, but: Path | None = None) -> None:
    """Removes the shards of earlier builds."""
    for path in folder.glob("shards-*"):
        if path != but and path.is_dir() and not path.is_symlink() and path.name.removeprefix("shards-").isdigit():
            shutil.rmtree(path, ignore_errors=True)


def is_ours(path: Path, damaged: bool = False) -> bool:
    """Whether a table is one of ours, not one of the user's under the same name; `damaged`: what to say of one that
    cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return MARK.items() <= (pq.read_schema(path).metadata or {}).items()
    except FileNotFoundError:
        return False
    except (pa.ArrowException, OSError):
        return damaged


def write_shards(folder: Path, name: str, batches: Iterable[Any]) -> None:
    """Record batches of `GROUP` rows, in files NAME-00000.parquet and so on."""
    import pyarrow.parquet as pq

    writer, written, number = None, 0, 0
    try:
        for batch in batches:
            if writer is None or written >= SHARD:
                if writer is not None:
                    writer.close()
                schema = batch.schema.with_metadata(MARK)
                writer = pq.ParquetWriter(folder / f"{name}-{number:05}.parquet", schema, compression="zstd")
                written, number = 0, number + 1
            writer.write_batch(batch)
            written += len(batch)
    finally:
        if writer is not None:
            writer.close()


def load(folder: Path, card: Card) -> Corpus:
    """The corpus, its captions left in the files; all other columns are in memory."""
    for file, expected in card.sha256.items():
        if not (folder / file).is_file():
            raise UserError(f"{folder / file}: no such file; build the corpus again")
        if not is_unchanged(folder / file, expected):
            raise UserError(f"{folder / file}: not the file that {CARD} describes; build the corpus again")
    captions, pictures = (
        [folder / file for file in sorted(card.sha256) if Path(file).name.startswith(f"{name}-")]
        for name in ("captions", "pictures")
    )
    counts = card.counts
    names, splits = _strings(pictures, "picture", counts.pictures), _coded(pictures, "split", SPLITS)
    return Corpus(
        name=card.name,
        pictures=names,
        splits=splits,
        owners=_numbers(captions, "owner", counts.captions),
        languages=_coded(captions, "language", counts.languages or ()),
        texts=ParquetTexts(captions),
        origins=_coded(captions, "origin", ORIGINS),
        root=card.root_in(folder),
        info=card.info,
        different=names,  # that they differ was seen to when they were written
    )


def _columns(files: list[Path], column: str) -> Iterator[Any]:
    import pyarrow.parquet as pq

    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=2**16, columns=[column]):
                yield batch.column(0)


def _numbers(files: list[Path], column: str, count: int) -> Integers:
    found, done = np.zeros(count, dtype=np.int64), 0
    for part in _columns(files, column):
        found[done : done + len(part)] = part.to_numpy()
        done += len(part)
    return _whole(found, done)


def _strings(files: list[Path], column: str, count: int) -> Strings:
    """Strings of any length, none of which takes more room than it needs."""
    found: Any = np.empty(count, dtype=np.dtypes.StringDType())
    done = 0
    for part in _columns(files, column):
        found[done : done + len(part)] = part.to_pylist()
        done += len(part)
    return _whole(found, done)


def _coded(files: list[Path], column: str, values: Iterable[str]) -> Strings:
    """A column of few different strings."""
    known = np.array(list(values), dtype=np.str_)
    parts = [
        known[:0],
        *(known[_places(part, known.tolist())] for part in _columns(files, column)),
    ]
    return np.concatenate(parts)


def _places(part: Any, known: list[str]) -> Integers:
    table = np.array([known.index(value) for value in part.dictionary.to_pylist()], dtype=np.int64)
    places: Integers = table[part.indices.to_numpy()]
    return places


def _whole(found: Any, done: int) -> Any:
    if done != len(found):
        raise ValueError(f"{done} rows where {len(found)} were written")
    return found
