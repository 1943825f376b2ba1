"""The counts of the house, by hand on a few lines."""

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

TEXT = '''"""A docstring
of two lines."""

# a comment
import re  # with a comment behind it


class Own:
    """Its docstring."""

    table = """a text
    that is no docstring"""


def one(x: object) -> bool:
    return isinstance(x, int | Own) or isinstance(x, str) or isinstance(x, re.Own)
'''


@pytest.fixture
def script() -> ModuleType:
    path = Path(__file__).parents[1] / "scripts" / "count_house.py"
    found = importlib.util.spec_from_file_location("count_house", path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_lines_of_code_are_neither_comments_nor_docstrings(script: ModuleType) -> None:
    assert script.code_lines(TEXT, ast.parse(TEXT)) == 6  # import, class, two of the table, def, return


def test_what_isinstance_asks_for(script: ModuleType) -> None:
    assert list(script.checked_kinds(ast.parse(TEXT))) == [{"int", "Own"}, {"str"}, {"re", "Own"}]


def test_every_idea_has_an_example_that_is_run(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    answers = {"ls-tree": "src/a.py\nsrc/page.css\n", "src/a.py": TEXT, "CONTRIBUTING.md": page}
    monkeypatch.setattr(script, "git", lambda *words: answers[words[0] if words[0] in answers else words[1][5:]])
    found = script.counts("HEAD")
    assert found["isinstance on our own classes"] == 2
    assert (found["files of src"], found["lines of src"]) == (1, TEXT.count("\n"))
    assert [value for name, value in found.items() if name.startswith("files to touch")] == [1] * 6
