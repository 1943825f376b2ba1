"""groundling recipes, and the recipe that a command line asks for."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from groundling.cli.output import AsJson, print_json, print_words
from groundling.errors import UserError

if TYPE_CHECKING:
    from groundling.settings import Recipe


def resolve_or_choose(
    name: str | None, corpus: str | None, system: str | None, assignments: list[str], data: Path | None, device: str
) -> "tuple[Recipe, list[str]]":
    """The recipe by name or file, changed by what stands on the command line; where neither recipe nor system is named,
    one that suits the corpus, and why."""
    from groundling.training.defaults import resolve as choose

    if name is None and corpus is None:
        raise UserError("name a recipe (`groundling recipes` lists them) or a corpus with --corpus")
    named = {"corpus": corpus, "system": system}
    changes = {key: {"name": value} for key, value in named.items() if value is not None}
    return choose(name, changes, assignments, data, device)


class RecipesCommand(TyperCommand):
    """Says below its help which systems and objectives there are, also those of other packages."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from groundling.objectives import OBJECTIVES
        from groundling.systems import SYSTEMS

        with formatter.section("Systems"):
            formatter.write_dl([(name, system.paper) for name, system in SYSTEMS.items()])
        with formatter.section("Objectives"):
            formatter.write_dl([(name, objective.paper) for name, objective in OBJECTIVES.items()])


def recipes(
    name: Annotated[str | None, typer.Argument(help="Show this recipe, system, objective or encoder in full.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the recipes, tables, systems, objectives, encoders and metrics that there are, or show one."""
    from groundling.evaluation.metrics import METRICS
    from groundling.objectives import OBJECTIVES
    from groundling.recipes import builtin, find, is_table
    from groundling.settings import read_yaml
    from groundling.systems import SYSTEMS

    encoders = _encoders()
    if name is not None and name in SYSTEMS:
        return _show(f"System {name} ({SYSTEMS[name].paper})", SYSTEMS[name].Settings, as_json)
    if name is not None and name in OBJECTIVES:
        return _show(f"Objective {name} ({OBJECTIVES[name].paper})", OBJECTIVES[name], as_json)
    if name in encoders:
        return _show(f"{_kind(name).capitalize()} {name.partition(':')[2]}", encoders[name].Settings, as_json)
    if name is not None:
        values = read_yaml(find(name))
        return print_json(values) if as_json else print(find(name).read_text(encoding="utf-8"))
    listed = []
    for key, path in builtin().items():
        values = read_yaml(path)
        kind = "table" if is_table(values) else "recipe"
        listed.append({"name": key, "kind": kind, "about": str(values.get("title", ""))})
    listed += [{"name": key, "kind": "system", "about": system.paper} for key, system in SYSTEMS.items()]
    listed += [{"name": key, "kind": "objective", "about": objective.paper} for key, objective in OBJECTIVES.items()]
    for key, encoder in encoders.items():
        about = (encoder.__doc__ or "").strip().partition("\n")[0]
        listed.append({"name": key, "kind": _kind(key), "about": about})
    listed += [{"name": key, "kind": "metric", "about": metric.about} for key, metric in METRICS.items()]
    if as_json:
        return print_json(listed)
    rows = [list(row.values()) for row in listed]
    print_words("Recipes, tables, systems, objectives, encoders and metrics", ["name", "kind", "about"], rows)


def _encoders() -> dict[str, Any]:
    """By `text:NAME` and `picture:NAME`, for systems may have the same names."""
    from groundling.encoders.picture import PICTURE_ENCODERS
    from groundling.encoders.text import TEXT_ENCODERS

    sides: dict[str, Any] = {"text": TEXT_ENCODERS, "picture": PICTURE_ENCODERS}
    return {f"{side}:{key}": kind for side, registry in sides.items() for key, kind in registry.items()}


def _kind(name: str) -> str:
    return f"{name.partition(':')[0]} encoder"


def _show(title: str, settings: Any, as_json: bool) -> None:
    if as_json:
        return print_json(settings.model_json_schema())
    rows = [
        [key, _shown(field.default), field.description or ""]
        for key, field in settings.model_fields.items()
        if key != "name"
    ]
    print_words(title, ["setting", "default", "what it does"], rows)


def _shown(value: object) -> str:
    """A default as a recipe would say it; an objective by its name, or with its settings where they are not its own."""
    from groundling.settings import Settings

    if not isinstance(value, Settings):
        return str(value)
    written = value.model_dump(exclude_defaults=True)
    return str(written.get("name", "") if len(written) < 2 else written)
