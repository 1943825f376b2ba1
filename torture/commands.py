"""Every command that writes a folder: how it is called, again after a kill, and what it leaves."""

import hashlib
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torture.workshop import Said, Workshop

LEFT = (".part", ".tmp")  # how files are called that are not whole


@dataclass(frozen=True)
class Command:
    """Attributes:
    arguments: what is called, with OUT for the folder that it writes.
    content: what its folder holds in the end, as one number: the same however often it was cut short.
    again: what is called where it was cut short and had begun, if that is another command.
    refuses: the words of a second call that came when all was there already.
    """

    arguments: list[object]
    content: Callable[[Path], str]
    again: list[object] | None = None
    refuses: tuple[str, ...] = ("being written by another process",)

    def call(self, shop: Workshop, out: Path, again: bool = False, **options: object) -> Said:
        begun = again and self.again is not None and (out / "recipe.json").exists()
        arguments = self.again if begun else self.arguments
        return shop.call(*(out if part == "OUT" else part for part in arguments), **options)

    def start(self, shop: Workshop, out: Path) -> "subprocess.Popen[str]":
        return shop.start(*(out if part == "OUT" else part for part in self.arguments))


def commands(shop: Workshop) -> dict[str, Command]:
    """Name → command."""
    busy = "being written by another process"
    return {
        "corpus build": Command(["corpus", "build", "shapes", "--out", "OUT"], corpus),
        "features": Command(["features", "corpus", "--size", 32, "--out", "OUT"], features),
        "train": Command(shop.training("OUT"), run, ["train", "--resume", "OUT"], (busy, "a run is there already")),
        "index": Command(
            ["index", "shapes", "--model", "run", "--out", "OUT"], index, None, (busy, "an index is there")
        ),
        "export": Command(["export", "run", "--onnx", "OUT"], export, None, ("is there already",)),
    }


def leftovers(*folders: Path) -> list[str]:
    return [path.name for folder in folders for path in folder.rglob("*") if path.name.endswith(LEFT)]


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def corpus(folder: Path) -> str:
    from groundling.corpus import storage

    found = storage.load(folder)
    return _digest(repr((found.pictures.tolist(), found.texts, found.splits.tolist())).encode())


def features(folder: Path) -> str:
    return _digest((folder / "features.npy").read_bytes(), (folder / "names.txt").read_bytes())


def run(folder: Path) -> str:
    from groundling.run import Run

    found = Run.open(folder)
    if not found.finished:
        raise ValueError(f"{folder}: not finished")
    return _digest(found.verified(found.weights_file).read_bytes(), found.verified(found.tokeniser_file).read_bytes())


def index(folder: Path) -> str:
    import numpy as np

    from groundling.search import Index

    found = Index.open(folder)
    vectors = found.store.vectors(np.arange(len(found), dtype=np.int64))
    return _digest(repr(found.entries.table["name"].to_pylist()).encode(), np.round(vectors, 3).tobytes())


def export(folder: Path) -> str:
    from groundling.export import manifest

    found = manifest.read(folder)
    for reader in found.readers:
        manifest.read_verified(folder, reader.text)
    return _digest(json.dumps([found.fingerprint, found.languages]).encode())
