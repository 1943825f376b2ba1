"""The page: files that come with the package, read once. A request names one of them or nothing."""

import hashlib
from dataclasses import dataclass
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "woff2": "font/woff2",
}
POLICY = (
    "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
START = "index.html"


@dataclass(frozen=True)
class PageFile:
    data: bytes
    media_type: str
    tag: str

    def response(self, request: Request) -> Response:
        headers = {"ETag": self.tag, "Cache-Control": "no-cache", "Content-Security-Policy": POLICY}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(self.data, headers=headers, media_type=self.media_type)


def page_files() -> dict[str, PageFile]:
    """Name → file."""
    found = {}
    for path in (resources.files("groundling.serve") / "page").iterdir():
        kind = path.name.rpartition(".")[2]
        if path.is_file() and kind in MEDIA_TYPES:
            data = path.read_bytes()
            found[path.name] = PageFile(data, MEDIA_TYPES[kind], f'"{hashlib.sha256(data).hexdigest()[:32]}"')
    return found
