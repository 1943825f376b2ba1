"""Settings that are checked: a wrong key is an error that names the key and the nearest one.

A setting that was called otherwise in former times is still read by its old name (`Settings.former`); one line on
standard error then says the new one. Recipes that runs were saved with are read without a word (`as_saved`).
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from groundling.errors import UserError, did_you_mean

_told: set[str] = set()
_saved: ContextVar[bool] = ContextVar("saved", default=False)


def notice(old: str, new: str) -> None:
    """Say, once in a process, what a setting is called now."""
    if old not in _told and not _saved.get():
        _told.add(old)
        print(f"groundling: {old} is called {new} now; the old name is still read", file=sys.stderr)


@contextmanager
def as_saved() -> Iterator[None]:
    """Former names are read without a notice: nobody is going to change the recipe of a finished run."""
    before = _saved.set(True)
    try:
        yield
    finally:
        _saved.reset(before)


class Settings(BaseModel):
    """Base of all settings: unknown keys are refused, values cannot change after they were checked.

    Class attributes:
        group: where these settings stand in a recipe, for notices.
        former: what settings were once called → what they are called now.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    group: ClassVar[str] = ""
    former: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _by_former_names(cls, values: Any) -> Any:
        return cls.renamed(values)

    @classmethod
    def renamed(cls, values: Any) -> Any:
        """The same values by the names that settings have now."""
        if not isinstance(values, dict) or not any(old in values for old in cls.former):
            return values
        for old, new in cls.former.items():
            if old in values:
                if new in values:
                    raise ValueError(f"{old} is what {new} was once called; leave one of them out")
                notice(f"{cls.group}.{old}".lstrip("."), f"{cls.group}.{new}".lstrip("."))
        return {cls.former.get(key, key): value for key, value in values.items()}


AnySettings = TypeVar("AnySettings", bound=Settings)


def check(kind: type[AnySettings], values: Any, where: str) -> AnySettings:
    """`values` as settings of this kind; the first thing wrong with them, in one sentence, otherwise."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(part for part in first["loc"] if part not in ("Recipe", "str"))  # which of a union's members
        key = ".".join(str(part) for part in path)
        if first["type"] == "extra_forbidden":
            raise UserError(
                f'{where}: unknown setting "{key}"{did_you_mean(str(path[-1]), _keys(kind, path[:-1]))}'
            ) from None
        if first["type"] == "missing":
            raise UserError(f'{where}: setting "{key}" is missing') from None
        raise UserError(f"{where}: {key or 'settings'}: {first['msg'].lower()}, not {_shown(first['input'])}") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _keys(kind: type[Settings], path: tuple[int | str, ...]) -> list[str]:
    """The keys that are allowed at `path` inside settings of this kind."""
    for part in path:
        nested = kind.model_fields[str(part)].annotation if str(part) in kind.model_fields else None
        if not (isinstance(nested, type) and issubclass(nested, Settings)):
            return []
        kind = nested
    return list(kind.model_fields)
