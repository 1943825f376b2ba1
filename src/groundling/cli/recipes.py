"""groundling recipes, and the recipe that a command line asks for."""

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import AsJson, print_json, print_words
from groundling.errors import UserError
from groundling.recipes import builtin, find, is_table
from groundling.recipes import resolve as by_name
from groundling.settings import Recipe, read_yaml


def resolve(name: str | None, corpus: str | None, system: str | None, assignments: list[str]) -> Recipe:
    """The recipe by name or file, changed by what stands on the command line."""
    if name is None and corpus is None:
        raise UserError("name a recipe (`groundling recipes` lists them) or a corpus with --corpus")
    named = {"corpus": corpus, "system": system}
    changes = {key: {"name": value} for key, value in named.items() if value is not None}
    return by_name(name, changes, assignments)


def resolve_or_choose(
    name: str | None, corpus: str | None, system: str | None, assignments: list[str], data: Path | None, device: str
) -> tuple[Recipe, list[str]]:
    """The same; where neither recipe nor system is named, one that suits the corpus, and why."""
    from groundling.training.defaults import resolve as choose

    if name is None and corpus is None:
        raise UserError("name a recipe (`groundling recipes` lists them) or a corpus with --corpus")
    named = {"corpus": corpus, "system": system}
    changes = {key: {"name": value} for key, value in named.items() if value is not None}
    return choose(name, changes, assignments, data, device)


def recipes(
    name: Annotated[str | None, typer.Argument(help="Show this recipe or system in full.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the recipes, tables and systems that come with groundling, or show one."""
    from groundling.systems import SYSTEMS

    if name in SYSTEMS:
        return _show_system(name, as_json)
    if name is not None:
        values = read_yaml(find(name))
        return print_json(values) if as_json else print(find(name).read_text(encoding="utf-8"))
    listed = []
    for key, path in builtin().items():
        values = read_yaml(path)
        kind = "table" if is_table(values) else "recipe"
        listed.append({"name": key, "kind": kind, "about": str(values.get("title", ""))})
    listed += [{"name": key, "kind": "system", "about": system.paper} for key, system in SYSTEMS.items()]
    if as_json:
        return print_json(listed)
    print_words("Recipes, tables and systems", ["name", "kind", "about"], [list(row.values()) for row in listed])


def _show_system(name: str, as_json: bool) -> None:
    from groundling.systems import get

    system = get(name)
    if as_json:
        return print_json(system.Settings.model_json_schema())
    rows = [
        [key, str(field.default), field.description or ""]
        for key, field in system.Settings.model_fields.items()
        if key != "name"
    ]
    print_words(f"System {name} ({system.paper})", ["setting", "default", "what it does"], rows)
