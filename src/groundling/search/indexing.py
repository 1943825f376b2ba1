"""Index a folder of pictures, or a list of captions: the calls behind `groundling index`."""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Unpack

from groundling.decoding.answers import Array
from groundling.decoding.opening import COLLECTION
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import PORTION, Decoded, shared
from groundling.errors import UserError
from groundling.model import Vectors
from groundling.search.build import CAPTIONS_AT_ONCE, Build, Built, cut, usable
from groundling.search.entries import Entry
from groundling.search.index_request import IndexRequest, Options
from groundling.search.previous import Row
from groundling.search.walk import Unreadable, named_counts, read, walk

RECENT = 2 * 10**9  # nanoseconds; a file written so shortly ago may change again within its time stamp


def index_pictures(
    root: Path | None,
    out: Path,
    model: str | None = None,
    text_model: str | None = None,
    *,
    known: Mapping[str, Vectors] | None = None,
    ray: str | None = None,
    **options: Unpack[Options],
) -> Built:
    """The pictures in a folder, searchable. With `update`, folder and model are those of the index where left out.

    Args:
        root: the folder; links in it are not followed.
        out: the folder of the index; a build that was cut short there goes on.
        model, text_model: see `model.loading.load`.
        known: SHA-256 of a picture's bytes → its vector, for those that the model has looked at before.
        ray: pictures are encoded by the workers of the Ray at this address, or of one of this machine for "local".
        options: prompt, store, kind, update, device, recall, queries and bulk, as `IndexRequest` has them.
    """
    if ray is not None:
        _check_ray(ray)
    request = IndexRequest(out, model, text_model, **options)
    old = request.old
    if old is not None and old.kind == "pictures" and old.root is not None:
        stored = (out / old.root).resolve()
        if root is not None and root.resolve() != stored:
            raise UserError(f"{out}: is the index of {stored}, not of {root}; choose another --out")
        root = stored
    if root is None:
        if old is not None and old.kind == "pictures":
            raise UserError(f"{out}: is the index of shards or of an address; name them once more, with --ray")
        if request.update:
            raise UserError(
                f"{out}: no index is there to bring up to date; name the folder to build it of, or its --out"
            )
        raise UserError("which folder? Write `groundling index FOLDER --model RUN --out INDEX`")
    found = walk(root)
    if not found.pictures:
        lost = " (is its disk there? The index was left as it is)" if old is not None else ""
        others = f", only {named_counts(found.others)}" if found.others and not lost else ""
        raise UserError(f"{root}: no pictures in it{others}{lost}")
    with request.building("pictures") as (build, finish):
        build.links, build.skipped, build.others = found.links, dict(found.skipped), dict(found.others.most_common())
        build.previous.by_digest |= known or {}
        todo = []
        for path, now in found.pictures.items():
            before = build.previous.by_name.get(path)
            if before and (before.entry.size, before.entry.modified) == (now.size, now.modified):
                build.keep(path, before)
            else:
                todo.append(path)
        if todo:
            build.model.load_picture_side()
        folder = root
        if ray is not None and todo:
            from groundling.distributed.cluster import joined
            from groundling.search.ray_indexing import Pictures, encode

            with joined(ray) as cluster:
                encode(cluster, build, Pictures.below(folder, todo))
        else:
            portions = cut(todo, build.model.batch, PORTION)
            build.run(portions, lambda paths: _encode_files(build, folder, paths), len(todo), "Pictures")
        return finish(root)


def index_source(
    source: str,
    out: Path,
    ray: str,
    model: str | None = None,
    text_model: str | None = None,
    **options: Unpack[Options],
) -> Built:
    """The pictures in tar shards (`shards/{000..999}.tar`) or below an address (`s3://bucket/photos`), searchable.

    They are read and encoded by the workers of a Ray. What is found has a name, as `000.tar/dog.jpg`, and no file.
    """
    from groundling.distributed.cluster import joined
    from groundling.search.ray_indexing import Pictures, encode

    _check_ray(ray)
    request = IndexRequest(out, model, text_model, **options)
    if request.old is not None and request.old.root is not None:
        raise UserError(f"{out}: is the index of a folder, not of {source}; choose another --out")
    pictures = Pictures.of(source)
    with request.building("pictures") as (build, finish), joined(ray) as cluster:
        encode(cluster, build, pictures)
        return finish(None)


def _check_ray(address: str) -> None:
    """Before a model is loaded and a folder begun."""
    from groundling.distributed.cluster import check_address

    check_address(address)


def _encode_files(build: Build, root: Path, paths: Sequence[str]) -> Iterator[int]:
    """Files are decoded by one process, all of the portion, and encoded as many at a time as the model likes best.

    Each is in the journal as soon as it is encoded; what is said is how many are done.
    """
    fresh: dict[str, Entry] = {}
    for path in paths:
        try:
            data, now = read(root, path)
            sure = now if time.time_ns() - now.modified > RECENT else replace(now, modified=-1)
            digest = hashlib.sha256(data).hexdigest()
            entry = Entry(path, digest, size=sure.size, modified=sure.modified, taken=now.changed())
            known = build.vector_of(digest)
            if known is None:
                fresh[path] = entry
            else:
                build.add(path, _dated(entry, shared(COLLECTION).decode(data)), known, encoded=False)
        except (Unreadable, PictureError) as error:
            build.skip(path, str(error))
    files = [(root / path, bytes.fromhex(entry.digest)) for path, entry in fresh.items()]
    decoded = zip(fresh.values(), shared(COLLECTION).decoded_files(files, build.model.preparation), strict=True)
    for start in range(0, len(paths), build.model.batch):
        together = paths[start : start + build.model.batch]
        prepared = []
        for entry, seen in islice(decoded, sum(path in fresh for path in together)):
            if isinstance(seen, PictureError):
                build.skip(entry.name, str(seen))
            else:
                prepared.append((_dated(entry, seen), seen.array))
        if prepared:
            _encode(build, prepared)
        yield len(together)


def _dated(entry: Entry, seen: Decoded) -> Entry:
    """With the camera's date, where it has told one."""
    return replace(entry, taken=seen.taken or entry.taken)


def _encode(build: Build, prepared: Sequence[tuple[Entry, Array]]) -> None:
    vectors = build.model.encode_prepared([array for _, array in prepared])
    for (entry, _), vector in zip(prepared, vectors, strict=True):
        if usable(vector):
            build.add(entry.name, entry, vector, encoded=True)
        else:
            build.skip(entry.name, "the model makes no finite vector of it")


def index_captions(
    captions: Sequence[tuple[str, str]],
    out: Path,
    model: str | None = None,
    text_model: str | None = None,
    **options: Unpack[Options],
) -> Built:
    """Captions, (text, language) each, searchable by picture or by text; the same one twice is one."""
    with IndexRequest(out, model, text_model, **options).building("captions") as (build, finish):
        todo = {}
        for text, language in captions:
            entry = Entry(text, hashlib.sha256(f"{language}\0{text}".encode()).hexdigest(), language)
            known = build.previous.by_digest.get(entry.digest)
            if known is not None:
                build.keep(entry.digest, Row(entry, known))
            else:
                todo[entry.digest] = entry

        def encode(entries: Sequence[Entry]) -> Iterator[int]:
            vectors = build.model.encode_text([entry.name for entry in entries], [entry.language for entry in entries])
            for entry, vector in zip(entries, vectors, strict=True):
                if usable(vector):
                    build.add(entry.digest, entry, vector, encoded=True)
                else:
                    build.skip(entry.name, "the model makes no finite vector of it")
            yield len(entries)

        build.run(cut(list(todo.values()), CAPTIONS_AT_ONCE), encode, len(todo), "Captions")
        return finish(None)
