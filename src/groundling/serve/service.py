"""Where questions are answered: models and indexes in threads of their own, behind queues.

Words and pictures are encoded, and vectors searched for, a batch at a time. Files are read in threads beside them, and
pictures decoded in processes of their own, so that nobody who looks for a word waits for another's picture.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache

from groundling.checking.checker import Checker, Prediction, prediction
from groundling.checking.problem import NotChecked
from groundling.corpus.formats.checks import BadRow
from groundling.decoding.opening import COLLECTION
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.thumbnail import Thumbnail
from groundling.decoding.work import Work
from groundling.decoding.workers import Decoded, DecodeLimits, LargePicture, Workers
from groundling.errors import UserError
from groundling.model.reading import TextReading
from groundling.model.vectors import Vectors
from groundling.search import Index
from groundling.search.duplicates import Group, search_groups
from groundling.search.faiss_store import faiss_module
from groundling.search.search_filter import SearchFilter
from groundling.serve.batching import Batcher, Full
from groundling.serve.fair_semaphore import FairSemaphore
from groundling.serve.limits import Limits
from groundling.serve.metrics import Metrics
from groundling.serve.pictures import UNKNOWN, Pictures, Shown, media_type
from groundling.serve.problems import Problem, busy
from groundling.serve.uploads import Uploads
from groundling.text.language_detection import language_of_model

Result = TypeVar("Result")
Hits = list[tuple[int, float]]  # row and score, the best first
WORTH_A_PRODUCT = 4  # queries
LARGE = 16_000_000  # pixels of a picture that others should not wait for
BRISK = 0.2  # seconds of computing that a usual picture takes at most; what takes longer makes way for others
READY_WITHIN = 3.0  # seconds
MANY = 2**24  # numbers in an index that one core reads in some milliseconds


@dataclass(frozen=True)
class Words:
    """A query, understood: how the model reads it, and its vector (None for an empty one)."""

    reading: TextReading
    vector: Vectors | None


@dataclass(frozen=True)
class Wanted:
    """What to look for, and where."""

    vector: Vectors
    k: int
    choice: SearchFilter | None


class Service:
    """Answers about one index of pictures and, where they are given, one of captions and a model that judges."""

    def __init__(
        self,
        index: Index,
        captions: Index | None = None,
        checker: Checker | None = None,
        limits: Limits | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.index, self.captions, self.checker = index, captions, checker
        self.limits, self.metrics = limits or Limits(), metrics or Metrics()
        cores = os.cpu_count() or 2
        limits = self.limits
        allowed = DecodeLimits(COLLECTION, limits.pixels, LARGE, limits.decoding, limits.seconds, brisk=BRISK)
        self.workers = Workers(allowed, max(2, cores - 1))  # one that somebody keeps busy is not the only one
        self.uploads = Uploads(limits)
        self.pictures = Pictures(index, limits.thumbnails)
        _fits(index, captions)
        self.model = index.model
        self.model.load_picture_side()
        self._queries: LRUCache[tuple[str, str], Words] = LRUCache(self.limits.queries)
        self._hands = ThreadPoolExecutor(cores, thread_name_prefix="hands")
        # The text encoder of a run is small: cores that share its work would mostly wait for each other.
        words = worker("words", 1 if self.model.kind == "run" else cores)
        pictures, search, self._judging = worker("pictures", cores), worker("search", cores), worker("judge", cores)
        usual, large = self.workers.count, 1
        self._usual, self._large = FairSemaphore(usual), FairSemaphore(large)
        self._decoding = ThreadPoolExecutor(usual + large, thread_name_prefix="decoding")
        self._pools = [words, pictures, search, self._judging, self._decoding]
        self._words: Batcher[tuple[str, str], Words] = self._batcher("words", self.understand, words)
        self._seen: Batcher[Any, Vectors] = self._batcher("pictures", self._look, pictures)
        self._search: Batcher[Wanted, Hits] = self._batcher("search", lambda some: nearest(index, some), search, 0)
        self._grouped: Batcher[Wanted, list[Group]] = self._batcher("groups", self._group, search, 0)
        self._told: Batcher[Wanted, Hits] = self._batcher(
            "captions", lambda some: nearest(self.has_captions(), some), search, 0
        )
        self.metrics.pictures.set(len(index))
        for one in (index, captions):
            if one is not None and one.manifest.store.by_faiss:
                one.store = one.store.for_many()
                _search_together(one)

    def _batcher(self, name: str, work: Callable[[list[Any]], Sequence[Any]], pool: Any, wait: float = 0.002) -> Any:
        made: Batcher[Any, Any] = Batcher(
            work, pool, wait=wait, queue=self.limits.queue, seen=lambda size: watched(size)
        )
        watched = self.metrics.watch(name, lambda: len(made))
        return made

    def close(self) -> None:
        """What is being worked on is finished, but for pictures; what waits is dropped."""
        self.workers.close()
        for pool in (*self._pools, self._hands):
            pool.shutdown(wait=True, cancel_futures=True)

    # Questions

    def warm_up(self) -> None:
        """Ask once, so that the first to ask does not wait for what is loaded with the first question."""
        vector = self.understand([("warm", "")])[0].vector
        if vector is not None:
            nearest(self.index, [Wanted(vector, 1, None)])

    async def ready(self) -> None:
        """Asks the index for one picture: 503 where it has no answer in time, as when its Milvus is gone."""
        vector = np.full(self.model.dimensions, self.model.dimensions**-0.5, dtype=np.float32)
        try:
            await asyncio.wait_for(self.find(vector, 1), READY_WITHIN)
        except TimeoutError:
            raise busy("the index has no answer in time") from None

    async def words(self, text: str, language: str | None) -> Words:
        """A query and its vector."""
        try:
            key = (text, language_of_model(language, self.model.languages) if language else "")
        except BadRow as problem:
            raise Problem(404, str(problem)) from None
        if not text.strip():
            return Words(TextReading(key[1], not key[1]), None)
        kept = self._queries.get(key)
        if kept is None:
            kept = await self._ask(self._words, key)
            self._queries[key] = kept
        return kept

    async def look(self, data: bytes, who: str) -> Vectors:
        """The vector of a picture that was sent by `who`."""
        decoded = await self.decode_sent(data, self.model.preparation, who)
        return await self._ask(self._seen, decoded.array)

    async def decode_sent(self, data: bytes, work: Work, who: str) -> Decoded:
        """A picture from elsewhere: of the formats that browsers show, whatever else the collection may hold."""
        if media_type(data[:16]) == UNKNOWN:
            raise Problem(422, "the picture: not a picture of a known format")
        return await self.decode(data, work, who)

    async def decode(self, data: bytes, work: Work, who: str) -> Decoded:
        """A picture, decoded in a process of its own; those who ask take turns, and large ones have their own."""
        try:
            try:
                async with self._usual.turn(who):
                    return await self._in(self._decoding, lambda: self.workers.decode_usual(data, work))
            except LargePicture:
                async with self._large.turn(who):
                    return await self._in(self._decoding, lambda: self.workers.decode_large(data, work))
        except TooManyPixels as error:
            raise Problem(413, f"the picture {error}") from None
        except PictureError as error:
            raise Problem(422, f"the picture: {error}") from None

    async def small(self, row: int, size: int, who: str) -> Shown:
        """A small copy of a picture of the index."""
        found = await self.by_hand(self.pictures.kept, row, size)
        if found is None:
            data = await self.by_hand(self.pictures.read, row)
            try:
                decoded = await self.decode(data, Thumbnail(size), who)
            except Problem as problem:
                raise Problem(410, problem.detail) from None
            found = self.pictures.keep(row, size, decoded.data)
        return found

    async def find(self, vector: Vectors, k: int, choice: SearchFilter | None = None) -> Hits:
        return await self._ask(self._search, Wanted(vector, k, choice))

    async def find_groups(self, vector: Vectors, k: int, choice: SearchFilter | None = None) -> list[Group]:
        """The same, where pictures that look the same are one."""
        return await self._ask(self._grouped, Wanted(vector, k, choice))

    async def describe(self, vector: Vectors, k: int) -> Hits:
        """Rows of the captions."""
        self.has_captions()
        return await self._ask(self._told, Wanted(vector, k, None))

    async def check(self, picture: bytes, text: str, language: str | None, who: str) -> Prediction:
        """Whether a sentence is true of a picture, given by its bytes; 422 where the language is not the model's."""
        checker = self.can_check()
        try:
            reading = checker.read(text, language)
        except NotChecked as problem:
            raise Problem(422, str(problem)) from None
        decoded = await self.decode_sent(picture, checker.model.preparation, who)

        def judge() -> Prediction:
            features = checker.model.features_of([decoded.array])
            return prediction(checker.model.judge_features([text], features, [reading.language])[0], reading)

        return await self._in(self._judging, judge)

    async def vector_of(self, row: int) -> Vectors:
        """The vector of a picture of the index."""
        self.known(row)
        found = await self.by_hand(self.index.store.vectors, np.array([row], dtype=np.int64))
        return np.asarray(found[0], dtype=np.float32)

    def has_captions(self) -> Index:
        if self.captions is None:
            raise Problem(404, "this server has no captions; start it with --captions CAPTIONS_INDEX")
        return self.captions

    def can_check(self) -> Checker:
        if self.checker is None:
            raise Problem(404, "this server has no model that judges; start it with --check MODEL")
        return self.checker

    def known(self, row: int) -> None:
        if not 0 <= row < len(self.index):
            raise Problem(404, f"there is no picture {row}; the index has {len(self.index)}, from 0 on")

    async def by_hand(self, function: Callable[..., Result], *arguments: Any) -> Result:
        return await self._in(self._hands, lambda: function(*arguments))

    async def _in(self, pool: ThreadPoolExecutor, function: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(pool, function)

    async def _ask(self, batcher: Batcher[Any, Result], question: Any) -> Result:
        try:
            return await batcher(question)
        except Full:
            raise busy("too many questions are waiting") from None

    # Work in threads

    def understand(self, some: list[tuple[str, str]]) -> list[Words]:
        """Queries, each with its language or ""; one call of the model for all."""
        readings = [self.model.read(text, given) for text, given in some]
        vectors = self.model.encode_text([text for text, _ in some], [reading.language for reading in readings])
        return [
            Words(reading, np.array(vector, dtype=np.float32))  # a copy: it is kept, its batch is not
            for reading, vector in zip(readings, vectors, strict=True)
        ]

    def _group(self, some: list[Wanted]) -> list[list[Group]]:
        _share(self.index, len(some))
        store, count = self.index.store, len(self.index)
        return [search_groups(store, count, one.vector, one.k, one.choice) for one in some]

    def _look(self, prepared: list[Any]) -> list[Vectors]:
        return list(np.asarray(self.model.encode_prepared(prepared), dtype=np.float32))


def nearest(index: Index, some: list[Wanted]) -> list[Hits]:
    """Those that look in the same way are searched for together: a store may answer differently for another k."""
    groups: dict[tuple[int, SearchFilter | None], list[int]] = {}
    for place, wanted in enumerate(some):
        groups.setdefault((wanted.k, wanted.choice), []).append(place)
    _share(index, len(some))
    found: list[Hits] = [[] for _ in some]
    for (k, choice), places in groups.items():
        vectors = np.stack([some[place].vector for place in places])
        scores, rows = index.store.search(vectors, min(k, len(index)), choice, False)
        for place, own_rows, own_scores in zip(places, rows.tolist(), scores.tolist(), strict=True):
            found[place] = [(row, score) for row, score in zip(own_rows, own_scores, strict=True) if row >= 0]
    return found


def worker(name: str, cores: int) -> ThreadPoolExecutor:
    """One thread, in which torch, where a model has loaded it, computes on this many cores."""
    torch: Any = sys.modules.get("torch")  # exported models run without it

    def begin() -> None:
        if torch is not None:
            torch.set_num_threads(cores)
            torch.get_num_threads()  # takes it up now, rather than what another thread has set by then

    pool = ThreadPoolExecutor(1, initializer=begin, thread_name_prefix=name)
    pool.submit(int).result()
    return pool


def _share(index: Index, questions: int) -> None:
    """All cores for a question that comes alone to a large index; where several come, each batch keeps to one core.

    Cores that share a search wait for each other, and while others want them, that takes longer than the search.
    """
    if index.manifest.store.by_faiss:
        large = len(index) * index.manifest.model.dimensions > MANY
        faiss_module().omp_set_num_threads((os.cpu_count() or 1) if questions == 1 and large else 1)


def _search_together(index: Index) -> None:
    """Few queries at once are worth a matrix product, which FAISS by itself begins with hundreds: 32 take a seventh."""
    settings, numbers = faiss_module().cvar, WORTH_A_PRODUCT * index.manifest.model.dimensions
    settings.distance_compute_blas_threshold = min(settings.distance_compute_blas_threshold, numbers)


def _fits(index: Index, captions: Index | None) -> None:
    if captions is None:
        return
    if captions.manifest.kind != "captions":
        raise UserError(f"{captions.folder}: an index of {captions.manifest.kind}, where one of captions is needed")
    if captions.manifest.model.fingerprint != index.manifest.model.fingerprint:
        raise UserError(f"{captions.folder}: was built with another model than {index.folder}; build it again with it")
