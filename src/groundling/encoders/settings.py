"""Settings of encoders: what a recipe says of an encoder, beside its name and the dimensions of the shared space."""

from collections.abc import Mapping
from typing import Any, TypeVar

from groundling.settings import Settings, check


class EncoderSettings(Settings):
    """None by itself; an encoder that has settings derives its own from it."""


#: An encoder in a recipe: its name, or a mapping with its name and its own settings.
Named = str | dict[str, Any]

#: What a system says of encoders that it knows, by their names.
Specials = Mapping[str, Mapping[str, Any]]
NONE: Specials = {}

Kind = TypeVar("Kind", bound=EncoderSettings)


def completed(kind: type[Kind], values: Mapping[str, Any], where: str, defaults: Mapping[str, Any]) -> Kind:
    """`values` as settings of this kind.

    Args:
        where: what these settings belong to, for error sentences.
        defaults: taken where the encoder has such a setting and the recipe leaves it out.
    """
    offered = {key: value for key, value in defaults.items() if key in kind.model_fields}
    own = {key: value for key, value in values.items() if key != "name"}
    return check(kind, {**offered, **own}, where)
