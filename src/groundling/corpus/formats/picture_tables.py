"""Tables with a row for each picture: Parquet as Hugging Face and img2dataset write it, with the bytes of the pictures
inside, or LAION-like lists of captions with a column that says where the pictures lie; and `datasets` folders in Arrow.

A list of addresses alone has no pictures; img2dataset fetches them. https://github.com/rom1504/img2dataset
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from groundling.corpus.formats.checks import BadRow, picture_name
from groundling.corpus.formats.rows import NEEDED
from groundling.corpus.formats.samples import MOST_BYTES, Sample, SampleFormat, captions_in, split_of
from groundling.errors import UserError
from groundling.files import read_json
from groundling.hub import first_line
from groundling.progress import bar

_BYTES = ("image", "picture", "jpg", "jpeg", "png", "webp", "img", "photo")
_PATHS = ("picture", "image_path", "picture_path", "path", "file_name", "filename", "file", "image")
_TOGETHER = 64  # rows with the bytes of their pictures
_FOLDERS = ("state.json", "dataset_dict.json")  # what tells a folder of `datasets`


def columns(schema: Any) -> tuple[str | None, str | None]:
    """The column that holds the bytes of pictures, and the one that holds their paths."""
    import pyarrow as pa

    plain = {name.strip().casefold(): name for name in reversed(schema.names)}
    inside = path = None
    for name in _BYTES:
        kind = schema.field(plain[name]).type if name in plain else None
        if kind is not None and (_is_bytes(kind) or (pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0)):
            inside = plain[name]
            break
    for name in _PATHS:
        if name in plain and name != inside and pa.types.is_string(schema.field(plain[name]).type):
            path = plain[name]
            break
    return inside, path


def _is_bytes(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _rows(path: Path, batches: Iterator[Any], inside: str | None, named: str | None, language: str) -> Iterator[Sample]:
    split, number = split_of(path), 0
    for batch in batches:
        for fields in batch.to_pylist():
            number += 1
            where = f"{path.name}:{number}"
            data = fields.pop(inside, None) if inside else None
            name = fields.pop(named, None) if named else None
            rows = captions_in(fields, where, language)
            if not rows:
                yield Sample(where, problem="no caption")
            elif inside:
                yield _with_bytes(path, where, data, tuple({"split": split, **row} for row in rows))
            else:
                yield Sample(where, tuple({"split": split, **row, "picture": name} for row in rows))


def _with_bytes(path: Path, where: str, data: Any, rows: tuple[Mapping[str, object], ...]) -> Sample:
    """`data` is bytes, or the bytes and the path of Hugging Face's pictures, one of which may be missing."""
    if isinstance(data, dict):
        data, named = data.get("bytes"), data.get("path")
        if data is None and isinstance(named, str):
            try:
                file = path.parent / PurePosixPath(picture_name(named))
                data = file.read_bytes() if file.stat().st_size <= MOST_BYTES else b"\0" * (MOST_BYTES + 1)
            except (BadRow, OSError) as problem:
                return Sample(where, problem=f"its picture cannot be read ({problem})")
    if not isinstance(data, bytes):
        return Sample(where, problem="no picture")
    if len(data) > MOST_BYTES:
        return Sample(where, problem=f"its picture has more than {MOST_BYTES:,} bytes")
    return Sample(where, rows, data)


def read_parquet(path: Path, language: str) -> Iterator[Sample]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            inside, named = columns(file.schema_arrow)
            if inside is None and named is None:
                there = ", ".join(file.schema_arrow.names[:12])
                raise UserError(
                    f"{path.name}: captions without pictures (its columns are {there}); fetch the pictures with "
                    "img2dataset and build its shards, or add a column picture_path with their files"
                )
            with bar(f"Reading {path.name}", file.metadata.num_rows) as progress:
                together = _TOGETHER if inside else 4096

                def batches() -> Iterator[Any]:
                    for batch in file.iter_batches(batch_size=together):
                        yield batch
                        progress.advance(len(batch))

                yield from _rows(path, batches(), inside, named, language)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name}: not a readable Parquet file ({first_line(error)})") from None


def read_saved(path: Path, language: str) -> Iterator[Sample]:
    """A folder that `Dataset.save_to_disk` wrote, or one of `DatasetDict` with a folder for each split."""
    if (path / "dataset_dict.json").exists():
        for split in read_json(path / "dataset_dict.json").get("splits", []):
            yield from read_saved(path / _plain_name(path, split), language)
        return
    import pyarrow as pa

    for entry in read_json(path / "state.json").get("_data_files", []):
        file = path / _plain_name(path, entry.get("filename") if isinstance(entry, dict) else None)
        try:
            with pa.memory_map(str(file)) as source, pa.ipc.open_stream(source) as reader:
                inside, named = columns(reader.schema)
                if inside is None and named is None:
                    raise UserError(f"{file}: no column of pictures (there is: {', '.join(reader.schema.names[:12])})")
                parts = (batch.slice(start, _TOGETHER) for batch in reader for start in range(0, len(batch), _TOGETHER))
                yield from _rows(file, parts, inside, named, language)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise UserError(f"{file}: not a readable Arrow file ({first_line(error)})") from None


def _plain_name(folder: Path, name: Any) -> str:
    """A name that leads nowhere else."""
    if not isinstance(name, str) or name in ("", ".", "..") or Path(name).name != name:
        raise UserError(f"{folder}: its list of files names one that is not in it; save the data set again")
    return name


def is_own_table(path: Path) -> bool:
    """Whether it has the columns of our own tables of captions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        names = {name.strip().casefold() for name in pq.read_schema(path).names}
    except (pa.ArrowException, OSError):
        return True  # whoever reads it says what is wrong
    return set(NEEDED) <= names


PARQUET = SampleFormat(
    "Parquet with pictures inside or a column of their paths (Hugging Face, img2dataset, LAION)",
    lambda path: path.suffix == ".parquet" and not is_own_table(path),
    read_parquet,
)
SAVED = SampleFormat(
    "folders that Hugging Face's datasets saved",
    lambda path: path.is_dir() and any((path / name).is_file() for name in _FOLDERS),
    read_saved,
)
