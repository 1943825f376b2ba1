"""What a page asks about the collection itself: pictures to begin with, words to try, and whether captions fit."""

import asyncio
from typing import Annotated

import numpy as np
from fastapi import FastAPI, Query, Request

from groundling.model.vectors import Vectors
from groundling.report.text_reading import notice
from groundling.serve import schemas
from groundling.serve.examples import Example, examples_of, spread
from groundling.serve.limits import LARGEST_ID, LONGEST_NAME, MOST_RESULTS
from groundling.serve.problems import Problem
from groundling.serve.route_types import PICTURE_BODY, Code, K, Sentence, client_of
from groundling.serve.service import Service

SURELY = 1e-6  # by so much a picture fits better than another
Start = Annotated[int, Query(ge=0, le=LARGEST_ID, description="Another number, other pictures.")]
MaybeId = Annotated[int | None, Query(ge=0, le=LARGEST_ID, description="A picture of the index, by its `id`.")]
Name = Annotated[
    str | None, Query(max_length=LONGEST_NAME, description="The same by its name; that of the file is enough.")
]


def install(app: FastAPI, service: Service) -> None:
    index = service.index
    kept: list[asyncio.Task[list[Example]]] = []

    def named(row: int) -> schemas.Picture:
        return schemas.Picture(id=row, name=index.entries.value("name", row), url=f"/pictures/{row}")

    @app.get("/sample")
    async def sample(k: K = 24, start: Start = 0) -> schemas.Pictures:
        """Pictures of the index, spread over all of it."""
        return schemas.Pictures(pictures=[named(row) for row in spread(len(index), k, start)])

    @app.get("/examples")
    async def examples() -> schemas.Examples:
        """Words to try, one query for each language, that this collection has pictures for."""
        if not kept:
            kept.append(asyncio.ensure_future(examples_of(service)))  # found once, for all who ask
        try:
            found = await asyncio.shield(kept[0])
        except Problem:
            kept.clear()
            raise
        return schemas.Examples(
            examples=[
                schemas.Example(text=one.text, language=schemas.language_of(one.language), picture=named(one.row))
                for one in found
            ]
        )

    @app.get("/fit")
    async def fit(text: Sentence, id: MaybeId = None, name: Name = None, language: Code = None) -> schemas.Fit:
        """How well words fit a picture of the index, beside all others of it."""
        if (id is None) == (name is None):
            raise Problem(422, "name one picture, by `id` or by `name`")
        row = id if id is not None else await service.by_hand(index.entries.row_named, name)
        if row is None:
            raise Problem(404, f"no picture here, or more than one, is called {name}")
        return await fitting(await service.vector_of(row), text, language, row)

    @app.post("/fit", openapi_extra=PICTURE_BODY)
    async def fit_of_sent(request: Request, text: Sentence, language: Code = None) -> schemas.Fit:
        """How well words fit the picture whose bytes are sent, beside those of the index."""
        async with service.uploads.picture_of(request) as sent:
            vector = await service.look(sent, client_of(request))
        return await fitting(vector, text, language, None)

    async def fitting(picture: Vectors, text: str, language: str | None, row: int | None) -> schemas.Fit:
        words = await service.words(text, language)
        if words.vector is None:
            raise Problem(422, "text: the sentence is empty")
        score = float(np.dot(words.vector, picture))
        better = [
            (other, value)
            for other, value in await service.find(words.vector, MOST_RESULTS)
            if other != row and value > score + SURELY
        ]
        best = None
        if better:
            best = schemas.FoundPicture(**named(better[0][0]).model_dump(), score=round(better[0][1], 6))
        reading = words.reading
        about = schemas.query_language(reading.foreign or reading.language, text, reading.detected)
        return schemas.Fit(
            picture=None if row is None else named(row),
            score=round(score, 6),
            better=len(better),
            best=best,
            language=about,
            notice=notice(reading, "the caption", "the score is a guess"),
        )
