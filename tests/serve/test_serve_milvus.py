"""Several servers in front of a Milvus: they hold nothing themselves, say when it is gone, and go on afterwards."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "search"))

pytest.importorskip("faiss")
pytest.importorskip("fastapi")
pytest.importorskip("pymilvus")
pytest.importorskip("milvus_lite")

import colours
import httpx
from colours import Toy, paint_many
from milvus_server import milvus_server

import groundling
from groundling.search import Index, index_pictures

toy = colours.toy  # a model that knows colours

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from colours import Toy
from groundling.cli import main
from groundling.search import index
index.load = lambda *_, **__: Toy()
main(["--quiet", "serve", sys.argv[2], "--port", "0", "--json", "--workers", "2"])
"""


@pytest.mark.filterwarnings("ignore")
def test_servers_say_when_the_milvus_is_gone_and_go_on_when_it_is_back(toy: Toy, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 9)
    with milvus_server(tmp_path / "data") as milvus:
        index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=f"milvus:{milvus.uri}")
        expected = [one.path for one in Index.open(tmp_path / "index").search("red", k=5)]
        source = str(Path(groundling.__file__).parent.parent)
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(Path(colours.__file__).parent), str(tmp_path / "index")],
            env={**os.environ, "PYTHONPATH": source, "MILVUS_URI": milvus.uri},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]

            def ask(path: str) -> httpx.Response:
                return httpx.get(url + path, timeout=60)  # a connection of its own: either process may answer

            for _ in range(4):
                assert [one["name"] for one in ask("search?q=red&k=5").json()["results"]] == expected
                assert ask("ready").json() == {"status": "ok"}
            milvus.stop()
            assert ask("health").status_code == 200
            assert ask("ready").status_code == 503
            gone = ask("search?q=red&k=5")
            assert gone.status_code == 503
            assert "does not answer" in gone.json()["detail"]
            assert gone.headers["retry-after"] == "1"
            milvus.start()
            deadline = time.monotonic() + 120
            while (again := ask("search?q=red&k=5")).status_code == 503 and time.monotonic() < deadline:
                time.sleep(1)  # as it says: in a moment
            assert [one["name"] for one in again.json()["results"]] == expected
        finally:
            process.terminate()
            process.communicate()
