"""Every command that a page shows or mentions is one that groundling has, with options and a recipe that it has."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from groundling import recipes as named_recipes
from groundling.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^    groundling [a-z].*$", re.MULTILINE)
MENTIONED = re.compile(r"`(groundling\s+[a-z][^`]+)`")
RECIPE = re.compile(r"[a-z][\w-]*(/[\w-]+)?")


def commands_of(page: str) -> list[list[str]]:
    """The words after `groundling` of what stands in blocks and in running text."""
    page = page.replace("\\\n", " ")
    lines = [line for block in FENCED.findall(page) for line in block.splitlines()]
    lines += INDENTED.findall(page) + [" ".join(one.split()) for one in MENTIONED.findall(FENCED.sub("", page))]
    parts = [part.strip() for line in lines for part in re.split(r"&&| \| ", line)]
    return [shlex.split(part, comments=True)[1:] for part in parts if re.match("groundling [a-z]", part)]


def mistakes(words: list[str]) -> list[str]:
    command: Any = typer.main.get_command(app)
    path: tuple[str, ...] = ()
    while hasattr(command, "commands") and words:
        if words[0] not in command.commands:
            return [f"no command {words[0]}"]
        command, path, words = command.commands[words[0]], (*path, words[0]), words[1:]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    found = [f"{' '.join(path)} has no {word}" for word in words if word.startswith("-") and word not in known]
    recipes = {part for name in named_recipes.builtin() for part in (name, name.partition("/")[0])}
    if path in (("train",), ("reproduce",)) and words and RECIPE.fullmatch(words[0]) and words[0] not in recipes:
        found.append(f"no recipe {words[0]}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_in_pages_are_there(page: Path) -> None:
    found = {" ".join(words): mistakes(words) for words in commands_of(page.read_text(encoding="utf-8"))}
    assert {words: wrong for words, wrong in found.items() if wrong} == {}


def test_what_is_not_there_is_noticed() -> None:
    page = """Use `groundling
    teach x --speed 3` or `groundling corpus list`.

    groundling sing # a song

```
groundling words train x --whole && groundling train emoji/demon \\
  --out a/b
```"""
    assert [mistakes(words) for words in commands_of(page)] == [
        ["words train has no --whole"],
        ["no recipe emoji/demon"],
        ["no command sing"],
        ["teach has no --speed"],
        [],
    ]
