"""Python that a page shows can be parsed, and what it takes from groundling is there."""

import ast
import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from site_scripts import ROOT

import groundling

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = sorted(page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8")))


def there(module: ModuleType, name: str) -> bool:
    """Whether a module has something of this name, or is a package with such a module, imported yet or not."""
    return hasattr(module, name) or (hasattr(module, "__path__") and find_spec(f"{module.__name__}.{name}") is not None)


def mistakes(code: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("groundling"):
            module = import_module(str(node.module))
            found += [f"{node.module} has no {name.name}" for name in node.names if not there(module, name.name)]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "groundling":
            found += [] if hasattr(groundling, node.attr) else [f"groundling has no {node.attr}"]
    return found


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_pages_import_is_there(page: Path) -> None:
    assert [wrong for code in BLOCK.findall(page.read_text(encoding="utf-8")) for wrong in mistakes(code)] == []


def test_what_is_not_there_is_noticed() -> None:
    code = "import groundling\nfrom groundling.errors import UserError, UserMistake\ngroundling.Modle.load('x')\n"
    assert mistakes(code) == ["groundling.errors has no UserMistake", "groundling has no Modle"]
