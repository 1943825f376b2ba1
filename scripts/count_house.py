"""What the house of the code weighs: counts of one or several commits beside each other, from git alone.

    python scripts/count_house.py 9999f06 HEAD

9999f06 is the last commit before the rebuilding that CONTRIBUTING's map shows.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Idea → the path that its whole example in CONTRIBUTING.md begins with; a test runs these examples.
IDEAS = {
    "a loss": "objectives/",
    "a metric": "evaluation/metrics/",
    "a text encoder": "encoders/text/",
    "a picture encoder": "encoders/picture/",
    "a system": "systems/",
    "a data set": "corpus/formats/",
}
NOTHING = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603, S607


def sources(commit: str) -> Iterator[str]:
    """The text of every Python file of src."""
    for path in git("ls-tree", "-r", "--name-only", commit, "src").splitlines():
        if path.endswith(".py"):
            yield git("show", f"{commit}:{path}")


def docstrings(tree: ast.AST) -> set[int]:
    """The lines that docstrings stand on."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return lines


def code_lines(text: str, tree: ast.AST) -> int:
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NOTHING:
            held |= set(range(token.start[0], token.end[0] + 1))
    return len(held - docstrings(tree))


def checked_kinds(tree: ast.AST) -> Iterator[set[str]]:
    """For each call of isinstance, the names of the classes that it asks for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked = ast.walk(node.args[1])
            yield {
                part.id if isinstance(part, ast.Name) else part.attr
                for part in asked
                if isinstance(part, ast.Name | ast.Attribute)
            }


def counts(commit: str) -> dict[str, int | str]:
    texts = list(sources(commit))
    trees = [ast.parse(text) for text in texts]
    own = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    page = git("show", f"{commit}:CONTRIBUTING.md")
    touched: dict[str, int | str] = {
        f"files to touch for {idea}": len(re.findall(rf"^# {place}\w+\.py$", page, re.M)) or "no example from outside"
        for idea, place in IDEAS.items()
    }
    return {
        "files of src": len(texts),
        "lines of src": sum(text.count("\n") for text in texts),
        "lines without docstrings, comments and blank ones": sum(map(code_lines, texts, trees)),
        "isinstance on our own classes": sum(bool(kinds & own) for tree in trees for kinds in checked_kinds(tree)),
        "dict[str, Any]": sum(text.count("dict[str, Any]") for text in texts),
        **touched,
    }


def main(commits: list[str]) -> None:
    found = {commit: counts(commit) for commit in commits or ["HEAD"]}
    named = {commit: git("rev-parse", "--short", commit).strip() for commit in found}
    print("| | " + " | ".join(named.values()) + " |")
    print("|---|" + "---:|" * len(found))
    for name in next(iter(found.values())):
        cells = [f"{value:,}" if isinstance(value, int) else value for value in (one[name] for one in found.values())]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
