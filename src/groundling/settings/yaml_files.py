"""YAML of plain values, within limits."""

from pathlib import Path
from typing import Any

import yaml

from groundling.errors import UserError

LONGEST_YAML, DEEPEST_YAML, MOST_ALIASES = 1_000_000, 20, 10  # of a recipe; ours have none of the last


def load_yaml(text: str) -> Any:
    """YAML of plain values, within limits: a few lines can describe more than any memory holds. Raises YAMLError."""
    if len(text) > LONGEST_YAML:
        raise yaml.YAMLError(f"more than {LONGEST_YAML:,} characters")
    depth = aliases = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if depth > DEEPEST_YAML or aliases > MOST_ALIASES:
            raise yaml.YAMLError(f"more than {DEEPEST_YAML} levels, or {MOST_ALIASES} aliases")
    return yaml.safe_load(text)


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = load_yaml(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such recipe") from None
    except IsADirectoryError:
        raise UserError(f"{path}: a folder, where a recipe is needed") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    if not isinstance(values, dict):
        raise UserError(f"{path}: a recipe is a mapping of settings")
    return values
