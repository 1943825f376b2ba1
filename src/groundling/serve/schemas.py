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


class PictureAbout(Picture):
    taken: str = Field(description="when, as the camera or else the file says: 2019-07-31T18:05:00; may be empty")
    size: int = Field(description="of the file when it was indexed, in bytes")


class Pictures(BaseModel):
    pictures: list[Picture]


class FoundPicture(Picture):
    score: float = Field(description="a cosine, at most 1; to be compared within one answer only")
    duplicates: list[int] = Field([], description="pictures that look the same, where these were to be grouped")


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

    verdict: str  # the label that is predicted; clients know it by this name
    probabilities: dict[str, float]
    language: QueryLanguage


class Example(BaseModel):
    """Words to try, and a picture that they are of."""

    text: str
    language: Language
    picture: Picture


class Examples(BaseModel):
    examples: list[Example]


class Fit(BaseModel):
    """How well words fit a picture, beside the pictures of the index; to be compared within one language only."""

    picture: Picture | None = Field(description="the one that was named; none where one was sent")
    score: float = Field(description="a cosine, at most 1")
    better: int = Field(description="how many pictures of the index fit the words better, counted up to 200")
    best: FoundPicture | None = Field(description="the one that fits best, where it is not the picture itself")
    language: QueryLanguage
    notice: str = Field(description="where the model does not know the language or some of the words")


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
    root: str | None = Field(None, description="the folder of the pictures, for those on the same machine")
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
