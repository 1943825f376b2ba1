"""What somebody asks for of an index, checked before hours of work: where, with which model, in which store."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from groundling.errors import UserError, did_you_mean
from groundling.model import Model, load
from groundling.search import manifest as manifests
from groundling.search.build import Build, Built, building
from groundling.search.bulk import BulkImport
from groundling.search.manifest import ModelFacts, StoreFacts
from groundling.search.recall import ENOUGH, Aim
from groundling.search.searchable import searchable
from groundling.search.store import KINDS, allow_store, check_store, store_facts

OURS = ("lock", "journal.bin", "milvus.db", "entries-", "vectors-", ".")  # what a killed build may have left
Finish = Callable[[Path | None], Built]


class Options(TypedDict, total=False):
    """What all three kinds of index may be told; `IndexRequest` has the defaults and says what each means."""

    prompt: str | None
    store: str
    kind: str
    update: bool
    device: str
    recall: float | None
    queries: Sequence[str]
    bulk: BulkImport | None


@dataclass
class IndexRequest:
    """An index that somebody asked for, whatever is to be found in it.

    Attributes:
        out: the folder of the index; a build that was cut short there goes on.
        model, text_model, prompt: see `model.loading.load`.
        store: "faiss", "faiss-disk" or "milvus:URI".
        kind: auto, exact, ivf or hnsw; with `update`, auto keeps to an approximate search that is there.
        update: add, change and remove what has changed since; the model is that of the index where it is left out.
        device: auto, cpu, cuda or cuda:0.
        recall: the share of the ten nearest that an approximate search must find; 0.95, or that of the index.
        queries: texts for which it must find that, too.
        bulk: rows reach a Milvus as files in its storage.
        old: the index that is there, where there is one.
    """

    out: Path
    model: str | None = None
    text_model: str | None = None
    prompt: str | None = None
    store: str = "faiss"
    kind: str = "auto"
    update: bool = False
    device: str = "auto"
    recall: float | None = None
    queries: Sequence[str] = ()
    bulk: BulkImport | None = None

    def __post_init__(self) -> None:
        self.old = self._existing()
        if self.old is not None and self.kind == "auto" and self.old.search.kind in ("ivf", "hnsw"):
            self.kind = self.old.search.kind  # asked for once, or chosen by a size; an update does not undo it

    def _existing(self) -> manifests.Manifest | None:
        """The index that is there, if it may be brought up to date."""
        kind, out = self.kind, self.out
        if kind not in KINDS:
            raise UserError(f'--kind: no kind of search is called "{kind}"{did_you_mean(kind, KINDS)}')
        if not (out / manifests.FILE).exists():
            if out.is_dir() and not all(path.name.startswith(OURS) for path in out.iterdir()):
                raise UserError(f"{out}: a folder with other things in it; choose another --out for the index")
            return None
        old = manifests.read(out)
        if not self.update:
            raise UserError(f"{out}: an index is there; bring it up to date with --update, or choose another --out")
        return old

    @contextmanager
    def building(self, content: str) -> Iterator[tuple[Build, Finish]]:
        """A build of pictures or captions, and what finishes it, given the folder of the pictures."""
        model, facts = self._load()
        store = self._store(model)
        with building(self.out, content, model, facts) as build:
            yield build, lambda root: build.finish(root, store, self.kind, self._aim(model), self.bulk)

    def _load(self) -> tuple[Model, ModelFacts]:
        """The model asked for; that of the index where none is."""
        if self.model is None:
            if self.old is None:
                raise UserError("which model? Give --model RUN, or the folder or name of a pretrained one")
            names = manifests.model_names(self.out, self.old)
            model = searchable(load(*names, device=self.device, prompt=self.prompt or self.old.model.prompt))
            known = self.prompt is None
            return model, self.old.model if known else manifests.facts_of_model(model, *names, self.prompt)
        model = searchable(load(self.model, self.text_model, self.device, self.prompt))
        text = None if self.text_model is None else self._place(self.text_model)
        return model, manifests.facts_of_model(model, self._place(self.model), text, self.prompt)

    def _place(self, name: str) -> str:
        """Where a model is, as the manifest says it: a folder from the index, or a name."""
        path = Path(name).expanduser()
        return manifests.place_from(self.out, path) if path.exists() else name

    def _store(self, model: Model) -> StoreFacts:
        """Where the vectors go; tried before hours of work."""
        if self.old is not None:
            there = self.old.store.name
            if self.store not in ("faiss", there) and not self.store.startswith(f"{there}:"):
                raise UserError(f"{self.out}: keeps its vectors in {there}; choose another --out for another --store")
            allow_store(self.store)
            facts = self.old.store
        else:
            facts = store_facts(self.store, self.out, model.fingerprint)
        check_store(self.out, facts, self.kind, self.bulk)
        return facts

    def _aim(self, model: Model) -> Aim:
        """What an approximate search must find; texts are read in the language that they seem to be in."""
        before = None if self.old is None else self.old.search.target
        texts = [text for text in self.queries if text.strip()]
        vectors = None
        if texts:
            languages = [model.read(text, None).language for text in texts]
            vectors = np.asarray(model.encode_text(texts, languages), dtype=np.float32)
        return Aim(self.recall or before or ENOUGH, vectors)
