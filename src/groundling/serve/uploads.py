"""The picture that comes with a request: its bytes counted as they arrive, and all of them together.

Nothing of a picture is looked at here: that is for processes of their own (see `decoding.workers`).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request

from groundling.serve.limits import Limits
from groundling.serve.problems import Problem, busy

# What is told of the bytes is not relied on: their head says what they are.
MEDIA_TYPES = (
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/gif",
    "image/heic",
    "image/heif",
    "application/octet-stream",
)


async def body_of(request: Request, limit: int) -> bytes:
    """All that was sent; 413 as soon as it is more than `limit` bytes, whatever length was announced."""
    return b"".join([part async for part in _parts(request, limit)])


async def _parts(request: Request, limit: int) -> AsyncIterator[bytes]:
    too_large = Problem(413, f"more than {limit / 2**20:.3g} MB were sent", {"Connection": "close"})
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise too_large
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large
        yield part


class Uploads:
    """The pictures of all requests; together they take no more memory than they may."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.held = limits, 0

    @asynccontextmanager
    async def picture_of(self, request: Request) -> AsyncIterator[bytes]:
        """The bytes that a request sends, held as long as they are needed."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in MEDIA_TYPES:
            raise Problem(415, f"send the bytes of a picture, with a Content-Type of {', '.join(MEDIA_TYPES[:4])}")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Problem(415, "send the bytes of a picture as they are, without a Content-Encoding")
        parts, size = [], 0
        try:
            async for part in _parts(request, self.limits.body):
                parts.append(part)
                size += len(part)
                self.held += len(part)
                if self.held > self.limits.bodies:
                    raise busy("too many pictures are being sent", {"Connection": "close"})
            if not size:
                raise Problem(422, "the picture is empty: send its bytes as the body")
            yield b"".join(parts)
        finally:
            self.held -= size
