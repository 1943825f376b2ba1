"""All that a training was told, also by default: what it takes to know that another would be the same.

The key of an entry leaves defaults out, so that it stays what it is when a setting is added. A default that has been
changed since would go unnoticed by it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from groundling.settings import Recipe

Flat = dict[str, Any]  # dotted name → value


def settings_of(recipe: Recipe) -> Flat:
    """Every setting of a recipe, of its system, and of the trainings that it starts from or that teach it."""
    from groundling.systems import make  # knows torch, which a list of tables does not need

    values = recipe.model_dump(mode="json", exclude={"name", "title", "system", "start", "teachers"})
    system = make(recipe.system)
    found = _flat({**values, "system": {**system.settings.model_dump(mode="json"), "name": system.name}})
    for name, other in [("start", recipe.start), *((f"teachers.{at}", one) for at, one in enumerate(recipe.teachers))]:
        told = settings_of(other) if isinstance(other, Recipe) else {} if other is None else {"": other}
        found |= {f"{name}.{key}".rstrip("."): value for key, value in told.items()}
    return found


def _flat(values: Mapping[str, Any]) -> Flat:
    found: Flat = {}
    for key, value in values.items():
        if isinstance(value, dict) and value:
            found |= {f"{key}.{inner}": each for inner, each in _flat(value).items()}
        else:
            found[key] = value
    return found


def are_the_same(earlier: Flat, now: Flat) -> bool:
    """Whether all that was told then is told now. A setting that did not exist then has a default that is as before."""
    return all(key in now and now[key] == value for key, value in earlier.items())


def shared(each: Sequence[Flat]) -> Flat:
    """What all of several trainings were told, so that it is written down once."""
    first, *others = each or [{}]
    return {key: value for key, value in first.items() if all(key in one and one[key] == value for one in others)}
