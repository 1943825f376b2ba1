"""What `--bulk` asks for: rows reach a Milvus as files that it reads by itself, instead of being sent to it."""

from dataclasses import dataclass

PATIENCE = 1800.0  # seconds


@dataclass(frozen=True)
class BulkImport:
    """Where the files are put, and where the server finds them.

    Attributes:
        storage: a folder, or an address that fsspec knows (`s3://a-bucket/imports`), in the storage of the server.
        prefix: what the server calls that place. When left out, the path of a folder, and of an address what stands
            behind its bucket, as a Milvus wants it of the bucket that it keeps its own data in.
        patience: seconds without any news of an import after which it is given up.
    """

    storage: str
    prefix: str | None = None
    patience: float = PATIENCE
