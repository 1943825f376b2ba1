"""Recipes and tables that come with groundling, by name, and those of your own, by file."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from groundling.errors import UserError, did_you_mean
from groundling.settings import Recipe, check, merged, override, read_yaml

TABLE_KEYS = ("rows", "overlap", "like", "base")  # a YAML file with one of these is a table; all others are recipes


FOLDER = Path(str(resources.files("groundling.recipes")))
PUBLISHED = FOLDER / "published"  # numbers of papers that are not those of a table of trainings


def builtin() -> dict[str, Path]:
    """Recipes that come with groundling: `emoji/demo` → its file."""
    paths = (path for path in sorted(FOLDER.rglob("*.yaml")) if path.parent != PUBLISHED)
    return {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in paths}


def find(name: str) -> Path:
    """The file of a recipe given by path or by name."""
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    known = builtin()
    if name not in known:
        raise UserError(f'no recipe is called "{name}"{did_you_mean(name, known)}')
    return known[name]


def resolve(name: str | None, changes: Mapping[str, Any], assignments: Sequence[str] = ()) -> Recipe:
    """A recipe by name or file, or (None) one of defaults, changed by groups of settings and by `--set`'s assignments.

    A system that is named has the settings given with it, and none of the recipe's.
    """
    values = read_yaml(find(name)) if name is not None else {}
    if is_table(values):
        raise UserError(f"{name} is a table of recipes; run it with `groundling reproduce {name}`")
    if "name" in changes.get("system", {}):
        values.pop("system", None)
    return check(Recipe, override(merged(values, dict(changes)), list(assignments)), name or "settings")


def is_table(values: dict[str, Any]) -> bool:
    return any(key in values for key in TABLE_KEYS)


def tables(name: str) -> list[str]:
    """The name itself, or, where it is a folder of recipes such as `lessons`, the names of all tables in it."""
    known = builtin()
    if name in known or name.endswith((".yaml", ".yml")):
        return [name]
    folders: dict[str, list[str]] = {}
    for key, path in known.items():
        if is_table(read_yaml(path)):
            folders.setdefault(key.rsplit("/", 1)[0], []).append(key)
    if name not in folders:
        every = [*folders, *(key for inside in folders.values() for key in inside)]
        raise UserError(f'no table is called "{name}"{did_you_mean(name, every)}')
    return folders[name]


def read_table(name: str, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The settings of a table. With `like`, those of another table, changed by what this one says.

    `corpora` then puts other corpora in the place of those the other table names, `without` leaves out rows,
    `more_rows` and `more_claims` come after the other table's, and `published` has other numbers for the rows, by their
    names: a row that it leaves out has none. Other `languages` are other columns of the same trainings; `trained_on`
    trains on others.
    """
    values = read_yaml(find(name))
    if not is_table(values):
        raise UserError(f"{name} is one recipe; train it with `groundling train {name}`")
    if "like" not in values:
        return values
    like = values.pop("like")
    if not isinstance(like, str):
        raise UserError(f"{name}: like: the name of another table is needed")
    if like.endswith((".yaml", ".yml")):  # beside the table that names it
        like = str(find(name).parent / like)
    above = (*above, str(find(name).resolve()))
    if str(find(like).resolve()) == above[-1]:
        raise UserError(f"{name}: like: the name of another table is needed")
    if str(find(like).resolve()) in above:
        raise UserError(f"{name}: like: {like} is like this table in turn; one of them needs rows of its own")
    corpora = values.pop("corpora", {})
    if not isinstance(corpora, dict):
        raise UserError(f"{name}: corpora: a mapping from corpora of {like} to others is needed")
    more = {key: values.pop(f"more_{key}", []) for key in ("rows", "claims")}
    without, published = values.pop("without", []), values.pop("published", None)
    other = _renamed(read_table(like, above), corpora)
    changed: dict[str, Any] = merged(other, values)
    if trained_languages(values.get("trained_on"), values.get("base")):
        changed["trained_on"] = values.get("trained_on")  # what this table says of it comes before what the other does
    elif "languages" in values:
        trained = trained_languages(other.get("trained_on"), other.get("base"))
        if trained and not set(values["languages"]) <= set(trained):  # the other one trains nothing for these columns
            changed["trained_on"] = values["languages"]
    if "means" in values:  # whole: the other table's means may be over languages that this one has not
        changed["means"] = values["means"]
    if without:
        changed["rows"] = _left(changed.get("rows"), without, name)
    for key, added in more.items():
        if not isinstance(added, list):
            raise UserError(f"{name}: more_{key}: a list is needed")
        if added:
            changed[key] = [*changed.get(key, []), *added]
    if published is not None:
        changed["rows"] = _with_numbers(changed.get("rows"), published, name)
    return changed


def trained_languages(trained_on: list[str] | None, base: Any) -> list[str] | None:
    """What a row without groups of languages is trained on, whatever the columns report; None: all of its corpus."""
    corpus = base.get("corpus") if isinstance(base, dict) else None
    return trained_on or (corpus.get("languages") if isinstance(corpus, dict) else None) or None


def _with_numbers(rows: Any, published: Any, name: str) -> list[Any]:
    """The rows with these published numbers instead of their own."""
    names = [row.get("name") for row in rows or [] if isinstance(row, dict)]
    if not isinstance(published, dict):
        raise UserError(f"{name}: published: a mapping from rows to numbers is needed")
    for row in published:
        if row not in names:
            raise UserError(f'{name}: published: no row is called "{row}"{did_you_mean(str(row), map(str, names))}')
    return [{**row, "published": published.get(row.get("name"), {})} if isinstance(row, dict) else row for row in rows]


def _left(rows: Any, without: Any, name: str) -> list[Any]:
    """The rows without those that are named."""
    names = [row.get("name") for row in rows or [] if isinstance(row, dict)]
    listed = without if isinstance(without, list) else [without]
    for gone in listed:
        if gone not in names:
            raise UserError(f'{name}: without: no row is called "{gone}"{did_you_mean(str(gone), map(str, names))}')
    return [row for row in rows if not (isinstance(row, dict) and row.get("name") in listed)]


def _renamed(value: Any, names: dict[str, str], below: str = "") -> Any:
    """The same settings with other names of corpora, wherever settings of a corpus name one."""
    if isinstance(value, dict):
        return {key: _renamed(inner, names, f"{below}.{key}") for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, names, below) for inner in value]
    in_corpus = any(part.startswith("corpus") or part == "overlap" for part in below.split("."))
    return names.get(value, value) if in_corpus and isinstance(value, str) else value
