"""The two kinds of workers, which know nothing of Ray: one reads and decodes pictures, the other encodes them."""

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from groundling.decoding.structure import PictureError
from groundling.decoding.work import work_of
from groundling.decoding.workers import DecodeLimits, Workers
from groundling.distributed.sources import Item, members

Vectors = npt.NDArray[np.float32]
Array = npt.NDArray[Any]
Keys = npt.NDArray[np.bytes_]  # SHA-256 of contents, sorted
Read = Callable[[Sequence[Item]], Iterator[tuple[Item, bytes | str]]]
Encode = Callable[[list[Array]], Vectors]

RECENT = 2 * 10**9  # nanoseconds; a file written so shortly ago may change again within its time stamp


class Loaded(NamedTuple):
    """What a worker has to encode with.

    Attributes:
        encode: arrays of pictures to their vectors.
        fingerprint: of the network.
        at_once: as many pictures as it is always to be given, as a GPU wants it, which prepares for each size of a
            batch anew; None: any number.
    """

    encode: Encode
    fingerprint: str
    at_once: int | None = None


class Seen(NamedTuple):
    """What became of one picture.

    Attributes:
        item: as it was when it was read.
        key: SHA-256 of its content.
        taken: when, as the camera says.
        why: it cannot be used; "" where it can.
        fresh: whether it was decoded to be encoded; its vector is known otherwise.
        settled: whether it was changed so long ago that its time stamp tells the next change.
    """

    item: Item
    key: bytes = b""
    taken: str = ""
    why: str = ""
    fresh: bool = False
    settled: bool = True


def sorted_keys(keys: Sequence[bytes]) -> Keys:
    return np.sort(np.array(list(keys), dtype="S32"))


def is_in(keys: Keys, key: bytes) -> bool:
    """
    >>> is_in(sorted_keys([b"b" * 32, b"a" * 31 + bytes(1)]), b"a" * 31 + bytes(1))
    True
    """
    place = int(np.searchsorted(keys, np.array(key, dtype="S32")))
    return place < len(keys) and bytes(keys[place]).ljust(32, b"\0") == key


class Decoder:
    """Reads pictures, and has them decoded in limited processes of its own.

    Args:
        read: how pictures are read.
        work: what is made of each, as `decoding.work.said` puts it.
        formats: that are decoded.
        count: of the processes.
    """

    def __init__(self, read: Read, work: bytes, formats: tuple[str, ...], count: int) -> None:
        self.read, self.work = read, work_of(work)
        self.workers = Workers(DecodeLimits(formats), count)

    def members(self, shard: str) -> list[Item]:
        return members(shard)

    def prepare(self, items: Sequence[Item], known: Keys) -> tuple[list[Seen], list[Array]]:
        """What became of each, and the arrays of those that are fresh, in their order.

        Contents that are `known` are looked at, but not prepared for the network: they have vectors.
        """
        with ThreadPoolExecutor(self.workers.count) as pool:
            both = list(pool.map(lambda found: self._one(found[0], found[1], known), self.read(items)))
        return [seen for seen, _ in both], [array for seen, array in both if seen.fresh]

    def _one(self, item: Item, data: bytes | str, known: Keys) -> tuple[Seen, Array]:
        nothing = np.zeros(0, dtype=np.uint8)
        if isinstance(data, str):
            return Seen(item, why=data), nothing
        settled = time.time_ns() - item.modified > RECENT
        key = hashlib.sha256(data).digest()
        fresh = not is_in(known, key)
        try:
            decoded = self.workers.decode(data, self.work if fresh else None)
        except PictureError as error:
            return Seen(item, key, why=str(error)), nothing
        return Seen(item, key, decoded.taken, fresh=fresh, settled=settled), decoded.array


class Encoder:
    """Encodes what was prepared. `make` loads the network."""

    def __init__(self, make: Callable[..., Loaded], arguments: Sequence[Any], alone: bool) -> None:
        self.network = make(*arguments)
        torch: Any = sys.modules.get("torch")  # an exported model runs without it
        if alone and torch is not None:  # the layers are so small that cores would wait for each other
            torch.set_num_threads(1)

    def known_as(self) -> str:
        return self.network.fingerprint

    def at_once(self) -> int | None:
        return self.network.at_once

    def encode(self, *prepared: tuple[list[Seen], list[Array]]) -> tuple[list[Seen], Vectors | None]:
        """The vectors of the fresh ones, None where there are none; what became of each is handed on.

        What several decoders have prepared is one batch; it is filled up where all are to have one size.
        """
        seen = [one for some, _ in prepared for one in some]
        arrays = [array for _, some in prepared for array in some]
        if not arrays:
            return seen, None
        missing = max(0, (self.network.at_once or 0) - len(arrays))
        return seen, self.network.encode([*arrays, *arrays[-1:] * missing])[: len(arrays)]
