"""Settings that the command line changes: `--set training.seed=3`."""

from typing import Any

import yaml

from groundling.errors import UserError
from groundling.settings.base import notice
from groundling.settings.recipe import Recipe
from groundling.settings.yaml_files import load_yaml


def override(values: dict[str, Any], assignments: list[str]) -> dict[str, Any]:
    """Recipe values with `--set training.seed=3`-like assignments applied; the value is read as YAML."""
    if not assignments:
        return values
    values = Recipe.renamed(values)
    changed = {key: dict(value) if isinstance(value, dict) else value for key, value in values.items()}
    for text in assignments:
        key, value = assignment(text)
        *groups, last = current_key(key).split(".")
        place = changed
        for group in groups:
            inner = place.get(group)
            if inner is not None and not isinstance(inner, dict):
                raise UserError(f'--set {text}: "{group}" is a value, not a group of settings')
            place[group] = dict(inner or {})
            place = place[group]
        place[last] = value
    return changed


def current_key(key: str) -> str:
    """The key of a recipe, such as "start.training.seed", with the name that its group has now."""
    group, dot, rest = key.partition(".")
    if group in Recipe.former:
        notice(group, Recipe.former[group])
    return f"{Recipe.former.get(group, group)}{dot}{rest}"


def assignment(text: str) -> tuple[str, Any]:
    """ "training.seed=3" → ("training.seed", 3)"""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UserError(f'--set {text}: write it as key=value, for example "--set training.seed=1"')
    try:
        return key.strip(), load_yaml(value)
    except yaml.YAMLError:
        raise UserError(f"--set {text}: the value is not valid YAML") from None
