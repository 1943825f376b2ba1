"""manifest.json: what an index is made of, written last; it vouches for the other files by their checksums.

Their names change with each build, so that an index is the old one until the new manifest is in place, and a killed
build leaves the old one whole.
"""

import os
import shutil
from pathlib import Path
from typing import Literal

from pydantic import Field

from groundling.checksums import is_unchanged
from groundling.errors import UserError, path_meant
from groundling.files import check_checksum, read_json, with_checksum, write_json
from groundling.model import Model
from groundling.settings import Settings, check

FORMAT = 1
FILE = "manifest.json"


class ModelFacts(Settings):
    """What was asked for by name, and what it turned out to be."""

    kind: Literal["run", "pretrained"]
    name: str
    text: str | None = Field(None, description="the separate text side, where there is one")
    prompt: str | None = Field(None, description="what texts are put into before they are read")
    backbone: str
    fingerprint: str
    pictures: str = Field("", description="the fingerprint of its picture side; indexes had none before")
    dimensions: int = Field(ge=1)
    languages: list[str]


class StoredFile(Settings):
    name: str = Field(pattern=r"^[\w-]+\.\w+$")
    sha256: str


class StoreFacts(Settings):
    name: Literal["faiss", "faiss-disk", "milvus", "pgvector"] = "faiss"
    uri: str | None = Field(None, description="of a Milvus or a PostgreSQL")
    collection: str | None = Field(None, description="in a Milvus; the table of a PostgreSQL")
    layout: int = Field(1, description="of the collection: 2 has a partition key, the folder or a caption's language")
    replicas: int | None = Field(None, ge=1, le=64, description="copies in the memory of a Milvus's query nodes")
    consistency: Literal["Strong", "Bounded", "Session", "Eventually"] | None = Field(
        None, description="how new what a Milvus finds must be; Strong"
    )
    partitions: int | None = Field(None, ge=1, le=1024, description="of the collection, by its partition key")

    @property
    def by_faiss(self) -> bool:
        """Whether this very process searches, with FAISS."""
        return self.name.startswith("faiss")

    @property
    def for_one_process(self) -> bool:
        """Whether only one process at a time may search it: a Milvus Lite file is locked by whoever has it open."""
        return self.name == "milvus" and "://" not in str(self.uri)


class SearchFacts(Settings):
    """How the vectors are searched, and how much of the truth that finds."""

    kind: Literal["exact", "ivf", "hnsw", "ivf-pq"] = "exact"
    effort: int | None = Field(None, description="lists looked into (ivf) or candidates kept (hnsw) for each query")
    candidates: int | None = Field(None, description="of ivf-pq: how many are compared once more, by their vectors")
    target: float | None = Field(None, description="the recall that was asked for")
    recall_at_10: float = Field(1.0, description="the share of the ten true nearest pictures that is found")
    queries: int = Field(0, description="pictures of the index that the recall was measured with")
    text_recall_at_10: float | None = Field(None, description="the same for texts, where some were given")
    texts: int = Field(0, description="texts that it was measured with")


class Manifest(Settings):
    format: Literal[1]
    groundling: str
    kind: Literal["pictures", "captions"]
    root: str | None = Field(description="the folder of the pictures, from that of the index where they are together")
    model: ModelFacts
    count: int = Field(ge=0)
    skipped: dict[str, str]
    store: StoreFacts
    search: SearchFacts
    entries: StoredFile
    vectors: StoredFile | None = Field(description="absent where a Milvus holds them")
    lists: StoredFile | None = Field(None, description="on disk: the FAISS index beside the vectors")


def read(folder: Path) -> Manifest:
    """The manifest of an index; a folder that is none, or an unfinished one, is named."""
    if not folder.is_dir():
        raise UserError(
            f"{folder}: no such index{path_meant(folder)}; build one with `groundling index FOLDER --out {folder}`"
        )
    path = folder / FILE
    if not path.exists():
        unfinished = (folder / "journal.bin").exists()
        raise UserError(
            f"{folder}: an index that is not finished; give the command that built it once more, it goes on from there"
            if unfinished
            else f"{folder}: not an index (there is no {FILE}); of a folder of pictures, "
            f"`groundling index {folder} --out {folder.name or 'photos'}.index` makes one"
        )
    values = check_checksum(read_json(path), path)
    if isinstance(values, dict) and values.get("format", FORMAT) != FORMAT:
        raise UserError(f"{path}: format {values['format']}, and this groundling reads {FORMAT}; build the index again")
    return check(Manifest, values, str(path))


def write(folder: Path, manifest: Manifest) -> None:
    """Puts the new manifest in place, and then removes what only the old one named."""
    write_json(folder / FILE, with_checksum(manifest.model_dump()))
    named = {stored.name for stored in (manifest.entries, manifest.vectors, manifest.lists) if stored is not None}
    for path in folder.iterdir():
        if path.name.startswith(("entries-", "vectors-")) and path.name not in named:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def verify(folder: Path, stored: StoredFile) -> Path:
    """The path of a file that is exactly what was written."""
    path = folder / stored.name
    try:
        same = is_unchanged(path, stored.sha256)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; the index is not whole, build it again") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    if not same:
        raise UserError(f"{path}: damaged (not the file that {FILE} describes); build the index again")
    return path


def place_from(folder: Path, place: Path) -> str:
    """How the manifest writes a place: from the folder of the index where one lies in the other, whole otherwise."""
    folder, place = folder.resolve(), place.resolve()
    together = place.is_relative_to(folder) or folder.is_relative_to(place)
    return Path(os.path.relpath(place, folder)).as_posix() if together else str(place)


def model_names(folder: Path, manifest: Manifest) -> tuple[str, str | None]:
    """The names to load the model by: folders are found from that of the index, names on the hub are left."""
    found = [
        str((folder / name).resolve()) if name is not None and (folder / name).exists() else name
        for name in (manifest.model.name, manifest.model.text)
    ]
    return str(found[0]), found[1]


def fits(manifest: Manifest, model: Model) -> bool:
    """Whether vectors of a model can be compared with those of an index.

    Of a model that was taught another language, or has another text side, the pictures are where they were, and so is
    what finds them.
    """
    facts = manifest.model
    if model.fingerprint == facts.fingerprint:
        return True
    return manifest.kind == "pictures" and bool(facts.pictures) and model.picture_fingerprint == facts.pictures


def facts_of_model(model: Model, name: str, text: str | None, prompt: str | None = None) -> ModelFacts:
    return ModelFacts(
        kind=model.kind,
        name=name,
        text=text,
        prompt=prompt,
        backbone=model.backbone,
        fingerprint=model.fingerprint,
        pictures=model.picture_fingerprint,
        dimensions=model.dimensions,
        languages=sorted(model.languages),
    )
