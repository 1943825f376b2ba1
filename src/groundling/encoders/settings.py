"""Settings of encoders: what a recipe says of an encoder, beside its name and the dimensions of the shared space."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from groundling.registry import Registry
from groundling.settings import Settings, check


class EncoderSettings(Settings):
    """None by itself; an encoder that has settings derives its own from it."""


#: An encoder in a recipe: its name, or a mapping with its name and its own settings.
Named = str | dict[str, Any]

#: What a system says of encoders that it knows, by their names; it says the rest of any encoder.
Specials = Mapping[str, Mapping[str, Any]]
NONE: Specials = {}


class HasSettings(Protocol):
    Settings: ClassVar[type[EncoderSettings]]


Kind = TypeVar("Kind", bound=type[HasSettings])


def name_of(values: Named) -> str:
    return values if isinstance(values, str) else str(values.get("name", ""))


def choose(
    registry: Registry[Kind], values: Named, where: str, defaults: Mapping[str, Any]
) -> tuple[Kind, EncoderSettings]:
    """The encoder that a recipe names, `{name: ..., ...}` or the name alone, and its checked settings.

    Args:
        where: what these settings belong to, for error sentences.
        defaults: what the system says; taken where the encoder has such a setting and the recipe leaves it out.
    """
    encoder = registry[name_of(values)]
    own = {} if isinstance(values, str) else {key: value for key, value in values.items() if key != "name"}
    offered = {key: value for key, value in defaults.items() if key in encoder.Settings.model_fields}
    return encoder, check(encoder.Settings, {**offered, **own}, where)
