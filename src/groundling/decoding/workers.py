"""Pictures decoded in processes of their own, which are limited, and ended and replaced when they go beyond.

Nobody knows what a decoder does with bytes that somebody made to harm it: hours of work, gigabytes, a crash. In a
process of its own it costs some seconds, and the next picture gets a new one. Texts and models are never in reach.
"""

import atexit
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

from groundling.decoding.answers import Array, Decoded, DecodeLimits, Died, LargePicture
from groundling.decoding.cores import cores
from groundling.decoding.opening import PICTURES
from groundling.decoding.processes import Files, Lane, Process
from groundling.decoding.structure import PictureError
from groundling.decoding.work import Work
from groundling.decoding.worker_process import CHANGED, read_file
from groundling.errors import UserError

PORTION = 32  # files that a process is asked for at a time, at most: what it costs to ask is then nothing

__all__ = ["PORTION", "DecodeLimits", "Decoded", "LargePicture", "Workers", "shared"]


class Workers:
    """Up to `count` processes, and one more for large pictures; each is started when it is needed.

    Several threads may ask. Who asks for a picture of usual size never waits for somebody's large one.
    """

    def __init__(self, limits: DecodeLimits | None = None, count: int | None = None) -> None:
        self.limits, self.count = limits or DecodeLimits(), count or cores()
        self._usual, self._large = Lane(self.count), Lane(1)

    def decode(self, data: bytes, work: Work | None = None) -> Decoded:
        """What a picture is, and what `work` makes of its bytes. Raises PictureError."""
        try:
            return self.decode_usual(data, work)
        except LargePicture:
            return self.decode_large(data, work)

    def decode_usual(self, data: bytes, work: Work | None = None) -> Decoded:
        """The same, but raises LargePicture for one that would keep others waiting."""
        return self._usual.ask(self.limits, self.limits.large, lambda process: process.one(data, work))

    def decode_large(self, data: bytes, work: Work | None = None) -> Decoded:
        """One large picture at a time, so that two never need their memory together."""
        return self._large.ask(self.limits, self.limits.pixels, lambda process: process.one(data, work))

    def array(self, data: bytes, work: Work) -> Array:
        """The array that `work` makes of the bytes of a picture. Raises PictureError."""
        return self.decode(data, work).array

    def arrays(self, files: Iterable[bytes], work: Work) -> Iterator[Array | PictureError]:
        """The same for several, in their order, as many at a time as there are processes."""

        def one(data: bytes) -> Array | PictureError:
            try:
                return self.array(data, work)
            except PictureError as error:
                return error

        with ThreadPoolExecutor(self.count) as pool:
            yield from pool.map(one, files)

    def named_arrays(self, files: Iterable[tuple[str, bytes]], work: Work) -> list[Array]:
        """The same of pictures that must all be readable: the first that is not is an error that names it."""

        def one(named: tuple[str, bytes]) -> Array:
            try:
                return self.array(named[1], work)
            except PictureError as error:
                raise UserError(f"{named[0]}: {error}") from None

        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(one, files))

    def files(self, files: Files, work: Work) -> Iterator[Array | PictureError]:
        """The arrays of `decoded_files`."""
        for one in self.decoded_files(files, work):
            yield one if isinstance(one, PictureError) else one.array

    def decoded_files(self, files: Files, work: Work) -> Iterator[Decoded | PictureError]:
        """What files are, and the arrays that `work` makes of them, in their order.

        Each is given with the SHA-256 of its content. One process has them all. It reads them itself, and the arrays
        come back through memory that it shares with us, so that a picture costs us some microseconds.
        """
        while files:
            try:
                found = self._usual.ask(self.limits, self.limits.large, partial(Process.files, files=files, work=work))
            except Died as died:  # over one picture: those before it were well, but what became of them is lost
                yield from self.decoded_files(files[: died.at], work)
                yield died
                files = files[died.at + 1 :]
                continue
            except PictureError as error:
                found = [error]
            if found is None:
                found = [self._alone(path, key, work) for path, key in files]
            for (path, key), one in zip(files, found, strict=False):
                yield self._alone(path, key, work) if isinstance(one, LargePicture) else one
            files = files[len(found) :]

    def _alone(self, path: Path, key: bytes, work: Work) -> Decoded | PictureError:
        try:
            data = read_file(path)
            return self.decode(data, work) if sha256(data).digest() == key else PictureError(CHANGED)
        except PictureError as error:
            return error
        except OSError as error:
            return PictureError(error.strerror or str(error))

    def close(self) -> None:
        """End all processes; whoever waits for one gets a PictureError."""
        self._usual.close()
        self._large.close()


@cache
def shared(formats: tuple[str, ...] = PICTURES) -> Workers:
    """Those of this program; they end with it."""
    made = Workers(DecodeLimits(formats))
    atexit.register(made.close)
    return made
