"""Features as a recipe asks for them."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundling.corpus.corpus import Corpus, Integers, Mask
from groundling.errors import UserError
from groundling.files import atomic_path, only_writer, write_text
from groundling.settings import FeatureSettings
from groundling.vision.features import Array, Vectors, features_for, load_precomputed

if TYPE_CHECKING:
    from groundling.vision.backbones import Backbone
    from groundling.vision.preprocessing import Preprocessing
    from groundling.vision.ray_features import Found


def corpus_features(
    corpus: Corpus, settings: FeatureSettings, strict: bool = False, ray: str | None = None
) -> tuple[Vectors, Mask]:
    """Features [pictures, dim] of a corpus, or [pictures, views, dim], and a mask of the pictures that have them.

    From the array that the settings name; else those that a run with a tuned network keeps of its own pictures; else
    from the array that came with the corpus, where it has no picture files; else computed by the backbone and cached:
    by the workers of the Ray at an address, where one is given, else here.
    """
    if (settings.array is None) != (settings.names is None):
        raise UserError("features.array and features.names go together: the array, and the list of its pictures")
    if settings.array is not None and settings.names is not None:
        return features_for(corpus, precomputed=(Path(settings.array), Path(settings.names)))
    if settings.weights is not None and (found := _kept(corpus, Path(settings.weights))) is not None:
        return found
    if corpus.info.features is not None and comes_with_features(corpus, settings):
        return features_for(corpus, precomputed=corpus.info.features.paths)
    if corpus.root is None:
        return features_for(corpus)  # says what is missing
    if ray is not None:
        return _corpus_features_by_ray(corpus, corpus.root, settings, strict, ray)
    backbone = backbone_of(settings)
    cut = preprocessing_of(settings, backbone)
    vectors, usable = features_for(corpus, backbone=backbone, preprocessing=cut, strict=strict)
    return (vectors.reshape(len(vectors), cut.views, -1) if cut.views > 1 else vectors), usable


def _corpus_features_by_ray(
    corpus: Corpus, root: Path, settings: FeatureSettings, strict: bool, ray: str
) -> tuple[Vectors, Mask]:
    from groundling.distributed.cluster import joined
    from groundling.distributed.sources import Item
    from groundling.vision.ray_features import ray_features

    names = [str(name) for name in corpus.pictures]
    with joined(ray) as cluster:
        found = ray_features(
            cluster, [Item(name, str((root / name).resolve())) for name in names], [], settings, strict
        )
    usable, vectors = np.array([name in found.keys for name in names], dtype=bool), found.vectors(names)
    return (vectors.reshape(len(names), settings.views, -1) if settings.views > 1 else vectors), usable


def source_features(source: str, settings: FeatureSettings, ray: str, strict: bool = False) -> "Found":
    """Features of the pictures in tar shards, or below an address, computed by the workers of a Ray and cached."""
    from groundling.distributed.cluster import joined
    from groundling.distributed.sources import files_below, shards
    from groundling.vision.ray_features import ray_features

    tars = shards(source)
    items = [] if tars else files_below(source)
    with joined(ray) as cluster:
        return ray_features(cluster, items, tars, settings, strict)


def _kept(corpus: Corpus, weights: Path) -> tuple[Vectors, Mask] | None:
    """What lies beside a tuned network's weights: all of it, or as much as there is where there are no picture files.

    None where the pictures must be looked at.
    """
    from groundling.vision import tuned

    kept = tuned.saved_features_of(weights)
    if kept is None:
        return None
    rows = kept.rows(corpus.name, corpus.pictures.tolist())
    there = rows >= 0
    if not there.any() or (corpus.root is not None and not there.all()):
        return None
    return kept.features[rows].astype(np.float32), there


def comes_with_features(corpus: Corpus, settings: FeatureSettings) -> bool:
    """Whether its features are an array that lies beside it, whatever backbone the settings name."""
    beside = corpus.root is None and corpus.info.features is not None
    return settings.array is None and settings.weights is None and beside


def array_rows(corpus: Corpus, pair: tuple[Path, Path] | None) -> tuple[Array | None, Integers | None]:
    """A precomputed array, not read yet, and the row in it of each picture, −1 for a picture that is not there.

    The array is `pair` (array, names), else the one that came with the corpus; None where there is neither.
    """
    if pair is None:
        given = corpus.info.features
        if given is None or not all(path.is_file() for path in given.paths):
            return None, None
        pair = given.paths
    array, listed = load_precomputed(*pair)
    row_of = {name: row for row, name in enumerate(listed)}
    rows = np.array([row_of.get(name, -1) for name in corpus.pictures.tolist()], dtype=np.int64)
    if (rows < 0).all():
        like = f' (the names there look like "{listed[0]}")' if listed else ""
        raise UserError(f"{pair[1]}: no features for any picture of corpus {corpus.name}{like}")
    return array, rows


def check_features(settings: FeatureSettings | None) -> FeatureSettings:
    """How a model looks at picture files; an error that says why, where it cannot. None: nobody knows how."""
    if settings is None:
        raise UserError(
            "this model was trained on features that came with its corpus, and its recipe does not say what made them, "
            "so it cannot look at picture files; train it with, say, --set features.backbone=efficientnet-lite2 "
            "--set features.mirror=true, if that is what made them"
        )
    if settings.array is not None:
        raise UserError("this model was trained on a precomputed array, so it cannot look at picture files by itself")
    return settings


def file_features(paths: list[Path], settings: FeatureSettings | None) -> Vectors:
    """Features of picture files; one that cannot be read is an error that names it."""
    from groundling.vision.cache import extract

    settings = check_features(settings)
    backbone = backbone_of(settings)
    vectors = extract(paths, backbone, preprocessing_of(settings, backbone), strict=True).vectors
    return vectors.reshape(len(paths), settings.views, backbone.dim).mean(axis=1) if settings.views > 1 else vectors


def backbone_of(settings: FeatureSettings) -> "Backbone":
    """The backbone that a recipe names, and what is seen of its maps; on a GPU, where there is one."""
    from groundling.devices import pick_device
    from groundling.vision import backbones, tuned
    from groundling.vision.view import View

    if settings.grid > 1 and (settings.mirror or settings.crops > 1 or settings.projected):
        raise UserError(
            "features.grid: the cells of a picture cannot be averaged over mirror images or crops, nor projected"
        )
    view = View(settings.grid, settings.stage, settings.projected)
    weights = None if settings.weights is None else tuned.read(Path(settings.weights))
    return backbones.get(settings.backbone, settings.size, view, weights).to(pick_device())


def preprocessing_of(settings: FeatureSettings, backbone: "Backbone") -> "Preprocessing":
    """How pictures are cut for a backbone, as a recipe asks for it."""
    from groundling.vision.preprocessing import Preprocessing

    own = backbone.cut or Preprocessing(backbone.size)
    if settings.crops == 10:
        if not settings.crop:
            raise UserError("ten crops are not cut out of the whole picture; leave out --whole (features.crop: false)")
        resize = own.resize if own.resize > own.size else 0  # the usual border where the network has none of its own
        return Preprocessing(own.size, resize, crops=10, resample=own.resample)
    if settings.crops == 2:
        if not settings.crop:
            raise UserError("two crops show the whole picture already; leave out --whole (features.crop: false)")
        return Preprocessing(own.size, own.size, settings.mirror, crops=2, resample=own.resample)
    if settings.views > 1:
        if settings.mirror or not settings.crop or settings.grid > 1:
            raise UserError("features.views: leave out features.mirror, features.grid and features.crop: false with it")
        resize = own.resize if own.resize > own.size else 0
        return Preprocessing(own.size, resize, resample=own.resample, views=settings.views)
    if not settings.crop:
        return Preprocessing(own.size, own.size, settings.mirror, resample=own.resample)
    return replace(own, mirror=settings.mirror)


def save_array(folder: Path, vectors: Vectors, names: list[str]) -> None:
    """features.npy and names.txt, to be given as `features.array` and `features.names` elsewhere."""
    with only_writer(folder):
        with atomic_path(folder / "features.npy") as temporary, temporary.open("wb") as file:
            np.save(file, vectors)
        write_text(folder / "names.txt", "".join(f"{name}\n" for name in names))
