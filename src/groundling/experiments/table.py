"""A table of experiments as data: rows that change a base recipe, each trained with several seeds.

A row is one model for all languages of the recipe, or with `each` several models, one per group of languages; a column
is a language, and its number comes from the model that was trained on it.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from groundling.errors import UserError
from groundling.settings import Recipe, Settings, check


class Row(Settings):
    name: str
    each: list[Annotated[list[str], Field(min_length=1)]] | Literal["language"] | None = Field(
        None, description="train one model per group of languages; `language`: one model per language"
    )
    set: dict[str, Any] = Field({}, description="settings that differ from the base recipe, by dotted name")
    published: dict[str, float] = Field({}, description="the published number of each column")


class TableSettings(Settings):
    title: str
    about: str = ""
    metric: str = Field(
        "mR",
        pattern=r"^(mR|rsum|(text_to_image|image_to_text)\.(R@1|R@5|R@10|median|mean))$",
        description="what a cell shows: mR, rsum, or direction.R@k such as text_to_image.R@10",
    )
    languages: list[str] = Field(min_length=1, description="the columns")
    seeds: list[int] = Field([0, 1, 2], min_length=1)
    base: dict[str, Any]
    cells: list[Row] = Field(min_length=1, description="the rows")


@dataclass(frozen=True)
class Cell:
    """One training: a row, a group of languages, a seed."""

    row: str
    group: tuple[str, ...]
    recipe: Recipe

    @property
    def folder(self) -> str:
        return f"{slug(self.row)}/{self.recipe.name}-seed{self.recipe.training.seed}"


def slug(text: str) -> str:
    """A folder name: letters, digits and dashes."""
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "row"


def cells(table: TableSettings, seeds: list[int] | None = None) -> Iterator[Cell]:
    """All trainings of the table; the seeds of one cell stand together."""
    names = [slug(row.name) for row in table.cells]
    if len(set(names)) != len(names):
        raise UserError(f"{table.title}: two rows have the same name")
    for row in table.cells:
        where, all_groups = f"{table.title}, {row.name}", groups(table, row)
        for group in all_groups:
            for seed in dict.fromkeys(seeds or table.seeds):
                values = copy.deepcopy(table.base)
                changes = {"training.seed": seed, "corpus.languages": list(group), **row.set}
                for key, value in changes.items():
                    assign(values, key, value, where)
                short = len(all_groups) == 1 and len(group) > 3
                values["name"] = f"{len(group)}-languages" if short else "+".join(group)
                yield Cell(row.name, group, check(Recipe, values, where))


def groups(table: TableSettings, row: Row) -> list[tuple[str, ...]]:
    if row.each == "language":
        return [(code,) for code in table.languages]
    if row.each is not None:
        return [tuple(group) for group in row.each]
    return [tuple(row.set.get("corpus.languages", table.languages))]


def assign(values: dict[str, Any], key: str, value: Any, where: str) -> None:
    """values["a"]["b"] = value for the key "a.b"."""
    *parents, last = key.split(".")
    for parent in parents:
        values = values.setdefault(parent, {})
        if not isinstance(values, dict):
            raise UserError(f'{where}: {key}: "{parent}" must be a group of settings')
    values[last] = value
