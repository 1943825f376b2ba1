"""What the answers look like; the OpenAPI is made from these."""

import unicodedata
from typing import Literal

from pydantic import BaseModel, Field

from groundling.report.languages import NAMES
from groundling.report.languages import direction as written

Direction = Literal["ltr", "rtl"]


class Language(BaseModel):
    """A code such as "de" or "pt-BR", its English name, and how it is written."""

    code: str
    name: str
    direction: Direction


class QueryLanguage(Language):
    """The code is empty where nothing tells the language of a query."""

    detected: bool = Field(description="guessed, rather than given with the request")


class Picture(BaseModel):
    """A picture of the index; how to look at it is told by its `url`."""

    id: int = Field(description="the row of the picture in the index; good as long as the server runs")
    name: str = Field(description="the path of the picture below the folder that was indexed")
    url: str


class FoundPicture(Picture):
    score: float = Field(description="a cosine, at most 1; to be compared within one answer only")


class Found(BaseModel):
    """The best first."""

    results: list[FoundPicture]


class Searched(Found):
    """What was found, and how the model reads the query.

    `language` is what the query seems to be in, which may be none that the model reads; then, or where it knows too few
    of the words, the results are a `guess`.
    """

    query: str
    language: QueryLanguage
    guess: bool = Field(description="the model does not read the language, or knows fewer than half of the words")
    unknown_words: list[str] = Field(description="words of the query that the model does not know")
    notice: str = Field(description="a sentence about both, for whoever asked; empty where there is nothing to say")


class FoundCaption(BaseModel):
    text: str
    language: str
    direction: Direction
    score: float


class Captions(BaseModel):
    """The best first."""

    captions: list[FoundCaption]


class Checked(BaseModel):
    """Whether a sentence is true of a picture."""

    verdict: str
    probabilities: dict[str, float]
    language: QueryLanguage


class ModelAbout(BaseModel):
    name: str
    kind: str
    backbone: str
    dimensions: int


class About(BaseModel):
    """What is served. `languages` are those that the model was trained on, where that is known."""

    name: str
    pictures: int
    languages: list[Language]
    captions: bool
    check: bool
    model: ModelAbout


class Health(BaseModel):
    status: Literal["ok"]


def direction_of(code: str, text: str = "") -> Direction:
    """How a language is written; where it is not known, by the first letter of the text that tells."""
    if code:
        return "rtl" if written(code) == "rtl" else "ltr"
    for letter in text:
        kind = unicodedata.bidirectional(letter)
        if kind in ("L", "R", "AL"):
            return "ltr" if kind == "L" else "rtl"
    return "ltr"


def language_of(code: str) -> Language:
    return Language(code=code, name=name_of(code), direction=direction_of(code))


def query_language(code: str, text: str, detected: bool) -> QueryLanguage:
    return QueryLanguage(code=code, name=name_of(code), direction=direction_of(code, text), detected=detected)


def name_of(code: str) -> str:
    return NAMES.get(code.split("-")[0].lower(), code)
