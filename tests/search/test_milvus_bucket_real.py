"""Bulk import into a real Milvus that keeps its data in a bucket, of an S3 that moto pretends."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from real_milvus import ENTRIES, MISSING, place, real_milvus, rows_there, write

from groundling.errors import UserError

pytest.importorskip("pymilvus")
pytest.importorskip("milvus", reason=MISSING)
s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A pretended S3, and the keys to it in the environment."""
    servers = pytest.importorskip("moto.server", reason="no S3 is pretended here: pip install 'moto[server]'")
    server = servers.ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "minioadmin")  # those that the server comes with
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield f"{host}:{port}"
    server.stop()


def test_shards_in_the_bucket_of_the_server_are_imported(endpoint: str, tmp_path: Path) -> None:
    settings = {"common_storageType": "minio", "minio_address": "127.0.0.1", "minio_port": int(endpoint.split(":")[1])}
    with real_milvus(tmp_path / "milvus", **settings) as uri:
        store = place(uri, "bucket")
        with pytest.raises(UserError, match=r"s3://b-bucket/imports: cannot be written \(.*bucket does not exist"):
            write(tmp_path, store, ENTRIES, "s3://b-bucket/imports")
        write(tmp_path, store, ENTRIES, "s3://a-bucket/imports")
        assert rows_there(uri, store) == (900, {entry.name for entry in ENTRIES})
        system = s3fs.S3FileSystem(skip_instance_cache=True)
        assert system.find("a-bucket/files") and not system.find("a-bucket/imports")
