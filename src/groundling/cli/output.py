"""What a command prints: a table for people, or JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.printable import TURNING, printable

if TYPE_CHECKING:
    from groundling.report.formatted_table import Table

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of tables.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of published data sets (f8k7, multi30k, …).", envvar="GROUNDLING_DATA"),
]
PIPE, WIDEST = 160, 10_000  # characters of a line where no terminal says how many
LISTED = 20  # reasons to skip files on the terminal; --json has all
# What JSON itself does not spell out, and what a terminal would still do.
_CONTROLS = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *sorted(TURNING))}

ANY_MODEL = (
    "A run, or what `groundling export` made of one; a pretrained model by its folder, its name on the hub, or a short "
    "name that `groundling models` lists."
)
TextModel = Annotated[
    str | None,
    typer.Option(
        help="A text encoder of sentence-transformers or M-CLIP beside a pretrained model, by folder or hub name."
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(help='What a pretrained model is given in the place of each caption: "a photo of {}".'),
]
Ray = Annotated[
    str | None,
    typer.Option(
        help="Encode with the workers of the Ray at this address (auto, HOST:6379), or of one on this machine: local."
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:0.")]


def print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1).translate(_CONTROLS))


def warn(sentence: str) -> None:
    """A line on standard error; names of files in it may hold anything."""
    typer.echo(printable(sentence), err=True)


def warn_of_skipped(pictures: Sequence[str]) -> None:
    """Pictures that could not be read are left out, but not in silence."""
    for name in pictures[:LISTED]:
        warn(f"{name}: cannot be read, skipped")
    if len(pictures) > LISTED:
        typer.echo(f"… and {len(pictures) - LISTED} more pictures that cannot be read, skipped", err=True)


def warn_of_reasons(skipped: Mapping[str, str]) -> None:
    """One line for each file, and one for all of a kind where there are several with the same reason."""
    alike: dict[str, list[str]] = {}
    for name, why in skipped.items():
        alike.setdefault(why, []).append(name)
    for number, (why, names) in enumerate(alike.items()):
        if number == LISTED:
            rest = sum(len(others) for others in list(alike.values())[LISTED:])
            typer.echo(f"… and {rest} more, skipped (--json lists all)", err=True)
            break
        warn(
            f"{names[0]}: {why}, skipped"
            if len(names) == 1
            else f"{len(names)} files such as {names[0]}: {why}, skipped"
        )


def print_words(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """A plain table of words."""
    from groundling.report.formatted_table import Column, Table

    plain = [[printable(cell) for cell in row] for row in rows]
    print_table(Table(title, [Column(name, text=True) for name in columns], plain))


def print_table(table: "Table") -> None:
    from rich.console import Console
    from rich.table import Table as RichTable

    console, shown = Console(), table.terminal()
    if not console.is_terminal:  # a pipe has no width of its own; cutting columns there would lose numbers
        wide = console.options.update(max_width=WIDEST)
        needed = [
            console.measure(part, options=wide).maximum for part in shown.renderables if isinstance(part, RichTable)
        ]
        console.width = max(console.width, PIPE, *needed)
    console.print(shown)


def language_code(code: str, option: str = "") -> str:
    """A code that the user has given, as corpora write it; `option` begins the sentence where it is none."""
    from groundling.corpus.formats import checks
    from groundling.errors import UserError

    try:
        return checks.language_code(code)
    except checks.BadRow as problem:
        raise UserError(f"{option}{problem}") from None
