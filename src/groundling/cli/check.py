"""groundling check"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Device, Prompt, TextModel, print_json, print_words, warn

if TYPE_CHECKING:
    from groundling.checking.caption_table import CheckedTable
    from groundling.checking.method import Method
    from groundling.corpus.formats.rows import Row

PRINTED = 20  # of the worst rows, on a terminal
COMPARED = 200  # pictures that one is compared with


def check(
    picture: Annotated[Path | None, typer.Argument(help="A picture file.")] = None,
    text: Annotated[str | None, typer.Argument(help="What is said about it, in any language of the model.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Any model that finds pictures: a run, an exported or a pretrained one; or one that judges."),
    ] = None,
    text_model: TextModel = None,
    prompt: Prompt = None,
    language: Annotated[
        str | None,
        typer.Option(help="The language of the text, or of rows that do not say theirs; detected when left out."),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="Check a whole table instead: columns picture, text and, where known, language."),
    ] = None,
    inside: Annotated[
        Path | None,
        typer.Option(help="Check the captions inside the picture files of this folder (XMP, IPTC) instead."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Check the alternative texts of pictures in the pages of this folder instead.")
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(
            help="With --table: the folder of its pictures, the table's own when left out. With PICTURE: what to "
            "compare it with, the pictures beside it when left out."
        ),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out", "-o", help="Of a table: a .html sheet for editors, or all rows as .csv or .jsonl (repeatable)."
        ),
    ] = None,
    most: Annotated[
        int, typer.Option(min=1, max=100_000, help="Of a table: the most rows in the sheet, worst first.")
    ] = 1000,
    decisions: Annotated[
        Path | None, typer.Option(help="Of a table: what editors have decided, as the sheet saves it.")
    ] = None,
    judge: Annotated[
        bool | None,
        typer.Option(
            "--judge/--no-judge",
            help="Judge by entailment, or never; by itself only where the model's report beats words alone.",
        ),
    ] = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Tell which captions do not belong to their pictures.

    Each caption is compared with the other pictures, and each picture with the other captions, of the table. A model
    that was trained to judge statements tells instead whether the picture shows what a text says: entailment, neutral
    (the picture does not tell) or contradiction.

    Rows that cannot be checked say why, and the others are checked; what is most likely wrong comes first.
    """
    from groundling.checking.choice import load_method
    from groundling.errors import UserError

    if sum(one is not None for one in (picture, table, inside, html)) != 1:
        raise UserError(
            'say what to check: PICTURE "text", --table captions.csv, --inside FOLDER of pictures, or --html FOLDER'
        )
    if model is None:
        raise UserError("--model: name a model that finds pictures: a run, an exported or a pretrained one")
    if picture is not None:
        if out or decisions:
            raise UserError(f"{'--out' if out else '--decisions'} goes with --table, --inside or --html")
        if text is None:
            raise UserError('say what to check of the picture: PICTURE "text"')
        return _one(load_method(model, device, judge, text_model, prompt), picture, text, language, pictures, as_json)
    from groundling.checking.caption_table import check_rows, check_table
    from groundling.checking.outputs import check_output, write_output
    from groundling.corpus.formats.decisions import Decisions

    for path in out or []:
        check_output(path)
    decided = None if decisions is None else Decisions.read(decisions)
    method = load_method(model, device, judge, text_model, prompt)
    if language is not None:
        language = method.known(language)
    if table is not None:
        checked = check_table(method, table, pictures, language, decided)
    else:
        rows, folder = _rows_of(inside, html)
        checked = check_rows(method, rows, len(rows), folder, folder, language, decided)
    for path in out or []:
        write_output(path, checked, most)
    if as_json:
        return print_json(_plain(checked, out or []))
    _show(checked, out or [])


def _rows_of(inside: Path | None, html: Path | None) -> "tuple[list[Row], Path]":
    from groundling.checking.alternative_texts import alternative_texts
    from groundling.checking.embedded import embedded_captions

    folder = inside or html
    if folder is None:
        raise ValueError("a folder is needed")
    return (embedded_captions if inside else alternative_texts)(folder), folder.expanduser()


def _one(
    method: "Method", picture: Path, text: str, language: str | None, pictures: Path | None, as_json: bool
) -> None:
    from groundling.report.languages import language_name

    found = method.check(picture, text, language, _beside(picture, pictures))
    if as_json:
        return print_json(found.as_json())
    spoken = f"{language_name(found.language)}{', detected' if found.detected else ''}"
    print(f"{found.label}  ({found.told()}; {spoken})")


def _beside(picture: Path, folder: Path | None) -> list[Path]:
    """Pictures to compare one with: those of a folder, or those beside it."""
    from groundling.corpus.formats.pictures import picture_files
    from groundling.errors import UserError

    root = picture.expanduser().parent if folder is None else folder.expanduser()
    if not root.is_dir():
        raise UserError(f"{root}: no such folder of pictures")
    found = (root / name for name in picture_files(root))
    own = picture.expanduser().resolve()
    return [path for path in found if path.resolve() != own][:COMPARED]


def _plain(checked: "CheckedTable", written: list[Path]) -> dict[str, object]:
    return {
        "table": str(checked.table),
        "counts": checked.counts(),
        "notes": list(checked.notes),
        "rows": [checked.as_json(row) for row in checked.rows],
        "written": [str(path) for path in written],
    }


def _show(checked: "CheckedTable", written: list[Path]) -> None:
    from groundling.checking.caption_table import NOT_CHECKED

    judged = [row for row in checked.rows if row.answer is not None]
    rows = [
        [row.kind, *row.answer.cells(), str(row.line), row.picture, row.text]
        for row in judged[: 0 if written else PRINTED]
        if row.answer is not None
    ]
    if rows:
        print_words("", ["result", *checked.answers.heads, "line", "picture", "text"], rows)
    others = [row for row in checked.rows if row.answer is None]
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
