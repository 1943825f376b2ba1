"""The picture that comes with a request: its bytes counted as they arrive, its head looked at before it is decoded."""

from starlette.requests import Request

from groundling.search import pictures
from groundling.search.walk import Unreadable
from groundling.serve.problems import Problem

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
    too_large = Problem(413, f"more than {limit / 2**20:.3g} MB were sent", {"Connection": "close"})
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large
        parts.append(part)
    return b"".join(parts)


async def picture_of(request: Request, bytes_limit: int, pixels_limit: int) -> bytes:
    """The bytes of a picture that may be decoded."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in MEDIA_TYPES:
        raise Problem(415, f"send the bytes of a picture, with a Content-Type of {', '.join(MEDIA_TYPES[:4])}")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "send the bytes of a picture as they are, without a Content-Encoding")
    data = await body_of(request, bytes_limit)
    if not data:
        raise Problem(422, "the picture is empty: send its bytes as the body")
    check_picture(data, pixels_limit)
    return data


def check_picture(data: bytes, pixels_limit: int) -> None:
    """Whether this is a picture of a known format, and not too large a one."""
    try:
        with pictures.check(data, "") as image:
            width, height = image.size
    except Unreadable as error:
        raise Problem(413 if "decompression bomb" in str(error) else 422, f"the picture: {error}") from None
    if width * height > pixels_limit:
        raise Problem(413, f"the picture has {width} × {height} pixels, more than {pixels_limit:,} in all")
