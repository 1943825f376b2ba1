"""Everything that goes wrong, told as application/problem+json (RFC 9457)."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from groundling.errors import UserError
from groundling.search.store import Unavailable

MEDIA_TYPE = "application/problem+json"
SHORT = 200  # characters of what was sent that are repeated to the sender
MISDIRECTED = 421  # its name changes with the version of Python

# The schema that all operations of the OpenAPI share.
SCHEMA: dict[str, Any] = {
    "title": "Problem",
    "description": "What went wrong (RFC 9457).",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "description": "Where a parameter is wrong: which, and why.",
            "items": {
                "type": "object",
                "required": ["parameter", "detail"],
                "properties": {"parameter": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
    },
}


class Problem(Exception):
    """An answer other than the one that was asked for; `detail` is a sentence for whoever reads it."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **members: Any) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers, self.members = status, detail, dict(headers or {}), members

    def response(self) -> Response:
        title = HTTPStatus(self.status).phrase
        about = {"type": "about:blank", "title": title, "status": self.status, "detail": self.detail, **self.members}
        body = json.dumps(about, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Cache-Control": "no-store", **self.headers}
        return Response(body, self.status, headers=headers, media_type=MEDIA_TYPE)


def busy(what: str, headers: Mapping[str, str] | None = None) -> Problem:
    return Problem(503, f"{what}; try again in a moment", {"Retry-After": "1", **(headers or {})})


def install(app: FastAPI) -> None:
    """Make `app` tell its problems, and those of the libraries below it, in this form."""

    async def own(_: Request, error: Any) -> Response:
        made: Response = error.response()
        return made

    async def mistake(_: Request, error: Any) -> Response:
        return Problem(422, str(error)).response()

    async def gone(_: Request, error: Any) -> Response:
        return busy(str(error)).response()

    async def invalid(_: Request, error: Any) -> Response:
        wrong = [
            {"parameter": ".".join(str(part) for part in one["loc"][1:]), "detail": str(one["msg"])[:SHORT]}
            for one in error.errors()
        ]
        detail = "; ".join(f"{one['parameter']}: {one['detail']}" for one in wrong)
        return Problem(422, detail, errors=wrong).response()

    async def other(request: Request, error: Any) -> Response:
        headers = dict(error.headers or {})
        detail = str(error.detail)
        if error.status_code == 404:
            detail = "there is nothing at this address; /openapi.json lists what there is"
        elif error.status_code == 405:
            headers["Allow"] = ", ".join(_allowed(app, request))
            detail = f"this address answers {headers['Allow']}"
        return Problem(error.status_code, detail, headers).response()

    app.add_exception_handler(Problem, own)
    app.add_exception_handler(UserError, mistake)
    app.add_exception_handler(Unavailable, gone)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, other)


def _allowed(app: FastAPI, request: Request) -> list[str]:
    """The methods of all routes of an address, where Starlette names those of the first."""
    methods: set[str] = set()
    for route in app.router.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= set(getattr(route, "methods", None) or ())
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))
