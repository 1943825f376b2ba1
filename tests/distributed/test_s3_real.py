"""Pictures in a bucket of an S3 that moto pretends, read by s3fs."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_sources import CONTENTS, write_tar

sys.path.append(str(Path(__file__).parent.parent / "cli"))
sys.path.append(str(Path(__file__).parent.parent / "search"))

from colours import paint_many
from commands import assert_one_sentence, call

from groundling.distributed.cluster import joined
from groundling.distributed.sources import files_below, members, read, shards
from groundling.errors import UserError

s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket; the keys to it are in the environment."""
    servers = pytest.importorskip("moto.server", reason="no S3 is pretended here: pip install 'moto[server]'")
    server = servers.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()
    s3fs.S3FileSystem().mkdir(f"bucket-{port}")
    yield f"s3://bucket-{port}"
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


def test_files_and_shards_are_read(bucket: str) -> None:
    write_tar(f"{bucket}/shards/0.tar", CONTENTS)
    s3fs.S3FileSystem().pipe({f"{bucket}/photos/deep/1.jpg": b"one", f"{bucket}/photos/2.png": b"two"})
    (shard,) = shards(f"{bucket}/shards/*.tar")
    assert [data for _, data in read(members(shard))] == [CONTENTS[name] for name in ("a/1.jpg", "b/2.PNG", "c/3.jpg")]
    found = files_below(f"{bucket}/photos")
    assert [(item.name, item.size, item.modified > 0) for item in found] == [
        ("2.png", 3, True),
        ("deep/1.jpg", 3, True),
    ]
    assert [data for _, data in read(found)] == [b"two", b"one"]
    with pytest.raises(UserError, match=r"^s3://no-bucket: .*bucket does not exist"):
        files_below("s3://no-bucket")


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed: groundling[ray]")
def test_features_of_a_bucket(bucket: str, own_cache: Path, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 6)
    system = s3fs.S3FileSystem()
    system.put(str(tmp_path / "photos"), f"{bucket}/photos", recursive=True)
    system.pipe({f"{bucket}/photos/broken.png": b"no picture", f"{bucket}/broken/1.png": b"no picture"})
    with joined("local", cores=1):  # one for both commands: it takes seconds to start
        said = call("features", f"{bucket}/photos", "--size", 32, "--ray", "local")
        none = call("features", f"{bucket}/broken", "--size", 32, "--ray", "local")
    assert said.out.startswith("6 pictures × 1280 (efficientnet-lite0), 1 skipped"), said
    assert said.err.startswith("broken.png: ")
    assert_one_sentence(none, f"{bucket}/broken: none of its 1 pictures can be read, the first of them 1.png: ")
