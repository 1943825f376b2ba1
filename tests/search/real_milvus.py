"""A real Milvus 2.3.5 of one machine, which the package `milvus` brings; it keeps its data in a folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SOURCES = "a Milvus that imports files is not here: pip install --no-deps milvus==2.3.5"


@contextmanager
def real_milvus(place: Path, **settings: str | int) -> Iterator[str]:
    """Its address; `settings` as its milvus.yaml calls them, with _ for dots."""
    milvus = pytest.importorskip("milvus", reason=SOURCES)
    server = milvus.MilvusServer()
    server.set_base_dir(str(place))
    for name, value in settings.items():
        server.config.set(name.replace("_", "."), value)
    try:
        server.start()
        yield f"http://127.0.0.1:{server.listen_port}"
    finally:
        if server.server_proc is not None:
            os.kill(server.server_proc.pid, 9)  # it would take its time, and nobody needs its data
        server.stop()
