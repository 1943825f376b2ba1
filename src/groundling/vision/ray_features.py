"""Features of pictures by the workers of a Ray: into the same cache, shard by shard, as those of one machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from groundling.decoding.opening import PICTURES
from groundling.decoding.work import said
from groundling.distributed.cluster import Cluster, Job
from groundling.distributed.sources import Item, read
from groundling.distributed.workers import Encode, sorted_keys
from groundling.errors import UserError
from groundling.files import remove_leftovers, write_json
from groundling.settings import FeatureSettings, check
from groundling.vision import shards
from groundling.vision.cache import ShardWriter, encode_pixels, features_folder, features_settings
from groundling.vision.decoding import writable
from groundling.vision.from_settings import backbone_of, preprocessing_of


@dataclass(frozen=True)
class Found:
    """Features by name: `names` and `vectors` [names, views · dim] of all that could be read, in the order of names;
    and for the others why, by name."""

    names: list[str]
    vectors: shards.Vectors
    failed: dict[str, str]
    encoded: int


def ray_features(
    cluster: Cluster,
    items: Sequence[Item],
    tars: Sequence[str],
    settings: FeatureSettings,
    strict: bool = False,
) -> Found:
    """The features of these pictures and of those in these shards; what is cached is not computed again."""
    backbone = backbone_of(settings)
    cut = preprocessing_of(settings, backbone)
    place, dim = features_folder(backbone, cut), cut.views * backbone.dim
    known = {key: vector for keys, some in shards.read_all(place, dim) for key, vector in zip(keys, some, strict=True)}
    with writable(place, "features"):
        write_json(place / "settings.json", features_settings(backbone, cut))
        remove_leftovers(place)
    arguments = [settings.model_dump()]
    fingerprint = str(features_settings(backbone, cut))
    job = Job(read, said(cut.pixels), PICTURES, make_encoder, arguments, fingerprint, sorted_keys(list(known)))
    key_of: dict[str, bytes] = {}
    failed: dict[str, str] = {}
    before = len(known)
    with ShardWriter(place) as shard:
        for seen, vectors in cluster.run(items, tars, job, "Features", lambda item: False):
            fresh = [one for one in seen if one.fresh]
            for one in seen:
                if one.why and strict:
                    raise UserError(f"{one.item.name}: {one.why}; mend or remove it")
                if one.why:
                    failed[one.item.name] = one.why
                else:
                    key_of[one.item.name] = one.key
            if vectors is None:
                continue
            new = {one.key: row for row, one in enumerate(fresh) if one.key not in known}
            if new:
                shard.add(list(new), vectors[list(new.values())])
                known |= {key: vectors[row] for key, row in new.items()}
    names = sorted(key_of)
    rows = np.stack([known[key_of[name]] for name in names]) if names else np.zeros((0, dim), dtype=np.float32)
    return Found(names, rows, failed, len(known) - before)


def make_encoder(values: dict[str, Any]) -> tuple[Encode, str]:
    """In a worker: what encodes by these settings, and what its features depend on."""
    settings = check(FeatureSettings, values, "features")
    backbone = backbone_of(settings)
    cut = preprocessing_of(settings, backbone)
    return lambda pixels: encode_pixels(backbone, pixels, cut), str(features_settings(backbone, cut))
