"""The files of a bulk import: Parquet shards in the storage of a Milvus, which are gone once it has read them."""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from groundling.distributed.sources import file_system, reason
from groundling.errors import UserError
from groundling.files import no_empty_folders
from groundling.search.bulk import BulkImport


class Shards:
    """The shards of one collection. They lie in a folder of their own, named like it, where nothing else is put."""

    def __init__(self, bulk: BulkImport, collection: str) -> None:
        self.storage = bulk.storage
        self.system, root = file_system(bulk.storage)
        self.local = "file" in self.system.protocol
        behind_bucket = "/".join(root.strip("/").split("/")[1:])
        seen = bulk.prefix if bulk.prefix is not None else root if self.local else behind_bucket
        self.folder = f"{root.rstrip('/')}/{collection}"
        self.seen = str(PurePosixPath(seen, collection))

    def check(self) -> None:
        """Whether something can be written there, found out before hours of work; nothing of that stays."""
        name = f"{secrets.token_hex(8)}.try"
        with no_empty_folders(Path(self.folder, name)) if self.local else nullcontext():
            with self._problems():
                self._make_folder()
                self.system.pipe_file(f"{self.folder}/{name}", b"groundling")
            self.remove(name)

    def clear(self) -> None:
        """Without the shards that a build which was cut short has left."""
        with self._problems():
            if self.system.exists(self.folder):
                self.system.rm(self.folder, recursive=True)

    def write(self, tables: Iterable[pa.Table]) -> str:
        """A new shard of these rows, a group for each table, so that one of them is in memory at a time; its name."""
        name = f"{secrets.token_hex(8)}.parquet"  # never one that a server has seen before
        with self._problems():
            self._make_folder()
            file = self.system.open(f"{self.folder}/{name}", "wb")
        writer = None
        try:
            for table in tables:
                with self._problems():
                    writer = writer or pq.ParquetWriter(file, table.schema, compression="none", use_dictionary=False)
                    writer.write_table(table)
        finally:
            with self._problems():
                if writer is not None:
                    writer.close()
                file.close()
        return name

    def path(self, name: str) -> str:
        """What the server calls a shard."""
        return f"{self.seen}/{name}"

    def remove(self, name: str) -> None:
        with self._problems():
            self.system.rm_file(f"{self.folder}/{name}")

    def _make_folder(self) -> None:
        if self.local:  # an object store has no folders, and would make the bucket of a name that is misspelt
            self.system.makedirs(self.folder, exist_ok=True)

    @contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # object stores have each their own
            raise UserError(f"--bulk {self.storage}: cannot be written ({reason(error)})") from None
