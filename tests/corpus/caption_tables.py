"""What all tests of your own data share: tables of every kind, and a folder of pictures to go with them."""

import csv
import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from groundling.corpus import Corpus

COLUMNS = ["picture", "language", "text", "split", "origin"]
KINDS = ["jsonl", "jsonl.gz", "csv", "csv.gz", "tsv", "tsv.gz", "parquet"]
Rows = list[dict[str, Any]]


def write_table(path: Path, rows: Rows, columns: list[str] = COLUMNS) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in columns}), path)
        return
    if ".jsonl" in path.name:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        buffer = io.StringIO(newline="")
        writer = csv.DictWriter(buffer, columns, delimiter="\t" if ".tsv" in path.name else ",")
        writer.writeheader()
        writer.writerows(rows)
        text = buffer.getvalue()
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def draw_picture(path: Path, seed: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = random.Random(seed).randbytes(48 * 48 * 3)
    Image.frombytes("RGB", (48, 48), noise).save(path)


def as_rows(corpus: Corpus) -> Rows:
    return [
        {
            "picture": str(corpus.pictures[owner]),
            "language": str(language),
            "text": text,
            "split": str(corpus.splits[owner]),
            "origin": str(origin),
        }
        for owner, language, text, origin in zip(
            corpus.owners, corpus.languages, corpus.texts, corpus.origins, strict=True
        )
    ]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder photos/ with three good pictures."""
    folder = tmp_path / "photos"
    for seed, name in enumerate(["img_0024.jpg", "beach.png", "more/cat.jpg"]):
        draw_picture(folder / name, seed)
    return folder


def good(**changes: Any) -> dict[str, Any]:
    row = {"picture": "beach.png", "language": "en", "text": "A beach.", "split": "train", "origin": "human"}
    return {**row, **changes}
