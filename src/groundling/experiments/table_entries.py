"""The entries of a table of experiments: what is trained for it, and what is asked of each training."""

import copy
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from groundling.errors import UserError
from groundling.experiments.question import Question
from groundling.experiments.table_settings import (
    Row,
    TableSettings,
    check_claims,
    check_means,
    check_published,
    groups,
    trained_on_all,
)
from groundling.settings import Recipe, check, current_key

PRETRAINED = "pretrained"  # the system that is not trained


@dataclass(frozen=True)
class TableEntry:
    """One training: a row, a group of languages that it has numbers for, a seed; and the language it is validated on,
    if that is one of several."""

    row: str
    group: tuple[str, ...]
    recipe: Recipe
    keeps_weights: bool = False
    ask: Question | None = None
    metrics: tuple[str, ...] = ()
    selected: str | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """The languages whose columns its numbers are for."""
        return self.group if self.selected is None else (self.selected,)

    @property
    def key(self) -> str:
        """What the result goes by: the training, and what is asked of it."""
        return self.folder if self.ask is None else f"{self.folder}/{self.ask.file}"

    @property
    def pretrained(self) -> bool:
        """Whether it is a model that is evaluated as it is (see `experiments.pretrained_rows`)."""
        return self.recipe.system.get("name") == PRETRAINED

    @cached_property
    def folder(self) -> str:
        """Named by what is trained, not by the table: tables that share a training share its run."""
        from groundling.systems import meaning  # knows torch, which a list of tables does not need

        content = json.dumps(meaning(self.recipe), sort_keys=True)
        return f"cells/{self.recipe.name}-{hashlib.sha256(content.encode()).hexdigest()[:10]}"


def start_of(entry: TableEntry) -> TableEntry | None:
    """The training that an entry starts from, where its recipe describes one (`start`). Its weights are kept."""
    start = entry.recipe.described_start
    return None if start is None else _needed(start)


def teachers(entry: TableEntry) -> list[TableEntry]:
    """The trainings that teach an entry, where its recipe describes them. Their weights are kept."""
    return [_needed(recipe) for recipe in entry.recipe.described_teachers]


def builds_on(entry: TableEntry) -> list[TableEntry]:
    """The trainings that an entry starts from or that teach it, and those that these build on in turn, each once."""
    direct = [one for one in (start_of(entry), *teachers(entry)) if one is not None]
    return list({one.folder: one for each in direct for one in (each, *builds_on(each))}.values())


def _needed(recipe: Recipe) -> TableEntry:
    """Named as an entry of a row that trains the same would be, so that it is trained once for both."""
    group = tuple(recipe.corpus.languages or ("all",))
    named = recipe.model_copy(update={"name": _name(recipe, group), "title": ""})
    return TableEntry("", group, named, keeps_weights=True)


def table_entries(table: TableSettings, seeds: list[int] | None = None) -> Iterator[TableEntry]:
    """All trainings of the table; the seeds of one entry stand together."""
    names = [row.name for row in table.rows]
    if len(set(names)) != len(names):
        raise UserError(f"{table.title}: two rows have the same name")
    check_means(table)
    check_claims(table, names)
    check_published(table)
    for row in table.rows:
        if row.empty:
            continue
        where, all_groups = f"{table.title}, {row.name}", groups(table, row)
        every = trained_on_all(table, row)
        for group, selected in _trainings(table, row, all_groups, every):
            for seed in dict.fromkeys(seeds or table.seeds):
                values = Recipe.renamed(copy.deepcopy(table.base))
                alone = table.one_language if len(group) == 1 and not every else None
                own: dict[str, Any] = {"training.seed": seed} | ({} if every else {"corpus.languages": list(group)})
                if selected is not None:
                    own["training.validation_language"] = selected
                for changes in (own, alone or {}, row.set, table.change, own):  # own again: a row may set whole groups
                    for key, value in changes.items():
                        key = current_key(key)
                        if changes is table.change and key.startswith("start.") and values.get("start") is None:
                            continue  # said to every row, and meant for those that start from another run
                        assign(values, key, value, where)
                recipe = check(Recipe, values, where)
                named = recipe.model_copy(update={"name": _name(recipe, ("all",) if every else group), "title": ""})
                ask = row.ask and row.ask.with_source(table.translations)
                entry = TableEntry(row.name, group, named, False, ask, tuple(table.metrics), selected)
                yield entry
                if entry.pretrained:  # every seed would give the same
                    break


def in_training_order(entries: Iterable[TableEntry]) -> list[TableEntry]:
    """Seed by seed: a table that is stopped early has one seed of everything. Of a seed, what has to wait for another
    training comes first, and long trainings before short ones, so that no worker is left alone with one at the end."""
    found = list(entries)
    seeds = list(dict.fromkeys(entry.recipe.training.seed for entry in found))

    def rank(entry: TableEntry) -> tuple[int, bool, int]:
        recipe = entry.recipe
        alone = recipe.described_start is None and not recipe.described_teachers
        return seeds.index(recipe.training.seed), alone, -len(entry.group)

    return sorted(found, key=rank)


def _trainings(
    table: TableSettings, row: Row, all_groups: list[tuple[str, ...]], every: bool
) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """The groups of languages of a row, each as often as a model is selected for one of its languages."""
    for group in all_groups:
        columns = [code for code in table.languages if code in group]
        yield from ((group, code) for code in (columns if row.select and (every or len(group) > 1) else [None]))


def _name(recipe: Recipe, group: tuple[str, ...]) -> str:
    languages = "+".join(group) if len(group) <= 4 else f"{len(group)}-languages"
    return f"{recipe.system.get('name', 'lessons')}-{languages}-seed{recipe.training.seed}"


def assign(values: dict[str, Any], key: str, value: Any, where: str) -> None:
    """values["a"]["b"] = value for the key "a.b"."""
    *parents, last = key.split(".")
    for parent in parents:
        values = values.setdefault(parent, {})
        if not isinstance(values, dict):
            raise UserError(f'{where}: {key}: "{parent}" is a value, not a group of settings')
    values[last] = value
