"""Feature vectors on disk, found by the content of the picture they describe.

A shard is one safetensors file, {"features": float32 [n, d], "keys": uint8 [n, 32]}, where a key is the SHA-256 of the
picture file's bytes. The shard's own name is a checksum of both arrays: a file that was cut short or changed does not
match its name, and two processes that fill one folder at the same time never write different things to one file.
"""

import hashlib
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from groundling.files import atomic_path

Vectors = npt.NDArray[np.float32]


def content_key(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def write(folder: Path, keys: list[bytes], features: Vectors) -> Path:
    """Store the features of pictures with these keys as one new shard."""
    hashes = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 32)
    features = np.ascontiguousarray(features, dtype=np.float32)
    path = folder / f"{_checksum(hashes, features)}.safetensors"
    with atomic_path(path) as temporary:
        temporary.write_bytes(save({"features": features, "keys": hashes}))
    return path


def read_all(folder: Path, dim: int) -> Iterator[tuple[list[bytes], Vectors]]:
    """Keys and features, shard by shard. A damaged shard is reported and removed, so that it is computed anew."""
    for path in sorted(folder.glob("*.safetensors")):
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # another process has just removed it as damaged
            continue
        shard = _parse(data, path.stem, dim)
        if shard is None:
            warnings.warn(f"{path}: damaged feature shard removed; its pictures are computed again", stacklevel=3)
            path.unlink(missing_ok=True)
        else:
            yield shard


def _parse(data: bytes, checksum: str, dim: int) -> tuple[list[bytes], Vectors] | None:
    """The shard in these bytes, or None where it is not exactly what was written."""
    try:
        arrays = load(data)
        keys, features = arrays["keys"], arrays["features"]
    except (SafetensorError, KeyError, ValueError, OverflowError):
        return None
    shapes_fit = keys.shape == (len(features), 32) and features.shape == (len(keys), dim)
    if not shapes_fit or keys.dtype != np.uint8 or features.dtype != np.float32:
        return None
    if _checksum(keys, features) != checksum:
        return None
    return [key.tobytes() for key in keys], features


def _checksum(keys: npt.NDArray[np.uint8], features: Vectors) -> str:
    hashed = hashlib.sha256(np.ascontiguousarray(keys).data)
    hashed.update(np.ascontiguousarray(features).data)  # without a copy, and while other threads go on
    return hashed.hexdigest()[:32]
