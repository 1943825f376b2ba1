"""Pictures of an index encoded by the workers of a Ray; the index is written here, as that of one machine is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from groundling.decoding.opening import COLLECTION
from groundling.decoding.work import said
from groundling.distributed.cluster import Cluster, Job
from groundling.distributed.sources import Item, files_below, read, shards
from groundling.distributed.workers import Loaded, Read, Seen, sorted_keys
from groundling.model import Vectors, load
from groundling.search import walk
from groundling.search.build import Build, usable
from groundling.search.entries import Entry
from groundling.search.searchable import searchable


@dataclass(frozen=True)
class Below:
    """Reads pictures below a folder, which no link leads out of (see `walk.read`)."""

    root: str

    def __call__(self, items: Sequence[Item]) -> Iterator[tuple[Item, bytes | str]]:
        for item in items:
            try:
                data, facts = walk.read(Path(self.root), item.name)
                yield item._replace(size=facts.size, modified=facts.modified), data
            except walk.Unreadable as error:
                yield item, str(error)


@dataclass(frozen=True)
class Pictures:
    """What is to be encoded: files that are known, shards that are not looked into yet, and how both are read."""

    items: Sequence[Item]
    shards: Sequence[str]
    read: Read

    @staticmethod
    def of(source: str) -> "Pictures":
        """Tar shards, or what lies below an address."""
        found = shards(source)
        return Pictures([] if found else files_below(source), found, read)

    @staticmethod
    def below(root: Path, names: Sequence[str]) -> "Pictures":
        return Pictures([Item(name, str(root / name)) for name in names], [], Below(str(root.resolve())))


def encode(cluster: Cluster, build: Build, pictures: Pictures) -> None:
    """All pictures that the index does not have yet go into the build, each as soon as it is encoded."""
    names = [
        str((build.folder / name).resolve()) if name is not None and (build.folder / name).exists() else name
        for name in (build.facts.name, build.facts.text)
    ]
    known = sorted_keys([bytes.fromhex(digest) for digest in build.previous.by_digest])
    model, arguments = build.model, [*names, build.facts.prompt]
    work = said(model.preparation)
    job = Job(pictures.read, work, COLLECTION, make_encoder, arguments, model.picture_fingerprint, known)

    def kept(item: Item) -> bool:
        before = build.previous.by_name.get(item.name)
        if before is None or (before.entry.size, before.entry.modified) != (item.size, item.modified):
            return False
        build.keep(item.name, before)
        return True

    for seen, vectors in cluster.run(pictures.items, pictures.shards, job, "Pictures", kept):
        rows = iter(() if vectors is None else vectors)
        for one in seen:
            _put(build, one, next(rows) if one.fresh else None)


def _put(build: Build, seen: Seen, vector: Vectors | None) -> None:
    item = seen.item
    if seen.why:
        return build.skip(item.name, seen.why)
    digest = seen.key.hex()
    found = build.vector_of(digest) if vector is None else vector
    if found is None or not usable(found):
        return build.skip(item.name, "the model makes no finite vector of it")
    taken = seen.taken or (walk.Facts(item.size, item.modified).changed() if item.modified > 0 else "")
    modified = item.modified if seen.settled else -1
    entry = Entry(item.name, digest, size=item.size, modified=modified, taken=taken)
    build.add(item.name, entry, found, encoded=vector is not None)


def make_encoder(name: str, text: str | None, prompt: str | None) -> Loaded:
    """In a worker: what encodes prepared pictures."""
    model = searchable(load(name, text, "auto", prompt))
    model.load_picture_side()
    at_once = model.batch if model.batch > 1 else None  # one: for a core
    return Loaded(model.encode_prepared, model.picture_fingerprint, at_once)
