"""What a recipe may say, as a page: every group of settings, and the settings of every system; and the recipes."""

import html
import inspect
import re
from collections.abc import Iterator
from typing import Any

from groundling import corpus, recipes
from groundling.experiments.question import Question
from groundling.experiments.table_settings import Claim, Row, TableSettings
from groundling.settings import Recipe, Settings, read_yaml
from groundling.systems import SYSTEMS

RECIPE = """# Recipe settings

A recipe is a YAML file with these groups of settings; what is left out has the default. On the command line
`--set training.seed=3` changes one of them, and from Python `groundling.train(…, training={"seed": 3})`. A key that
does not exist is an error that names the nearest one that does."""

TABLE = """# Settings of a table

A table is a YAML file with rows that change a base recipe; `groundling reproduce FILE.yaml` trains every row with every
seed. A table may also be `like:` another one, by name or file, and say only what differs: any key below, `corpora` (a
mapping from the other table's corpora to others), `without` (rows to leave out), `more_rows` and `more_claims` (what
comes after those of the other table) and `published` (row → its numbers).

`languages` are the columns, what is reported, and change nothing about what is trained. A row trains one model on what
`trained_on` says, or the base's `corpus.languages`, or else on every language of its corpus; with `each`, one model for
each group of languages."""


def page() -> str:
    parts = [RECIPE, "## The recipe", _table(Recipe)]
    for name, group in _groups(Recipe):
        parts += [f"## {name}", _about(group), _table(group)]
    for name, system in SYSTEMS.items():
        parts += [f"## system: {name}", f"{_about(system)}\n\n{system.paper}.".strip(), _table(system.Settings)]
        for key, group in _groups(system.Settings):
            parts += [f"### {name}: {key}", _about(group), _table(group)]
    return "\n\n".join(part for part in parts if part) + "\n"


def tables_page() -> str:
    """A table of experiments, its rows and its claims."""
    parts = [TABLE, "## The table", _table(TableSettings), "## A row", _about(Row), _table(Row)]
    parts += ["### ask", _about(Question), _table(Question), "## A claim", _about(Claim), _table(Claim)]
    return "\n\n".join(part for part in parts if part) + "\n"


def recipes_page() -> str:
    """The recipes, tables and corpora that have a name."""
    rows = []
    for name, path in recipes.builtin().items():
        values = read_yaml(path)
        command = "reproduce" if recipes.is_table(values) else "train"
        rows.append(f"| `groundling {command} {name}` | {_cell(str(values.get('title', '')))} |")
    corpora = [
        f"| `{name}` | {_cell(about)} | {f'`{needs}`' if needs else ''} |" for name, about, needs in corpus.names()
    ]
    return "\n".join(
        [
            "# Recipes and corpora by name",
            "",
            "`groundling recipes NAME` shows a recipe in full; copy it to change more than `--set` is good for.",
            "",
            *("| command | what it trains |", "|---|---|", *rows),
            "",
            "## Corpora",
            "",
            "`groundling corpus list` prints this list. Files are looked for below the folder that `--data`, or the",
            "environment variable `GROUNDLING_DATA`, names.",
            "",
            *("| name | what it is | files |", "|---|---|---|", *corpora),
            "",
        ]
    )


def _groups(kind: type[Settings]) -> Iterator[tuple[str, type[Settings]]]:
    for key, field in kind.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Settings):
            yield key, field.annotation


def _about(thing: type) -> str:
    """Its own docstring; pydantic's base has one that says nothing of it."""
    return inspect.cleandoc(thing.__doc__) if thing.__doc__ and "pydantic" not in thing.__doc__ else ""


def _table(kind: type[Settings]) -> str:
    groups = dict(_groups(kind))
    rows = [
        f"| `{key}` | {_kind(field)} | {_default(field)} | {_cell(field.description or '')} |"
        for key, field in kind.model_fields.items()
        if key not in groups
    ]
    return "\n".join(["| setting | value | default | what it does |", "|---|---|---|---|", *rows]) if rows else ""


def _kind(field: Any) -> str:
    name = field.annotation.__name__ if isinstance(field.annotation, type) else str(field.annotation)
    return _code(re.sub(r"typing\.|groundling\.settings\.\w+\.", "", name).removesuffix(" | None"))


def _default(field: Any) -> str:
    if field.is_required():
        return "must be given"
    return _code(str(field.default)) if field.default not in (None, "") else ""


def _code(text: str) -> str:
    """Code in a cell of a table, where a backtick would not protect a bar."""
    return f"<code>{html.escape(text).replace('|', '&#124;')}</code>"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
