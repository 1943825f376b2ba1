"""The application: what can be asked, and what is answered."""

import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.middleware import Middleware
from starlette.responses import Response

import groundling
from groundling.model import Vectors
from groundling.report.text_reading import notice
from groundling.search.search_filter import SearchFilter
from groundling.serve import collection_routes, problems, schemas
from groundling.serve import metrics as watching
from groundling.serve.access import COOKIE, Access, Gate
from groundling.serve.file_stream import FileStream
from groundling.serve.guard import Guard, Head
from groundling.serve.limits import MOST_RESULTS
from groundling.serve.page_files import START, page_files
from groundling.serve.pictures import MEDIA_TYPES
from groundling.serve.problems import Problem
from groundling.serve.route_types import (
    BYTES,
    PICTURE_BODY,
    Code,
    Folder,
    Group,
    Id,
    K,
    Offset,
    Row,
    Sentence,
    Since,
    Size,
    Until,
    Words,
    client_of,
)
from groundling.serve.service import Hits, Service
from groundling.serve.uploads import body_of

SESSION_BODY = 4096  # bytes

TOKEN_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}}
            }
        },
    }
}
PICTURE_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture.", "content": dict.fromkeys(MEDIA_TYPES, BYTES)},
    304: {"description": "The same as the one that the browser has."},
}


def make_app(
    service: Service, access: Access | None = None, name: str = "groundling", tell_root: bool = False
) -> FastAPI:
    """The application around a service, which whoever made it closes.

    `name` is what the page calls the collection. `tell_root`: where the pictures are on this machine is told, so that
    the page can copy whole paths; for those who ask from elsewhere that would be of no use, and nothing of theirs.
    """
    access = access or Access()
    app = FastAPI(
        title="groundling",
        version=groundling.__version__,
        description="Pictures found with words of any language.",
        docs_url=None,  # these pages would load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(Head),
            Middleware(Guard, limits=service.limits, metrics=service.metrics),
            Middleware(Gate, access=access),
        ],
    )
    problems.install(app)
    _questions(app, service)
    collection_routes.install(app, service)
    _pictures(app, service)
    _around(app, service, access, name, str(service.pictures.root) if tell_root else None)
    _page(app)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _questions(app: FastAPI, service: Service) -> None:
    index, uploads = service.index, service.uploads

    def pictures(hits: Hits) -> list[schemas.FoundPicture]:
        value = index.entries.value
        return [
            schemas.FoundPicture(id=row, score=round(score, 6), name=value("name", row), url=f"/pictures/{row}")
            for row, score in hits
        ]

    async def best(vector: Vectors, k: int, offset: int, group: bool, choice: SearchFilter | None) -> schemas.Found:
        """What is nearest, without the `offset` best."""
        if not group:
            return schemas.Found(results=pictures((await service.find(vector, offset + k, choice))[offset:]))
        groups = (await service.find_groups(vector, offset + k, choice))[offset:]
        found = pictures([(one.row, one.score) for one in groups])
        for shown, one in zip(found, groups, strict=True):
            shown.duplicates = list(one.others)[:MOST_RESULTS]
        return schemas.Found(results=found)

    async def told(vector: Vectors, k: int) -> schemas.Captions:
        value, found = service.has_captions().entries.value, []
        for row, score in await service.describe(vector, k):
            text, code = value("name", row), value("language", row)
            direction = schemas.direction_of(code, text)
            found.append(schemas.FoundCaption(text=text, language=code, direction=direction, score=round(score, 6)))
        return schemas.Captions(captions=found)

    async def judged(picture: bytes, text: str, language: str | None, request: Request) -> schemas.Checked:
        said = await service.check(picture, text, language, client_of(request))
        rounded = {label: round(share, 6) for label, share in said.probabilities.items()}
        about = schemas.query_language(said.language, text, said.detected)
        return schemas.Checked(verdict=said.label, probabilities=rounded, language=about)

    async def looked(request: Request) -> Vectors:
        async with uploads.picture_of(request) as sent:
            return await service.look(sent, client_of(request))

    @app.get("/search")
    async def search(
        q: Words,
        k: K = 24,
        offset: Offset = 0,
        language: Code = None,
        folder: Folder = "",
        since: Since = None,
        until: Until = None,
        group: Group = False,
    ) -> schemas.Searched:
        """Pictures that words describe; nothing for a query without words."""
        choice = SearchFilter.of(folder, since, until)
        words = await service.words(q, language)
        found = [] if words.vector is None else (await best(words.vector, k, offset, group, choice)).results
        reading = words.reading
        about = schemas.query_language(reading.foreign or reading.language, q, reading.detected)
        return schemas.Searched(
            query=q,
            language=about,
            guess=reading.guess,
            unknown_words=list(reading.unknown),
            notice=notice(reading),
            results=found,
        )

    @app.get("/similar")
    async def similar(id: Id, k: K = 24, offset: Offset = 0) -> schemas.Found:
        """Pictures that are like one of the index, without that one."""
        hits = await service.find(await service.vector_of(id), offset + k + 1)
        return schemas.Found(results=pictures([hit for hit in hits if hit[0] != id][offset : offset + k]))

    @app.post("/similar", openapi_extra=PICTURE_BODY)
    async def similar_to_sent(request: Request, k: K = 24, offset: Offset = 0, group: Group = False) -> schemas.Found:
        """Pictures that are like the one whose bytes are sent."""
        return await best(await looked(request), k, offset, group, None)

    @app.get("/captions")
    async def captions(id: Id, k: K = 24) -> schemas.Captions:
        """Captions that describe a picture of the index."""
        return await told(await service.vector_of(id), k)

    @app.post("/captions", openapi_extra=PICTURE_BODY)
    async def captions_of_sent(request: Request, k: K = 24) -> schemas.Captions:
        """Captions that describe the picture whose bytes are sent."""
        service.has_captions()
        return await told(await looked(request), k)

    @app.get("/check")
    async def check(request: Request, id: Id, text: Sentence, language: Code = None) -> schemas.Checked:
        """Whether a sentence is true of a picture of the index."""
        service.can_check()
        service.known(id)
        return await judged(await service.by_hand(service.pictures.read, id), text, language, request)

    @app.post("/check", openapi_extra=PICTURE_BODY)
    async def check_sent(request: Request, text: Sentence, language: Code = None) -> schemas.Checked:
        """Whether a sentence is true of the picture whose bytes are sent."""
        service.can_check()
        async with uploads.picture_of(request) as sent:
            return await judged(sent, text, language, request)


def _pictures(app: FastAPI, service: Service) -> None:
    shown = service.pictures

    @app.get("/pictures/{id}/about")
    async def about_picture(id: Row) -> schemas.PictureAbout:
        """The name of a picture of the index, when it was taken, and how large its file is."""
        service.known(id)
        value = service.index.entries.value
        facts = {"taken": value("taken", id), "size": value("size", id)}
        return schemas.PictureAbout(id=id, name=value("name", id), url=f"/pictures/{id}", **facts)

    @app.get("/pictures/{id}", response_class=Response, responses=PICTURE_ANSWER)
    async def picture(request: Request, id: Row, size: Size = None) -> Response:
        """A picture of the index, or a small copy of it."""
        service.known(id)
        # Rows change when the index does, so that a browser must always ask whether what it has is still right.
        headers = {"Cache-Control": "private, no-cache", "ETag": shown.tag(id, size)}
        headers["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        if headers["ETag"] in request.headers.get("if-none-match", "") and await service.by_hand(shown.unchanged, id):
            return Response(status_code=304, headers=headers)
        if size is None:
            return await FileStream.of(service, id, headers)
        found = await service.small(id, size, client_of(request))
        return Response(found.data, headers=headers, media_type=found.media_type)


def _around(app: FastAPI, service: Service, access: Access, name: str, root: str | None) -> None:
    model = service.index.manifest.model

    @app.get("/about")
    async def about() -> schemas.About:
        """What is served here."""
        return schemas.About(
            name=name,
            pictures=len(service.index),
            languages=[schemas.language_of(code) for code in sorted(service.model.languages)],
            captions=service.captions is not None,
            check=service.checker is not None,
            root=root,
            model=schemas.ModelAbout(
                name=(service.index.folder / model.name).resolve().name if model.kind == "run" else model.name,
                kind=model.kind,
                backbone=model.backbone,
                dimensions=model.dimensions,
            ),
        )

    @app.get("/health")
    async def health() -> schemas.Health:
        """That the server lives; needs no token."""
        return schemas.Health(status="ok")

    @app.get("/ready")
    async def ready() -> schemas.Health:
        """That the index answers, too, wherever it is: 503 where it does not; needs no token."""
        await service.ready()
        return schemas.Health(status="ok")

    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    async def metrics() -> Response:
        """Counts and times for Prometheus."""
        return Response(service.metrics.text(), headers={"Content-Type": watching.MEDIA_TYPE})

    @app.post("/session", status_code=204, response_class=Response, openapi_extra=TOKEN_BODY)
    async def session(request: Request) -> Response:
        """A cookie in return for the token, so that a page can show pictures."""
        try:
            token = json.loads(await body_of(request, SESSION_BODY))["token"]
        except (ValueError, KeyError, TypeError, RecursionError):
            token = None
        if not isinstance(token, str):
            raise Problem(422, 'send {"token": "…"} as JSON')
        if not access.is_token(token):
            raise Problem(401, "that is not the token", {"WWW-Authenticate": "Bearer"})
        response = Response(status_code=204, headers={"Cache-Control": "no-store"})
        if access.token is not None:
            secure = request.url.scheme == "https"
            response.set_cookie(COOKIE, access.cookie(), httponly=True, samesite="strict", secure=secure)
        return response


def _page(app: FastAPI) -> None:
    files = page_files()

    @app.get("/", include_in_schema=False)
    async def start(request: Request) -> Response:
        return _file(request, START)

    @app.get("/page/{name}", include_in_schema=False)
    async def page(request: Request, name: str) -> Response:
        return _file(request, name)

    def _file(request: Request, name: str) -> Response:
        if name not in files:
            raise Problem(404, "the page has no such part")
        return files[name].response(request)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's, where everything that goes wrong is a problem."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes, tags=app.openapi_tags
        )
        told = {
            "description": "What went wrong.",
            "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for path in made["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
                operation["responses"]["default"] = told
        parts = made["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            parts.pop(unused, None)
        parts["Problem"] = problems.SCHEMA
        made["components"]["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"},
            "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
        }
        made["security"] = [{}, {"token": []}, {"session": []}]
        app.openapi_schema = made
    return app.openapi_schema
