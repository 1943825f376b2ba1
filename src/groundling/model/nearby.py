"""Models that are there already: runs, what was exported, and those of the hub that were fetched before.

For who does not name one. Only small files of JSON are read; what looks like a model and is none is left out.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.files import cache_folder, read_json
from groundling.model.catalogue import CATALOGUE

PHOTOS = "photos/seven-languages"  # the recipe of the model of photographs that a release carries
DRAWN = ("emoji", "scenes")  # corpora of drawings: who is trained on them finds few photographs


@dataclass(frozen=True, order=True)
class NearbyModel:
    """One that can look at picture files. The greatest is the best to take: of photographs, of more languages, newer.

    Attributes:
        photographs: whether it has seen some in training.
        languages: how many it reads.
        exported: whether it starts without PyTorch.
        changed: when it was made.
        name: what `--model` is given.
    """

    photographs: bool
    languages: int
    exported: bool
    changed: float
    name: str = field(compare=False)

    @property
    def about(self) -> str:
        count = self.languages
        reads = f"{count} language{'s' if count > 1 else ''}" if count else "any language"
        return f"{self.name} ({reads}{'' if self.photographs else ', trained on drawings'})"


def nearby_models(place: Path | None = None) -> list[NearbyModel]:
    """Those in runs/, in the folder itself and in the cache's models/, and of the hub; the best first."""
    place = place or Path()
    roots = (place / "runs", place, cache_folder() / "models")
    found = [model for root in roots for model in _in(root)]
    for known in CATALOGUE:
        parts = [part for part in (known.pictures, known.text) if part]
        if known.library is not None and all(map(in_hub_cache, parts)):
            found.append(_of_hub(known.name))
    return sorted(found, reverse=True)


def best_model() -> NearbyModel:
    """The best that is there; an error that says what there could be, where nothing is."""
    found = nearby_models()
    if found:
        return found[0]
    raise UserError(
        "which model? None is in runs/ or in a folder *.onnx here. With a way to the hub: --model clip-multilingual, "
        f"which reads fifty languages (`groundling models` lists more). Without: {photo_model()}; or "
        "`groundling demo`, which trains a small one on drawings and needs nothing"
    )


def photo_model() -> str:
    """How to come by our own model of photographs, which needs no hub."""
    return (
        f"unpack the photo model of a release in {cache_folder() / 'models'}, or train it with "
        f"`groundling train {PHOTOS} --data DIR`"
    )


def in_hub_cache(name: str) -> bool:
    """Whether a model was fetched from the hub before."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    return any((cache / f"models--{name.replace('/', '--')}" / "snapshots").glob("*/*"))


def _in(root: Path) -> Iterator[NearbyModel]:
    if not root.is_dir():
        return
    for folder in sorted(root.iterdir()):
        with suppress(UserError, OSError, KeyError, TypeError, AttributeError):
            if (folder / "best.safetensors").exists() and (folder / "run.json").exists():
                model = _of_run(folder)
            elif folder.name.endswith(".onnx") and (folder / "manifest.json").exists():
                model = _of_export(folder)
            else:
                continue
            if model is not None:
                yield model


def _of_run(folder: Path) -> NearbyModel | None:
    recipe: dict[str, Any] = read_json(folder / "recipe.json")
    blind = recipe.get("features", {}).get("array") is not None or (folder / "unknown-backbone.json").exists()
    ordered = recipe.get("system", {}).get("similarity") == "order"  # which no index can search
    if blind or ordered:
        return None
    facts: dict[str, Any] = read_json(folder / "run.json")
    photographs = recipe["corpus"]["name"] not in DRAWN
    made = (folder / "best.safetensors").stat().st_mtime
    return NearbyModel(photographs, len(facts.get("languages") or []), False, made, str(folder))


def _of_export(folder: Path) -> NearbyModel | None:
    manifest: dict[str, Any] = read_json(folder / "manifest.json")
    finds = manifest["dimensions"] == manifest["picture_dimensions"] and manifest["similarity"] == "cosine"
    if manifest.get("kind") != "groundling-onnx" or manifest.get("backbone") is None or not finds:
        return None
    photographs = manifest.get("corpus", "") not in DRAWN
    made = (folder / "manifest.json").stat().st_mtime
    return NearbyModel(photographs, len(manifest["languages"]), True, made, str(folder))


def _of_hub(name: str) -> NearbyModel:
    return NearbyModel(True, 0, False, 0.0, name)
