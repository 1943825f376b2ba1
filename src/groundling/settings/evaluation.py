"""Which captions are asked in the test, and of how many pictures."""

from typing import Literal

from pydantic import Field, PositiveInt

from groundling.settings.base import Settings


class EvaluationSettings(Settings):
    captions: Literal["first", "all"] | None = Field(
        None, description="which test captions are queries; the corpus says"
    )
    folds: PositiveInt = Field(
        1, description="average over so many equal parts of the test pictures, each ranked by itself; COCO 1K is 5"
    )
