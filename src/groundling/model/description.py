"""What a model says of itself, as data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Description:
    """What a model says of itself.

    Attributes:
        kind: "run" for a run and what was exported from it, "pretrained" for models of other people.
        name: what it was loaded by.
        backbone: what looks at the pictures.
        dimensions: the length of a text's vector.
        languages: codes it was trained on; none where that is not known.
        similarity: how vectors are compared: "cosine", or "order" (see `encoders.similarity`).
        judges: whether it can tell if a text is true of a picture.
    """

    kind: str
    name: str
    backbone: str
    dimensions: int
    languages: list[str]
    similarity: str
    judges: bool
