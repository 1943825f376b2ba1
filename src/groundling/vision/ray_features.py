"""Features of pictures by the workers of a Ray: into the same cache, shard by shard, as those of one machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundling.decoding.opening import PICTURES
from groundling.decoding.work import said
from groundling.distributed.cluster import Cluster, Job
from groundling.distributed.sources import Item, read
from groundling.distributed.workers import Loaded, sorted_keys
from groundling.errors import UserError
from groundling.files import remove_leftovers, write_json
from groundling.large_arrays import room
from groundling.settings import FeatureSettings, check
from groundling.vision import shards
from groundling.vision.cache import ShardWriter, encode_pixels, features_folder, features_settings, fill_from_cache
from groundling.vision.decoding import writable
from groundling.vision.from_settings import backbone_of, preprocessing_of


@dataclass(frozen=True)
class Found:
    """Pictures whose features are in the cache at `place`, `dim` numbers each: their `keys` there by name.

    For those that could not be read `failed` has why, by name; so many were `encoded`, the others known.
    """

    keys: dict[str, bytes]
    failed: dict[str, str]
    encoded: int
    place: Path
    dim: int

    @property
    def names(self) -> list[str]:
        return sorted(self.keys)

    def vectors(self, names: Sequence[str]) -> shards.Vectors:
        """Features by name, [names, dim], read from the cache; zeros for a picture that has none."""
        vectors = room((len(names), self.dim))
        rows: dict[bytes, list[int]] = {}
        for row, name in enumerate(names):
            if name in self.keys:
                rows.setdefault(self.keys[name], []).append(row)
        if fill_from_cache(vectors, rows, self.place, self.dim):
            raise UserError(f"{self.place}: features were lost there meanwhile; give the command once more")
        return vectors


def ray_features(
    cluster: Cluster,
    items: Sequence[Item],
    tars: Sequence[str],
    settings: FeatureSettings,
    strict: bool = False,
) -> Found:
    """Puts the features of these pictures, and of those in these shards, into the cache; what is there is not computed.

    They are not held in memory: those of a shard are written, and forgotten.
    """
    backbone = backbone_of(settings)
    cut = preprocessing_of(settings, backbone)
    place, dim = features_folder(backbone, cut), cut.views * backbone.dim
    known = {key for keys, _ in shards.read_all(place, dim) for key in keys}
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
                known |= new.keys()
    return Found(key_of, failed, len(known) - before, place, dim)


def make_encoder(values: dict[str, Any]) -> Loaded:
    """In a worker: what encodes by these settings; its fingerprint is what its features depend on."""
    settings = check(FeatureSettings, values, "features")
    backbone = backbone_of(settings)
    cut = preprocessing_of(settings, backbone)
    at_once = max(1, backbone.at_once // cut.parts) if backbone.device.type == "cuda" else None
    return Loaded(lambda pixels: encode_pixels(backbone, pixels, cut), str(features_settings(backbone, cut)), at_once)
