"""groundling search"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.output import AsJson, Device, Prompt, TextModel, print_json, print_words, warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from groundling.model.reading import TextReading
    from groundling.search.index import Found, FoundPicture, Index

MOST_PREVIEWS = 30  # pictures drawn in a terminal that nobody has asked to draw them


def search(
    index: Annotated[Path, typer.Argument(help="An index, as `groundling index` makes it.")],
    query: Annotated[str | None, typer.Argument(help="What to look for, in any language of the model.")] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="Look for what is like this picture; in an index of captions, for its captions."),
    ] = None,
    plus: Annotated[
        list[str] | None, typer.Option("--plus", "-p", help="What is wanted, too: dog --plus beach. Several times.")
    ] = None,
    minus: Annotated[
        list[str] | None, typer.Option("--minus", "-m", help="What is not wanted: dog --minus child. Several times.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, help="How many to find.")] = 10,
    minimum_score: Annotated[
        float | None, typer.Option("--min-score", min=-1, max=1, help="Leave out what has a lower score.")
    ] = None,
    group: Annotated[
        bool, typer.Option("--group-duplicates", help="Pictures that look the same count as one.")
    ] = False,
    language: Annotated[
        list[str] | None,
        typer.Option(help="The language of the words, guessed when left out; several times: read in each of them."),
    ] = None,
    folder: Annotated[str | None, typer.Option(help="Only pictures in this folder of the index.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only pictures taken then or later: 2019, 2019-07, 2019-07-31.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only pictures taken then or before.")] = None,
    captions_in: Annotated[
        str | None, typer.Option(help="Only captions of this language, in an index of captions.")
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compare with every entry, even where the index is approximate.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="Where the model of the index is now, if it has moved; or another that looks at pictures alike, such "
            "as one that was taught a language since."
        ),
    ] = None,
    text_model: TextModel = None,
    prompt: Prompt = None,
    store: Annotated[
        str | None,
        typer.Option(
            help="milvus:URI or pgvector:URI of an index that is in such a server: only one that you name, here or in "
            "$MILVUS_URI or $PGVECTOR_URI, is connected to."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Show the pictures found as a page in the browser.")] = False,
    preview: Annotated[
        bool | None,
        typer.Option(
            "--preview/--no-preview",
            help="Draw the pictures in the terminal: kitty, iTerm2 and others, or sixels; by itself where it can.",
        ),
    ] = None,
    files: Annotated[
        bool, typer.Option("--files", "-f", help="Print only the paths of the files, absolute, one a line: for pipes.")
    ] = False,
    null: Annotated[
        bool, typer.Option("--null", "-0", help="The same with a zero byte after each, for `xargs -0`.")
    ] = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Find pictures by words or by a picture, or captions for a picture. The score is a cosine, at most 1."""
    from groundling.errors import UserError
    from groundling.report.text_reading import notice
    from groundling.search import Index
    from groundling.search.query import Query

    files = files or null
    if (query is None) == (like is None):
        raise UserError('say what to look for: either words, "a dog on the beach", or --like PICTURE')
    if query is None and not plus and not minus and language:
        raise UserError("--language goes with words, not with --like")
    if files and as_json:
        raise UserError("--files prints paths and --json everything that is known; choose one")
    opened = Index.open(index, model, device, store, text_model, prompt)
    if opened.manifest.kind == "captions" and (folder or since or until or show or files):
        raise UserError(f"{index}: an index of captions has no folders, dates or pictures to show")
    if captions_in and opened.manifest.kind != "captions":
        raise UserError(f"{index}: --captions-in is for an index of captions, and this is one of pictures")
    words = [*([] if query is None else [query]), *(plus or ())]
    asked = Query(words, list(minus or ()), None if like is None else str(like), list(language or ()))
    codes: list[str | None] = [*asked.languages] or [None]
    readings = [opened.understand(text, code) for text in [*words, *asked.without] for code in codes]
    for said in dict.fromkeys(notice(reading) for reading in readings):
        if said:
            warn(said)
    found = opened.find(
        asked,
        k,
        folder=folder,
        since=since,
        until=until,
        captions_in=captions_in,
        exact=exact,
        minimum_score=minimum_score,
        group_duplicates=group,
    )
    if show:
        code = opened.language_of(query, language[0] if language else None) if query else ""
        _open(opened, query if query and len(words) == 1 and not minus and not like else repr(asked), code, found)
    if as_json:
        return print_json([{**_facts(opened, one, group), **_read_as(readings)} for one in found])
    if not found:
        return warn(_nothing(opened, folder))
    if files:
        return _print_files(opened, found, "\0" if null else "\n")
    _show(opened, found, preview)


def _nothing(index: "Index", folder: str | None) -> str:
    """Why nothing was found, where it is a folder that the index does not have."""
    from groundling.errors import did_you_mean

    wanted = (folder or "").strip("/").removeprefix("./")
    folders = {parent.as_posix() for name in index.entries.table["name"].to_pylist() for parent in Path(name).parents}
    if wanted and wanted not in folders:
        return f'no picture of the index is in a folder "{wanted}"{did_you_mean(wanted, folders - {"."})}'
    return "nothing found there"


def _facts(index: "Index", one: "Found", group: bool) -> dict[str, object]:
    """What is printed as JSON; a picture has an absolute path beside the one in the index."""
    from dataclasses import asdict

    facts = asdict(one)
    duplicates = facts.pop("duplicates", None)
    if duplicates is not None and index.root is not None:
        facts["file"] = str(index.root / facts["path"])
        if group:
            facts["duplicates"] = [{"path": path, "file": str(index.root / path)} for path in duplicates]
    return facts


def _read_as(readings: "Sequence[TextReading]") -> dict[str, object]:
    """How the model reads the words, told with every result: their language, and whether the results are a guess."""
    if not readings:
        return {}
    first = readings[0]
    return {"query_language": first.foreign or first.language, "guess": any(reading.guess for reading in readings)}


def _pictures(found: "list[Found]") -> "list[FoundPicture]":
    from groundling.search import FoundPicture

    return [one for one in found if isinstance(one, FoundPicture)]


def _print_files(index: "Index", found: "list[Found]", end: str) -> None:
    """Names as they are for a program; a terminal gets nothing that could command it."""
    from groundling.printable import printable

    root = index.root or Path()
    paths = [str(root / one.path) for one in _pictures(found)]
    if sys.stdout.isatty():
        paths = [printable(path) for path in paths]
    sys.stdout.write("".join(path + end for path in paths))


def _show(index: "Index", found: "list[Found]", preview: bool | None) -> None:
    pictures = _pictures(found)
    if not pictures:
        rows = [[f"{one.score:.3f}", getattr(one, "language", ""), getattr(one, "text", "")] for one in found]
        return print_words("", ["score", "language", "caption"], rows)
    if preview or (preview is None and len(pictures) <= MOST_PREVIEWS):
        from groundling.cli.terminal_pictures import drawing_for

        draw = drawing_for(sys.stdout)
        if draw is not None:
            return _draw(index, pictures, draw)
        if preview:
            typer.echo("this terminal shows no pictures (or this is none): only their names follow", err=True)
    print_words("", ["score", "picture"], [[f"{one.score:.3f}", _named(one)] for one in pictures])


def _named(one: "FoundPicture") -> str:
    return one.path + (f" (and {len(one.duplicates)} that look the same)" if one.duplicates else "")


def _draw(index: "Index", found: "list[FoundPicture]", draw: Any) -> None:
    from groundling.cli.terminal_pictures import small
    from groundling.decoding.structure import PictureError
    from groundling.decoding.workers import shared
    from groundling.errors import UserError
    from groundling.printable import printable

    for one in found:
        try:
            sys.stdout.write(draw(shared().array(index.read(one.path), small)) + "\n")
        except (UserError, PictureError):
            typer.echo("(it cannot be shown: removed or changed since it was indexed)")
        typer.echo(f"{one.score:.3f}  {printable(_named(one))}\n")


def _open(index: "Index", query: str, language: str, found: "list[Found]") -> None:
    """A page with small copies of the pictures, in a folder that the system tidies up."""
    import tempfile
    import webbrowser

    from groundling.files import write_text
    from groundling.search.sheet import page

    path = Path(tempfile.mkdtemp(prefix="groundling-")) / "found.html"
    write_text(path, page(index, query, language, found))
    if not webbrowser.open(path.as_uri()):
        typer.echo(f"no browser could be started; the page is {path}", err=True)
