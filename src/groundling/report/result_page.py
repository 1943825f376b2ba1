"""What every page of results has, whatever made it: prose from a file of its own, and how it was made."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from groundling.report.escape import code

COMMIT = re.compile(r"[0-9a-f]{7,40}")


def prose_file(page: Path) -> Path:
    """Where the prose of a page lies: that of table2.md in table2.prose.md, which no command writes."""
    return page.with_suffix(".prose.md")


def with_prose(page: Path, text: str) -> str:
    """The text of a page with its prose, where it has any, below the title."""
    if not prose_file(page).is_file():
        return text
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{prose_file(page).read_text(encoding='utf-8').strip()}\n{rest}"


def how_it_was_made(made: Mapping[str, str | int], seeds: Sequence[int] = ()) -> str:
    """The section of that name: what is known of it, and what brings back the code that was measured."""
    lines = [f"- {key}: {code(value)}" for key, value in with_seeds(made, seeds).items()]
    parts = ["## How it was made", "\n".join(lines)]
    commits = COMMIT.findall(str(made.get("commit", "")))
    if commits:
        checkout = " or ".join(code(f"git checkout {commit}") for commit in commits)
        several = " (each made a part)" if len(commits) > 1 else ""
        parts.append(
            f"To make it again: {checkout}{several}, then the command; other commits may make another thing. A table "
            "may be younger than what it shows: where the command does not know it, take its recipe from a newer one."
        )
    return "\n\n".join(part for part in parts if part)


def with_seeds(made: Mapping[str, str | int], seeds: Sequence[int]) -> dict[str, str | int]:
    """Seeds come after the command."""
    command = {"command": made["command"]} if "command" in made else {}
    return {**command, **({"seeds": ", ".join(map(str, seeds))} if seeds else {}), **made}
