"""Which pictures and captions are trained and tested on."""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.settings.base import Settings


class CorpusSettings(Settings):
    group = "corpus"
    former: ClassVar = {"split": "split_by"}

    name: str = Field(description="a corpus by name (`groundling corpus list`), a corpus folder, or a captions table")
    split_by: str | None = Field(None, description="how the emoji corpus is split: concept or artist")
    languages: list[str] | None = Field(None, min_length=1, description="train and test on these; all when left out")
    captions_from: dict[str, str | list[str]] = Field(
        {}, description="language → the corpus, or several, that its captions come from instead of this one"
    )
    test_on: str | None = Field(None, description="the corpus whose captions are asked in the test split instead")
    text_only: list[str] = Field(
        [],
        description="corpora, or .tsv files of translations, whose training sentences only meet each other: captions "
        "of photos that are not there",
    )
    train_on: Literal["all", "half", "disjoint"] = Field(
        "all", description="half: half of the training pictures; disjoint: an equal part of them for each language"
    )
    training_pictures: PositiveInt | None = Field(
        None, description="train on so many pictures, drawn; fewer are always among more"
    )
    one_caption: bool = Field(False, description="train on one caption, drawn, of each picture and language")
    draw: int = Field(
        0,
        ge=0,
        description="the seed of what train_on, training_pictures and one_caption draw; `seed`: that of the training",
    )
