"""An index, opened: find pictures or captions by words, or by a picture.

>>> index = Index.open("photos.index")                    # doctest: +SKIP
>>> index.search("ein Hund am Strand", k=3)               # doctest: +SKIP
[FoundPicture(path='2019/beach.jpg', score=0.31, duplicates=()), ...]
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from groundling.decoding.opening import COLLECTION
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import shared
from groundling.errors import UserError
from groundling.model import Model, Vectors, load
from groundling.model.loading import exported_beside, is_ours
from groundling.model.reading import TextReading
from groundling.search import manifest as manifests
from groundling.search import walk
from groundling.search.duplicates import search_groups
from groundling.search.entries import Entries
from groundling.search.manifest import Manifest
from groundling.search.query import Query
from groundling.search.search_filter import SearchFilter
from groundling.search.searchable import searchable
from groundling.search.store import Store, allow_store, open_store

LONGEST_QUERY = 10_000  # characters
TRIES, PAUSE = 100, 0.01  # to read an index while it is brought up to date, and seconds between them


@dataclass(frozen=True)
class FoundPicture:
    """`path` is below the folder that was indexed; `score` is the cosine, at most 1.

    `duplicates` are the paths of pictures that look the same, where these are grouped.
    """

    path: str
    score: float
    duplicates: tuple[str, ...] = ()


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
        self,
        folder: Path,
        manifest: Manifest,
        entries: Entries,
        store: Store,
        model: str | None,
        device: str,
        text_model: str | None = None,
        prompt: str | None = None,
    ):
        self.folder, self.manifest, self.entries, self.store = folder, manifest, entries, store
        self.root = None if manifest.root is None else (folder / manifest.root).resolve()
        self._name, self._device, self._text, self._prompt = model, device, text_model, prompt

    @staticmethod
    def open(
        folder: str | Path,
        model: str | None = None,
        device: str = "auto",
        store: str | None = None,
        text_model: str | None = None,
        prompt: str | None = None,
    ) -> "Index":
        """The index in a folder, whole or not at all.

        `model` is where its model is now, if that has moved, or another whose picture side is the same, such as one
        that was taught a language since; `store`, as "milvus:URI", says that a server which the index names may be
        connected to; `text_model` is another text encoder for a pretrained model, and `prompt` what a query is put
        into before it reads it.
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
                found = open_store(folder, manifest, entries)
                return Index(folder, manifest, entries, found, model, device, text_model, prompt)
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
        prompt = self.manifest.model.prompt
        if self._name is not None:
            name = self._name
            if is_ours(Path(name).expanduser()):  # it has a text side of its own
                text = prompt = None
        text, prompt, quick = self._text or text, self._prompt or prompt, None
        if self._name is None and text is None and prompt is None and self._device in ("auto", "cpu"):
            quick = exported_beside(name, self.manifest.model.fingerprint)  # it starts in a fraction of the time
        try:
            model = searchable(load(quick or name, text, self._device, prompt))
        except UserError as error:
            if self._name is None:
                raise UserError(f"{error} (the model of {self.folder}; say with --model where it is now)") from None
            raise
        if not manifests.fits(self.manifest, model):
            raise UserError(
                f"{name}: not the model that {self.folder} was built with, or trained anew since; build the index again"
            )
        return model

    def language_of(self, text: str, language: str | None = None) -> str:
        """The language of a query, as the model reads it."""
        return self.understand(text, language).language

    def understand(self, text: str, language: str | None = None) -> TextReading:
        """How the model reads a query: its language, given or detected, and the words that it does not know."""
        if not text.strip():
            raise UserError("the query is empty; say what to look for")
        if len(text) > LONGEST_QUERY:
            raise UserError(f"the query has {len(text):,} characters, more than {LONGEST_QUERY:,}")
        return self.model.read(text, language)

    def search(
        self,
        text: str,
        k: int = 10,
        language: str | Sequence[str] | None = None,
        *,
        plus: Sequence[str] = (),
        minus: Sequence[str] = (),
        **options: Any,
    ) -> list[Found]:
        """What the words describe, the best first.

        Args:
            text: the query, in any language of the model.
            k: how many to find.
            language: its code; guessed when left out. Of several, the words are read in each.
            plus, minus: words that are wanted, too, and words that are not: `search("dog", plus=["beach"])`.
            options: where to look and what to leave out, as `find` has them.
        """
        languages = [language] if isinstance(language, str) else list(language or ())
        return self.find(Query([text, *plus], list(minus), languages=languages), k, **options)

    def like(self, picture: str | Path | bytes, k: int = 10, **options: Any) -> list[Found]:
        """What is like a picture (a file, or its bytes): pictures, or the captions that describe it."""
        return self.find(Query(picture=picture), k, **options)

    def find(
        self,
        query: Query,
        k: int = 10,
        *,
        folder: str | None = None,
        since: str | None = None,
        until: str | None = None,
        captions_in: str | None = None,
        exact: bool = False,
        minimum_score: float | None = None,
        group_duplicates: bool = False,
    ) -> list[Found]:
        """The answers to a query that may have several parts, the best first.

        Args:
            query: what to look for.
            k: how many to find.
            folder, since, until: search only pictures there, or of that time (see `search.search_filter.SearchFilter`).
            captions_in: search only captions of this language.
            exact: compare with every entry, even where the index is approximate.
            minimum_score: leave out what has a lower score.
            group_duplicates: pictures that look the same count as one, which names the others.
        """
        if k < 1:
            raise UserError(f"-k {k}: at least one must be found")
        choice = SearchFilter.of(folder, since, until, captions_in)
        vector = query.vector(self)
        if group_duplicates and self.manifest.kind == "pictures":
            found = [
                self._found(group.row, group.score, group.others)
                for group in search_groups(self.store, len(self), vector, k, choice, exact)
            ]
        else:
            found = self.nearest(vector[None], k, choice, exact)[0]
        return found if minimum_score is None else [one for one in found if one.score >= minimum_score]

    def encode(self, text: str, language: str | None = None) -> Vectors:
        """The vector of a query."""
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
            prepared = shared(COLLECTION).array(data, self.model.preparation)
        except (walk.Unreadable, PictureError) as error:
            raise UserError(f"{name}: {error}") from None
        return np.asarray(self.model.encode_prepared([prepared])[0], dtype=np.float32)

    def nearest(
        self, vectors: Vectors, k: int = 10, choice: SearchFilter | None = None, exact: bool = False
    ) -> list[list[Found]]:
        """The same for vectors [queries, dimensions] that are already there: a list for each."""
        if k < 1:
            raise UserError(f"-k {k}: at least one must be found")
        scores, rows = self.store.search(vectors, min(k, len(self)), choice, exact)
        return [
            [self._found(row, score) for row, score in zip(some, values, strict=True) if row >= 0]
            for some, values in zip(rows.tolist(), scores.tolist(), strict=True)
        ]

    def _found(self, row: int, score: float, others: Sequence[int] = ()) -> Found:
        name = self.entries.value("name", row)
        if self.manifest.kind == "captions":
            return FoundCaption(name, self.entries.value("language", row), score)
        return FoundPicture(name, score, tuple(self.entries.value("name", other) for other in others))

    def read(self, path: str) -> bytes:
        """The bytes of a picture that was found; never of anything outside its folder."""
        if self.root is None:
            kept = "captions has no pictures" if self.manifest.kind == "captions" else "shards has no picture files"
            raise UserError(f"{self.folder}: an index of {kept}")
        try:
            return walk.read(self.root, path)[0]
        except walk.Unreadable as error:
            raise UserError(f"{self.root / path}: {error}") from None
