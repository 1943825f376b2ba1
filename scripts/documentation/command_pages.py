"""The command line as a page: what `--help` says of every command."""

from typing import Any

import typer

from groundling.cli.app import app


def page() -> str:
    program = typer.main.get_command(app)
    parts = ["# Command line", str(program.help), _table(program, "groundling")]
    for path, command in _commands(program, "groundling"):
        parts += [f"## {path}", str(command.help or ""), f"```\n{_usage(command, path)}\n```", _table(command, path)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _commands(group: Any, path: str) -> list[tuple[str, Any]]:
    """Every command that can be given, in the order of the help."""
    found = []
    for name, command in group.commands.items():
        below = f"{path} {name}"
        found += _commands(command, below) if hasattr(command, "commands") else [(below, command)]
    return found


def _context(command: Any, path: str) -> Any:
    return command.make_context(path, [], resilient_parsing=True)


def _usage(command: Any, path: str) -> str:
    return " ".join(str(command.get_usage(_context(command, path))).removeprefix("Usage: ").split())


def _table(command: Any, path: str) -> str:
    context = _context(command, path)
    records = [record for option in command.params if (record := option.get_help_record(context))]
    rows = [f"| `{names}` | {_cell(about)} |" for names, about in records]
    return "\n".join(["| option | what it does |", "|---|---|", *rows]) if rows else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("[", "\\[")
