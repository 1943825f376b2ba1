"""An index, opened: find pictures or captions by words, or by a picture.

>>> index = Index.open("photos.index")                    # doctest: +SKIP
>>> index.search("ein Hund am Strand", k=3)               # doctest: +SKIP
[FoundPicture(path='2019/beach.jpg', score=0.31), ...]
"""

import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from groundling.decoding.opening import PHOTOGRAPHS
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import shared
from groundling.errors import UserError
from groundling.model import Model, Vectors, load
from groundling.search import manifest as manifests
from groundling.search import walk
from groundling.search.choice import Choice
from groundling.search.entries import Entries
from groundling.search.manifest import Manifest
from groundling.search.searchable import searchable
from groundling.search.store import Store, allow_store, open_store
from groundling.text.language_detection import checked_language, detect_language

LONGEST_QUERY = 10_000  # characters
TRIES, PAUSE = 100, 0.01  # to read an index while it is brought up to date, and seconds between them


@dataclass(frozen=True)
class FoundPicture:
    """`path` is below the folder that was indexed; `score` is the cosine, at most 1."""

    path: str
    score: float


@dataclass(frozen=True)
class FoundCaption:
    text: str
    language: str
    score: float


Found = FoundPicture | FoundCaption


class Index:
    """Opened by `Index.open`. The model is loaded with the first question, and questions may come from several threads.

    Attributes:
        folder: where it is.
        manifest: what it says of itself: model, count, kind, what was skipped, how it is searched.
        root: the folder of its pictures; None for captions.
    """

    def __init__(
        self, folder: Path, manifest: Manifest, entries: Entries, store: Store, model: str | None, device: str
    ):
        self.folder, self.manifest, self.entries, self.store = folder, manifest, entries, store
        self.root = None if manifest.root is None else (folder / manifest.root).resolve()
        self._name, self._device = model, device

    @staticmethod
    def open(folder: str | Path, model: str | None = None, device: str = "auto", store: str | None = None) -> "Index":
        """The index in a folder, whole or not at all.

        `model` is where its model is now, if that has moved; `store`, as "milvus:URI", says that a server which the
        index names may be connected to.
        """
        allow_store(store)
        folder = Path(folder)
        for _ in range(TRIES):
            manifest = manifests.read(folder)
            try:
                entries = Entries.load(manifests.verify(folder, manifest.entries))
                if len(entries) != manifest.count:
                    raise UserError(
                        f"{folder}: the table has {len(entries)} entries, not {manifest.count}; build it again"
                    )
                return Index(folder, manifest, entries, open_store(folder, manifest, entries), model, device)
            except UserError:
                if manifests.read(folder) == manifest:
                    raise
                time.sleep(PAUSE)  # another process has just put a new one in its place: that is read instead
        raise UserError(f"{folder}: is being changed faster than it can be read; try again in a moment")

    @staticmethod
    def build(
        pictures: str | Path, out: str | Path, model: str | os.PathLike[str] | None = None, **options: Any
    ) -> "Index":
        """An index of the pictures in a folder; `index_pictures` has the options, and tells what was done."""
        from groundling.search.indexing import index_pictures

        index_pictures(Path(pictures), Path(out), None if model is None else os.fspath(model), **options)
        return Index.open(out)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        model = self.manifest.model
        return f"Index {self.folder}: {len(self):,} {self.manifest.kind}, {model.dimensions} dimensions ({model.name})"

    @cached_property
    def model(self) -> Model:
        """The model that the index was built with, or another that looks at pictures alike; any other is an error."""
        name, text = manifests.model_names(self.folder, self.manifest)
        if self._name is not None:
            name = self._name
        try:
            model = searchable(load(name, text, self._device))
        except UserError as error:
            if self._name is None:
                raise UserError(f"{error} (the model of {self.folder}; say with --model where it is now)") from None
            raise
        if not self._fits(model):
            raise UserError(
                f"{name}: not the model that {self.folder} was built with, or trained anew since; build the index again"
            )
        return model

    def _fits(self, model: Model) -> bool:
        """Whether vectors of a model can be compared with those of the index.

        Of a model that was taught another language the pictures are where they were, and so is what finds them.
        """
        facts = self.manifest.model
        if model.fingerprint == facts.fingerprint:
            return True
        return self.manifest.kind == "pictures" and bool(facts.pictures) and model.picture_fingerprint == facts.pictures

    def language_of(self, text: str, language: str | None = None) -> str:
        """The language of a query: as given, or guessed among those of the model; "" for a model that does not ask."""
        if language:
            return checked_language(language)
        known = self.manifest.model.languages
        return detect_language(text, known) if self.manifest.model.kind == "run" else ""

    def search(
        self,
        text: str,
        k: int = 10,
        language: str | None = None,
        *,
        folder: str | None = None,
        since: str | None = None,
        until: str | None = None,
        exact: bool = False,
    ) -> list[Found]:
        """What the words describe, the best first.

        Args:
            text: the query, in any language of the model.
            k: how many to find.
            language: its code; guessed when left out.
            folder, since, until: search only pictures there, or of that time (see `search.choice.Choice`).
            exact: compare with every entry, even where the index is approximate.
        """
        choice = Choice.of(folder, since, until)
        vector = self.encode(text, language)
        return self.nearest(vector[None], k, choice, exact)[0]

    def like(
        self,
        picture: str | Path | bytes,
        k: int = 10,
        *,
        folder: str | None = None,
        since: str | None = None,
        until: str | None = None,
        exact: bool = False,
    ) -> list[Found]:
        """What is like a picture (a file, or its bytes): pictures, or the captions that describe it."""
        choice = Choice.of(folder, since, until)
        return self.nearest(self.look(picture)[None], k, choice, exact)[0]

    def encode(self, text: str, language: str | None = None) -> Vectors:
        """The vector of a query."""
        if not text.strip():
            raise UserError("the query is empty; say what to look for")
        if len(text) > LONGEST_QUERY:
            raise UserError(f"the query has {len(text):,} characters, more than {LONGEST_QUERY:,}")
        code = self.language_of(text, language)
        return np.asarray(self.model.encode_text([text], [code])[0], dtype=np.float32)

    def look(self, picture: str | Path | bytes) -> Vectors:
        """The vector of a picture."""
        name = "the picture" if isinstance(picture, bytes) else str(picture)
        try:
            if isinstance(picture, bytes):
                data = picture
            else:
                path = Path(picture).expanduser().resolve()  # a file that the user names may be reached by a link
                data = walk.read(path.parent, path.name)[0]
            prepared = shared(PHOTOGRAPHS).array(data, self.model.preparation)
        except (walk.Unreadable, PictureError) as error:
            raise UserError(f"{name}: {error}") from None
        return np.asarray(self.model.encode_prepared([prepared])[0], dtype=np.float32)

    def nearest(
        self, vectors: Vectors, k: int = 10, choice: Choice | None = None, exact: bool = False
    ) -> list[list[Found]]:
        """The same for vectors [queries, dimensions] that are already there: a list for each."""
        if k < 1:
            raise UserError(f"-k {k}: at least one must be found")
        scores, rows = self.store.search(vectors, min(k, len(self)), choice, exact)
        return [
            [self._found(row, score) for row, score in zip(some, values, strict=True) if row >= 0]
            for some, values in zip(rows.tolist(), scores.tolist(), strict=True)
        ]

    def _found(self, row: int, score: float) -> Found:
        name = self.entries.value("name", row)
        if self.manifest.kind == "captions":
            return FoundCaption(name, self.entries.value("language", row), score)
        return FoundPicture(name, score)

    def read(self, path: str) -> bytes:
        """The bytes of a picture that was found; never of anything outside its folder."""
        if self.root is None:
            raise UserError(f"{self.folder}: an index of captions has no pictures")
        try:
            return walk.read(self.root, path)[0]
        except walk.Unreadable as error:
            raise UserError(f"{self.root / path}: {error}") from None
