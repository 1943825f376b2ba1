"""Shards as other programs write them: tar archives, Parquet and Arrow with pictures inside."""

import io
import json
import random
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def picture(seed: int, kind: str = "JPEG") -> bytes:
    """The bytes of a small picture of noise."""
    file = io.BytesIO()
    Image.frombytes("RGB", (16, 16), random.Random(seed).randbytes(16 * 16 * 3)).save(file, kind)
    return file.getvalue()


def write_tar(path: Path, members: dict[str, bytes | str | dict[str, Any]]) -> None:
    """Name → content, which is bytes, a text, or what is written as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else _text(content).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def _text(content: str | dict[str, Any]) -> str:
    return content if isinstance(content, str) else json.dumps(content)


IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def faces(seeds: list[int], **columns: list[Any]) -> pa.Table:
    """A table as Hugging Face's datasets have it: a column of pictures, and others."""
    images = pa.array([{"bytes": picture(seed), "path": None} for seed in seeds], IMAGE)
    return pa.table({"image": images, **columns})


def save_to_disk(folder: Path, table: pa.Table) -> None:
    """What `Dataset.save_to_disk` writes."""
    folder.mkdir(parents=True)
    name = "data-00000-of-00001.arrow"
    with pa.OSFile(str(folder / name), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}], "_split": None}))
    (folder / "dataset_info.json").write_text("{}")


def write_parquet(path: Path, table: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
