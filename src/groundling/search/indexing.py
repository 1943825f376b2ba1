"""Index a folder of pictures, or a list of captions: the two calls behind `groundling index`."""

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundling.decoding.opening import COLLECTION
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import shared
from groundling.errors import UserError, did_you_mean
from groundling.model import Model, Vectors, load
from groundling.search import manifest as manifests
from groundling.search.build import CAPTIONS_AT_ONCE, Build, Built, building, usable
from groundling.search.entries import facts_of
from groundling.search.manifest import ModelFacts, StoreFacts
from groundling.search.previous import Row
from groundling.search.recall import ENOUGH, Aim
from groundling.search.searchable import searchable
from groundling.search.store import KINDS, allow_store, check_store, store_facts
from groundling.search.walk import Unreadable, named_counts, read, walk

OURS = ("lock", "journal.bin", "milvus.db", "entries-", "vectors-", ".")  # what a killed build may have left
RECENT = 2 * 10**9  # nanoseconds; a file written so shortly ago may change again within its time stamp


def index_pictures(
    root: Path | None,
    out: Path,
    model: str | None = None,
    text_model: str | None = None,
    *,
    prompt: str | None = None,
    store: str = "faiss",
    kind: str = "auto",
    update: bool = False,
    device: str = "auto",
    known: Mapping[str, Vectors] | None = None,
    ray: str | None = None,
    recall: float | None = None,
    queries: Sequence[str] = (),
) -> Built:
    """The pictures in a folder, searchable. With `update`, folder and model are those of the index where left out.

    Args:
        root: the folder; links in it are not followed.
        out: the folder of the index; a build that was cut short there goes on.
        model, text_model, prompt: see `model.loading.load`.
        store: "faiss", "faiss-disk" or "milvus:URI".
        kind: auto, exact, ivf or hnsw.
        update: add, change and remove what has changed in the folder since.
        device: auto, cpu, cuda or cuda:0.
        known: SHA-256 of a picture's bytes → its vector, for those that the model has looked at before.
        ray: pictures are encoded by the workers of the Ray at this address, or of one of this machine for "local".
        recall: the share of the ten nearest that an approximate search must find; 0.95, or that of the index.
        queries: texts for which it must find that, too.
    """
    old = _existing(out, update, kind)
    if old is not None and old.kind == "pictures" and old.root is not None:
        stored = (out / old.root).resolve()
        if root is not None and root.resolve() != stored:
            raise UserError(f"{out}: is the index of {stored}, not of {root}; choose another --out")
        root = stored
    if root is None:
        if old is not None and old.kind == "pictures":
            raise UserError(f"{out}: is the index of shards or of an address; name them once more, with --ray")
        raise UserError("which folder? Write `groundling index FOLDER --model RUN --out INDEX`")
    found = walk(root)
    if not found.pictures:
        lost = " (is its disk there? The index was left as it is)" if old is not None else ""
        others = f", only {named_counts(found.others)}" if found.others and not lost else ""
        raise UserError(f"{root}: no pictures in it{others}{lost}")
    opened, facts = _model(out, old, model, text_model, prompt, device)
    place = _store(out, old, store, kind, opened)
    with building(out, "pictures", opened, facts) as build:
        build.links, build.skipped, build.others = found.links, dict(found.skipped), dict(found.others.most_common())
        build.previous.by_digest |= known or {}
        todo = []
        for path, now in found.pictures.items():
            before = build.previous.by_name.get(path)
            if before and (before.facts["size"], before.facts["modified"]) == (now.size, now.modified):
                build.keep(path, before)
            else:
                todo.append(path)
        if todo:
            opened.load_picture_side()
        folder = root
        if ray is not None and todo:
            from groundling.distributed.cluster import joined
            from groundling.search.ray_indexing import Pictures, encode

            with joined(ray) as cluster:
                encode(cluster, build, Pictures.below(folder, todo))
        else:
            build.run(todo, lambda paths: _encode_files(build, folder, paths), opened.batch, "Pictures")
        return build.finish(root, place, kind, _aim(old, opened, recall, queries))


def index_source(
    source: str,
    out: Path,
    ray: str,
    model: str | None = None,
    text_model: str | None = None,
    *,
    prompt: str | None = None,
    store: str = "faiss",
    kind: str = "auto",
    update: bool = False,
    device: str = "auto",
    recall: float | None = None,
    queries: Sequence[str] = (),
) -> Built:
    """The pictures in tar shards (`shards/{000..999}.tar`) or below an address (`s3://bucket/photos`), searchable.

    They are read and encoded by the workers of a Ray. What is found has a name, as `000.tar/dog.jpg`, and no file.
    """
    from groundling.distributed.cluster import joined
    from groundling.search.ray_indexing import Pictures, encode

    old = _existing(out, update, kind)
    if old is not None and old.root is not None:
        raise UserError(f"{out}: is the index of a folder, not of {source}; choose another --out")
    pictures = Pictures.of(source)
    opened, facts = _model(out, old, model, text_model, prompt, device)
    place = _store(out, old, store, kind, opened)
    with building(out, "pictures", opened, facts) as build, joined(ray) as cluster:
        encode(cluster, build, pictures)
        return build.finish(None, place, kind, _aim(old, opened, recall, queries))


def _encode_files(build: Build, root: Path, paths: Sequence[str]) -> None:
    fresh = []
    for path in paths:
        try:
            data, now = read(root, path)
            digest = hashlib.sha256(data).hexdigest()
            known = build.vector_of(digest)
            seen = shared(COLLECTION).decode(data, build.model.preparation if known is None else None)
            sure = now if time.time_ns() - now.modified > RECENT else replace(now, modified=-1)
            taken = seen.taken or now.changed()
            facts = facts_of(path, digest, size=sure.size, modified=sure.modified, taken=taken)
            if known is not None:
                build.add(path, facts, known, encoded=False)
            else:
                fresh.append((facts, seen.array))
        except (Unreadable, PictureError) as error:
            build.skip(path, str(error))
    if not fresh:
        return
    vectors = build.model.encode_prepared([prepared for _, prepared in fresh])
    for (facts, _), vector in zip(fresh, vectors, strict=True):
        if usable(vector):
            build.add(facts["name"], facts, vector, encoded=True)
        else:
            build.skip(facts["name"], "the model makes no finite vector of it")


def index_captions(
    captions: Sequence[tuple[str, str]],
    out: Path,
    model: str | None = None,
    text_model: str | None = None,
    *,
    prompt: str | None = None,
    store: str = "faiss",
    kind: str = "auto",
    update: bool = False,
    device: str = "auto",
    recall: float | None = None,
    queries: Sequence[str] = (),
) -> Built:
    """Captions, (text, language) each, searchable by picture or by text; the same one twice is one."""
    old = _existing(out, update, kind)
    opened, facts = _model(out, old, model, text_model, prompt, device)
    place = _store(out, old, store, kind, opened)
    with building(out, "captions", opened, facts) as build:
        todo = {}
        for text, language in captions:
            row = facts_of(text, hashlib.sha256(f"{language}\0{text}".encode()).hexdigest(), language)
            known = build.previous.by_digest.get(row["digest"])
            if known is not None:
                build.keep(row["digest"], Row(row, known))
            else:
                todo[row["digest"]] = row

        def encode(rows: Sequence[dict[str, str]]) -> None:
            vectors = opened.encode_text([row["name"] for row in rows], [row["language"] for row in rows])
            for row, vector in zip(rows, vectors, strict=True):
                if usable(vector):
                    build.add(row["digest"], row, vector, encoded=True)
                else:
                    build.skip(row["name"], "the model makes no finite vector of it")

        build.run(list(todo.values()), encode, CAPTIONS_AT_ONCE, "Captions")
        return build.finish(None, place, kind, _aim(old, opened, recall, queries))


def _aim(old: manifests.Manifest | None, model: Model, recall: float | None, queries: Sequence[str]) -> Aim:
    """What an approximate search must find; texts are read in the language that they seem to be in."""
    before = None if old is None else old.search.target
    texts = [text for text in queries if text.strip()]
    vectors = None
    if texts:
        languages = [model.read(text, None).language for text in texts]
        vectors = np.asarray(model.encode_text(texts, languages), dtype=np.float32)
    return Aim(recall or before or ENOUGH, vectors)


def _existing(out: Path, update: bool, kind: str) -> manifests.Manifest | None:
    if kind not in KINDS:
        raise UserError(f'--kind: "{kind}" is not {", ".join(KINDS[:-1])} or {KINDS[-1]}{did_you_mean(kind, KINDS)}')
    if not (out / manifests.FILE).exists():
        if out.is_dir() and not all(path.name.startswith(OURS) for path in out.iterdir()):
            raise UserError(f"{out}: a folder with other things in it; choose another --out for the index")
        return None
    old = manifests.read(out)
    if not update:
        raise UserError(f"{out}: an index is there; bring it up to date with --update, or choose another --out")
    return old


def _model(
    out: Path,
    old: manifests.Manifest | None,
    model: str | None,
    text_model: str | None,
    prompt: str | None,
    device: str,
) -> tuple[Model, ModelFacts]:
    """The model asked for; that of the index where none is."""
    if model is None and old is None:
        raise UserError("which model? Give --model RUN, or the folder or name of a pretrained one")
    if model is None and old is not None:
        names = manifests.model_names(out, old)
        opened = searchable(load(*names, device=device, prompt=prompt or old.model.prompt))
        return opened, old.model if prompt is None else manifests.facts_of_model(opened, *names, prompt)
    opened = searchable(load(str(model), text_model, device, prompt))
    places = [
        name if name is None or not Path(name).expanduser().exists() else place(out, name)
        for name in (model, text_model)
    ]
    return opened, manifests.facts_of_model(opened, str(places[0]), places[1], prompt)


def place(out: Path, name: str) -> str:
    return manifests.place_from(out, Path(name).expanduser())


def _store(out: Path, old: manifests.Manifest | None, store: str, kind: str, model: Model) -> StoreFacts:
    """Where the vectors go; tried before hours of work."""
    if old is not None:
        if store not in ("faiss", old.store.name) and not store.startswith(f"{old.store.name}:"):
            raise UserError(f"{out}: keeps its vectors in {old.store.name}; choose another --out for another --store")
        allow_store(store)
        facts = old.store
    else:
        facts = store_facts(store, out, model.fingerprint)
    check_store(out, facts, kind)
    return facts
