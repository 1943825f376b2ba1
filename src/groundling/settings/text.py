"""How captions are cut into words."""

from typing import Literal

from pydantic import Field, PositiveInt

from groundling.settings.base import Settings


class TextSettings(Settings):
    segmentation: Literal["script", "whitespace", "dictionary"] = Field(
        "script",
        description="script: words, characters for Chinese and Japanese; whitespace: already tokenised text; "
        "dictionary: word segmenters for Chinese and Japanese (extra `cjk`)",
    )
    minimum_count: PositiveInt = Field(4, description="rarer training words become the unknown word, per language")
    maximum_length: PositiveInt = Field(60, le=1000, description="longer captions are cut to this many words")
