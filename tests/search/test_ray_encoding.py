"""Pictures encoded by a Ray of this machine: the same vectors, also when workers or the whole run are killed meanwhile.

One Ray for all tests: it takes seconds to start.
"""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import colours
import numpy as np
import pytest
from colours import Toy, paint_many

sys.path.append(str(Path(__file__).parent.parent / "cli"))
sys.path.append(str(Path(__file__).parent.parent / "distributed"))

from commands import assert_one_sentence, call
from test_sources import write_tar

import groundling
from groundling.distributed import cluster as clusters
from groundling.distributed.cluster import Cluster, joined
from groundling.distributed.sources import Item, read
from groundling.distributed.workers import Decoder, Loaded, is_in, sorted_keys
from groundling.errors import UserError
from groundling.search import Index, index_pictures, index_source, ray_indexing
from groundling.settings import FeatureSettings
from groundling.vision import from_settings, ray_features, shards
from groundling.vision.backbones import Backbone
from groundling.vision.cache import extract

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: groundling[ray]")
toy = colours.toy  # a model that knows colours, in the place of every model
SMALL = FeatureSettings(backbone="efficientnet-lite0", size=32)
PORTION = 4
HERE = Path(__file__).parent
PATHS = os.pathsep.join(
    str(path) for path in (Path(groundling.__file__).parent.parent, HERE, HERE.parent, HERE.parent / "decoding")
)


@pytest.fixture(scope="module")
def ray_here() -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "PORTION", PORTION)
        patch.setenv("PYTHONPATH", PATHS)  # workers load what stands in this file
        with joined("local", cores=1, store=100 * 2**20) as cluster:
            yield cluster


def toy_encoder(log: Path, pause: float, *_: Any) -> Loaded:
    """In a worker; `log` gets a line for each picture that is encoded. It asks for more than one portion at once."""
    return Loaded(Toy(log, pause).encode_prepared, "toy", at_once=PORTION + 2)


def dying_encoder(log: Path, real: Callable[..., Loaded], *arguments: Any) -> Loaded:
    """In a worker, which is killed in the middle of its second portion, but only one worker and once."""
    network = real(*arguments)
    calls = []

    def encode_or_die(arrays: list[Any]) -> Any:
        calls.append(len(arrays))
        if len(calls) == 2 and not log.exists():
            log.write_text("killed")
            os.kill(os.getpid(), signal.SIGKILL)
        return network.encode(arrays)

    return network._replace(encode=encode_or_die)


def dying_read(log: Path, items: list[Item]) -> Any:
    """In a worker that decodes, which is killed when it comes to a picture, once."""
    for item, data in read(items):
        if item.name.endswith("009.png") and not log.exists():
            log.write_text("killed")
            os.kill(os.getpid(), signal.SIGKILL)
        yield item, data


@needs_ray
def test_a_worker_that_is_killed_loses_nothing_and_makes_nothing_twice(
    ray_here: Cluster, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_many(tmp_path / "photos", 30)
    paths = sorted((tmp_path / "photos").rglob("*.png"))
    address, killed = f"file://{tmp_path}/photos", tmp_path / "killed"
    real = ray_features.make_encoder
    monkeypatch.setattr(ray_features, "make_encoder", partial(dying_encoder, killed, real))
    found = from_settings.source_features(address, SMALL, "local")
    assert killed.exists()
    assert found.names == [path.relative_to(tmp_path / "photos").as_posix() for path in paths] and not found.failed
    backbone = from_settings.backbone_of(SMALL)
    cut = from_settings.preprocessing_of(SMALL, backbone)
    place = ray_features.features_folder(backbone, cut)
    keys = [key for some, _ in shards.read_all(place, backbone.dim) for key in some]
    assert len(keys) == len(set(keys)) == 30
    assert not list(place.glob("*.part")) and not list(place.glob(".*"))
    plain = extract(paths, backbone, cut, folder=tmp_path / "plain").vectors
    order = [paths.index(tmp_path / "photos" / name) for name in found.names]
    vectors = found.vectors(found.names)
    np.testing.assert_allclose(vectors, plain[order], rtol=1e-4, atol=1e-5)  # other batches, other rounding
    monkeypatch.setattr(Backbone, "encode", None)  # called, it would be an error
    np.testing.assert_array_equal(extract(paths, backbone, cut).vectors, vectors)  # one machine goes on from there


@needs_ray
def test_shards_are_indexed_though_a_decoder_is_killed(
    ray_here: Cluster, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = paint_many(tmp_path / "photos", 20)
    contents = {name: (tmp_path / "photos" / name).read_bytes() for name in names} | {"bad.jpg": b"no picture"}
    for number in range(2):
        some = dict(list(contents.items())[number::2])
        write_tar(f"{tmp_path}/s-{number}.tar", some)
    killed, log = tmp_path / "killed", tmp_path / "log"
    monkeypatch.setattr(ray_indexing, "make_encoder", partial(toy_encoder, log, 0.0))
    monkeypatch.setattr(ray_indexing, "read", partial(dying_read, killed))
    built = index_source(f"{tmp_path}/s-{{0..1}}.tar", tmp_path / "index", "local", "toy")
    assert killed.exists()
    assert built.count == 20 and list(built.skipped) == ["s-0.tar/bad.jpg"]
    index = Index.open(tmp_path / "index")
    found = index.entries.table["name"].to_pylist()
    assert sorted(name.partition("/")[2] for name in found) == names
    vectors = index.store.vectors(np.arange(20))
    by_name = dict(zip((name.partition("/")[2] for name in found), vectors, strict=True))
    index_pictures(tmp_path / "photos", tmp_path / "plain", "toy")
    plain = Index.open(tmp_path / "plain")
    np.testing.assert_array_equal(np.stack([by_name[name] for name in names]), plain.store.vectors(np.arange(20)))
    assert index.search("red", k=1)[0].path in found
    with pytest.raises(UserError, match="shards has no picture files"):
        index.read(found[0])


CHILD = """
import os, sys
from functools import partial
from pathlib import Path
from colours import Toy
from test_ray_encoding import toy_encoder
from groundling.distributed import cluster
from groundling.search import build, index_request, indexing, ray_indexing
photos, out, log = map(Path, sys.argv[1:4])
address = sys.argv[4]
cluster.PORTION = 4
index_request.load = lambda *_, **__: Toy()
ray_indexing.make_encoder = partial(toy_encoder, log, 0.0)
add, count = build.Build.add, []
def add_or_die(self, *arguments, **options):
    add(self, *arguments, **options)
    count.append(1)
    if len(count) == 10:
        os.kill(os.getpid(), 9)
build.Build.add = add_or_die
indexing.index_pictures(photos, out, "toy", ray=address)
"""


@needs_ray
def test_a_run_that_is_killed_whole_goes_on_where_it_was_and_ends_as_that_of_one_machine(
    ray_here: Cluster, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    photos, out = tmp_path / "photos", tmp_path / "index"
    names = paint_many(photos, 24)
    (photos / "broken.png").write_bytes(b"no picture")
    for number, path in enumerate(sorted(photos.rglob("*.png"))):
        os.utime(path, (1_500_000_000 + number, 1_500_000_000 + number))
    assert os.environ["RAY_AUTH_MODE"] == "token" and len(os.environ["RAY_AUTH_TOKEN"]) == 64  # the child knows it
    address = ray_here.ray.get_runtime_context().gcs_address
    command = [sys.executable, "-c", CHILD, *map(str, (photos, out, tmp_path / "log", address))]
    killed = subprocess.run(command, env={**os.environ, "PYTHONPATH": PATHS}, timeout=300)
    assert killed.returncode == -signal.SIGKILL and not (out / "manifest.json").exists()
    monkeypatch.setattr(ray_indexing, "make_encoder", partial(toy_encoder, tmp_path / "log", 0.0))
    built = index_pictures(photos, out, "toy", ray="local")
    assert (built.count, built.encoded) == (24, 14)
    plain = index_pictures(photos, tmp_path / "plain", "toy")
    assert built.skipped == plain.skipped and "broken.png" in plain.skipped
    one, two = Index.open(tmp_path / "plain"), Index.open(out)
    assert two.entries.table["name"].to_pylist() == names
    assert one.entries.table.equals(two.entries.table)
    np.testing.assert_array_equal(one.store.vectors(np.arange(24)), two.store.vectors(np.arange(24)))


@needs_ray
def test_a_worker_with_another_model_and_a_mistake_in_a_worker_are_one_sentence(
    ray_here: Cluster, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_many(tmp_path / "photos", 2)

    def index() -> None:
        index_pictures(tmp_path / "photos", tmp_path / "index", "toy", ray="local")

    monkeypatch.setattr(ray_indexing, "make_encoder", lambda *_: Loaded(Toy().encode_prepared, "another"))
    with pytest.raises(UserError, match="a worker has another model under this name"):
        index()
    (tmp_path / "cut.tar").write_bytes(b"no tar" * 200)
    monkeypatch.setattr(ray_indexing, "make_encoder", partial(toy_encoder, tmp_path / "log", 0.0))
    with pytest.raises(UserError, match=r"cut.tar: not a readable tar file"):
        index_source(f"{tmp_path}/cut.tar", tmp_path / "shards", "local", "toy")
    assert not (tmp_path / "index").exists() and not (tmp_path / "shards").exists()


def test_a_program_has_one_secret_for_all_that_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself reads it once; with another one, a second Ray of the same program did not come up."""
    asked: list[str] = []

    def started(*_: Any) -> Any:
        asked.append(os.environ["RAY_AUTH_TOKEN"])
        return SimpleNamespace(cluster_resources=dict, shutdown=lambda: None)

    monkeypatch.setitem(sys.modules, "ray", None)  # that of other tests
    monkeypatch.setattr(clusters, "_started", started)
    for _ in range(2):
        with joined("local"):
            pass
    assert len(set(asked)) == 1 and len(asked) == 2 and len(asked[0]) == 64


def test_without_ray_the_extra_is_named(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint_many(tmp_path / "photos", 2)
    monkeypatch.setitem(sys.modules, "ray", None)
    arguments = (tmp_path / "photos", "--model", "toy", "--out", tmp_path / "index")
    assert_one_sentence(call("index", *arguments, "--ray", "local"), "pip install 'groundling[ray]'")
    assert not (tmp_path / "index").exists()


def test_shards_without_ray_and_captions_with_it_are_refused(tmp_path: Path) -> None:
    said = call("index", "s3://bucket/photos", "--model", "x", "--out", tmp_path / "index")
    assert_one_sentence(said, "s3://bucket/photos: shards and addresses are read by workers of Ray; add --ray local")
    assert_one_sentence(call("features", "shards/{0..3}.tar"), "add --ray local")
    said = call("index", "--captions", "x.txt", "--ray", "local", "--out", tmp_path / "index")
    assert_one_sentence(said, "--ray encodes pictures")


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_an_address_where_nobody_listens_is_one_sentence_at_once(
    scheme: str, toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray itself would try for many minutes, so that it is not even asked."""
    monkeypatch.setattr(clusters, "_started", None)
    paint_many(tmp_path / "photos", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # nobody listens
        address = f"{scheme}127.0.0.1:{free.getsockname()[1]}"
        said = call("index", tmp_path / "photos", "--model", "toy", "--out", tmp_path / "index", "--ray", address)
        assert_one_sentence(said, f"--ray {address}: no Ray answers there")
        monkeypatch.setitem(sys.modules, "ray", None)  # that of other tests
        with pytest.raises(UserError, match="no Ray answers there"), joined(address):
            pass
    assert not (tmp_path / "index").exists()


def test_a_decoder_looks_at_known_pictures_and_prepares_the_others(tmp_path: Path) -> None:
    from groundling.decoding.opening import PICTURES
    from groundling.decoding.work import said

    names = paint_many(tmp_path, 3)
    items = [Item(name, str(tmp_path / name)) for name in names]
    known = sorted_keys([shards.content_key((tmp_path / names[1]).read_bytes())])
    decoder = Decoder(read, said(colours.mean_colour), PICTURES, 2)
    seen, arrays = decoder.prepare([*items, Item("gone.png", str(tmp_path / "gone.png"))], known)
    assert [one.fresh for one in seen] == [True, False, True, False]
    assert len(arrays) == 2 and seen[3].why
    np.testing.assert_allclose(arrays[1], colours.mean_colour((tmp_path / names[2]).read_bytes()))
    decoder.workers.close()


def test_contents_are_found_among_many() -> None:
    keys = [shards.content_key(bytes([number])) for number in range(50)] + [bytes(32), b"\1" + bytes(31)]
    some = sorted_keys(keys[::2])
    assert [is_in(some, key) for key in keys] == [number % 2 == 0 for number in range(len(keys))]
    assert not is_in(sorted_keys([]), keys[0])


class Stubborn:
    """In the place of Ray: comes up at the `nth` start."""

    def __init__(self, nth: int) -> None:
        self.nth, self.starts, self.ends = nth, 0, 0

    def init(self, *_: Any, **__: Any) -> None:
        self.starts += 1
        if self.starts < self.nth:
            raise Exception("The current node timed out during startup. This could happen")

    def shutdown(self) -> None:
        self.ends += 1


def test_a_ray_that_does_not_come_up_is_started_again_and_then_it_is_said() -> None:
    late, never = Stubborn(3), Stubborn(10)
    clusters._start_here(late)
    assert (late.starts, late.ends) == (3, 2)
    with pytest.raises(UserError, match=r"--ray local: Ray does not start on this machine \(The current node"):
        clusters._start_here(never)
    assert (never.starts, never.ends) == (3, 3)
