"""A Milvus that is reached over the network: Milvus Lite's own server, in another process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = """
import sys
from milvus_lite.adapter.grpc.server import start_server_in_thread
server, database, port = start_server_in_thread(sys.argv[1], port=int(sys.argv[2]))
print(f"http://127.0.0.1:{port}", flush=True)
sys.stdin.read()
server.stop(grace=0)
database.close()
"""


class Milvus:
    """`uri` is where it is."""

    def __init__(self, place: Path) -> None:
        self.place, self.uri = place, "http://127.0.0.1:0"
        self.start()

    def start(self) -> None:
        """At the address that it had before, if any."""
        command = [sys.executable, "-c", SERVER, str(self.place), self.uri.rpartition(":")[2]]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.uri = self.process.stdout.readline().strip()

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def milvus_server(place: Path) -> Iterator[Milvus]:
    server = Milvus(place)
    try:
        yield server
    finally:
        server.stop()
