"""groundling check"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.output import AsJson, Device, print_json, print_words, warn

if TYPE_CHECKING:
    from groundling.checking.caption_table import CheckedTable
    from groundling.checking.checker import Checker

PRINTED = 20  # of the worst rows, on a terminal


def check(
    picture: Annotated[Path | None, typer.Argument(help="A picture file.")] = None,
    text: Annotated[str | None, typer.Argument(help="What is said about it, in any language of the model.")] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="The folder of a run that was trained to judge, e.g. of system clip_ve, or its export."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="The language of the text, or of rows that do not say theirs; detected when left out."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="Check a whole table instead: columns picture, text and, where known, language."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="With --table: the folder of its pictures; the table's own when left out.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", help="With --table: a .html sheet for editors, or all rows as .csv or .jsonl (repeatable)."
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, max=100_000, help="With --table: the most rows in the sheet, worst first.")
    ] = 1000,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Tell whether a text is true of a picture: entailment, neutral (the picture does not tell) or contradiction.

    Of a table, rows that cannot be checked say why, and the others are checked; the most probable contradiction comes
    first.
    """
    from groundling.errors import UserError

    if (table is None) == (picture is None):
        raise UserError('say what to check: PICTURE "text", or --table captions.csv')
    if model is None:
        raise UserError("--model: name the folder of a run that was trained to judge, e.g. of system clip_ve")
    if table is None:
        if pictures is not None or out:
            raise UserError(f"{'--pictures' if pictures else '--out'} goes with --table")
        if picture is None or text is None:
            raise UserError('say what to check of the picture: PICTURE "text"')
        from groundling.checking.checker import Checker

        return _one(Checker.load(model, device), picture, text, language, as_json)
    from groundling.checking.caption_table import check_table
    from groundling.checking.checker import Checker
    from groundling.checking.outputs import check_output, write_output

    for path in out or []:
        check_output(path)
    checker = Checker.load(model, device)
    if language is not None:
        language = checker.known(language)
    checked = check_table(checker, table, pictures, language)
    for path in out or []:
        write_output(path, checked, str(model), checker.accuracy, most)
    if as_json:
        return print_json(_plain(checked, out or []))
    _show(checked, out or [])


def _one(checker: "Checker", picture: Path, text: str, language: str | None, as_json: bool) -> None:
    found = checker.check(picture, text, language)
    if as_json:
        return print_json(found.as_json())
    from groundling.report.languages import language_name

    shares = ", ".join(f"{label} {100 * share:.1f} %" for label, share in found.probabilities.items())
    print(f"{found.label}  ({shares}; {language_name(found.language)}{', detected' if found.detected else ''})")


def _plain(checked: "CheckedTable", written: list[Path]) -> dict[str, Any]:
    return {
        "table": str(checked.table),
        "counts": checked.counts(),
        "rows": [row.as_json() for row in checked.rows],
        "written": [str(path) for path in written],
    }


def _show(checked: "CheckedTable", written: list[Path]) -> None:
    from groundling.checking.caption_table import NOT_CHECKED

    judged = [row for row in checked.rows if row.prediction is not None]
    rows = []
    for row in judged[: 0 if written else PRINTED]:
        shares = row.prediction.probabilities if row.prediction else {}
        numbers = [f"{100 * share:.0f}" for share in shares.values()]
        rows.append([row.kind, *numbers, str(row.line), row.picture, row.text])
    if rows:
        print_words("", ["verdict", "contra %", "neutral %", "entail %", "line", "picture", "text"], rows)
    others = [row for row in checked.rows if row.prediction is None]
    for row in others[:PRINTED]:
        warn(f"{checked.table.name}:{row.line}: not checked: {row.problem}")
    if len(others) > PRINTED:
        typer.echo(f"… and {len(others) - PRINTED:,} more rows that were not checked", err=True)
    counts = checked.counts()
    parts = [f"{count:,} {kind}" for kind, count in counts.items() if count or kind != NOT_CHECKED]
    shown = f", the worst {PRINTED} above" if len(judged) > PRINTED and not written else ""
    print(f"{len(checked.rows):,} rows: {', '.join(parts)}{shown}")
    for path in written:
        print(f"Written: {path}")
