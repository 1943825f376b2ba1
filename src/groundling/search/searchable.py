"""Whether an index can be searched with a model: its texts and pictures share a space, compared by an inner product."""

from groundling.errors import UserError
from groundling.model import Model


def searchable(model: Model) -> Model:
    """The model itself, or an error that says why not."""
    if model.similarity != "cosine":
        raise UserError(
            f"{model.name}: this model compares by `similarity: {model.similarity}`, which is no inner product, so "
            "that no index can search it; choose one with `similarity: cosine`"
        )
    model.check_finds()
    return model
