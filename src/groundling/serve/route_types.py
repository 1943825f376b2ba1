"""What requests may say, checked and described for the OpenAPI."""

from typing import Annotated, Any

from fastapi import Path, Query, Request

from groundling.search.search_filter import DATE
from groundling.serve.limits import (
    LARGEST_ID,
    LARGEST_SIDE,
    LONGEST_FOLDER,
    LONGEST_QUERY,
    MOST_RESULTS,
    MOST_SKIPPED,
    SMALLEST_SIDE,
)
from groundling.serve.uploads import MEDIA_TYPES

CODE = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"

Id = Annotated[int, Query(ge=0, le=LARGEST_ID, description="A picture of the index, by its `id`.")]
Row = Annotated[int, Path(ge=0, le=LARGEST_ID, description="A picture of the index.")]
K = Annotated[int, Query(ge=1, le=MOST_RESULTS, description="How many to find.")]
Offset = Annotated[int, Query(ge=0, le=MOST_SKIPPED, description="How many of the best to leave out, to see the next.")]
Group = Annotated[bool, Query(description="Pictures that look the same are one, which names the others.")]
Words = Annotated[str, Query(max_length=LONGEST_QUERY, description="What to look for, in any language of the model.")]
Sentence = Annotated[
    str, Query(min_length=1, max_length=LONGEST_QUERY, pattern=r"\S", description="The sentence to check.")
]
Code = Annotated[
    str | None, Query(pattern=CODE, max_length=35, description="The language, such as de; guessed when left out.")
]
Folder = Annotated[str, Query(max_length=LONGEST_FOLDER, description="Only pictures in this folder and below it.")]
Since = Annotated[
    str | None, Query(pattern=f"^{DATE}$", description="Only pictures taken then or later: 2019, 2019-07.")
]
Until = Annotated[str | None, Query(pattern=f"^{DATE}$", description="Only pictures taken then or before.")]
Size = Annotated[
    int | None,
    Query(ge=SMALLEST_SIDE, le=LARGEST_SIDE, description="A small copy with a longer side of at most these pixels."),
]

BYTES = {"schema": {"type": "string", "format": "binary"}}
PICTURE_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": dict.fromkeys(MEDIA_TYPES, BYTES)}}


def client_of(request: Request) -> str:
    """Whose turn it is, where turns are taken."""
    return request.client.host if request.client else ""
