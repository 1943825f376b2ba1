"""groundling search"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Device, print_json, print_words

if TYPE_CHECKING:
    from groundling.search.index import Found, Index


def search(
    index: Annotated[Path, typer.Argument(help="An index, as `groundling index` makes it.")],
    query: Annotated[str | None, typer.Argument(help="What to look for, in any language of the model.")] = None,
    like: Annotated[
        Path | None,
        typer.Option(help="Look for what is like this picture instead; in an index of captions, for its captions."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, help="How many to find.")] = 10,
    language: Annotated[str | None, typer.Option(help="The language of the query; guessed when left out.")] = None,
    folder: Annotated[str | None, typer.Option(help="Only pictures in this folder of the index.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only pictures taken then or later: 2019, 2019-07, 2019-07-31.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only pictures taken then or before.")] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compare with every entry, even where the index is approximate.")
    ] = False,
    model: Annotated[str | None, typer.Option(help="Where the model of the index is now, if it has moved.")] = None,
    store: Annotated[
        str | None, typer.Option(help="milvus:URI where the index is in that server; $MILVUS_URI names it, too.")
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Show the pictures found as a page in the browser.")] = False,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Find pictures by words or by a picture, or captions for a picture. The score is a cosine, at most 1."""
    from dataclasses import asdict

    from groundling.errors import UserError
    from groundling.search import Index

    if (query is None) == (like is None):
        raise UserError('say what to look for: either words, "a dog on the beach", or --like PICTURE')
    if like is not None and language is not None:
        raise UserError("--language goes with words, not with --like")
    opened = Index.open(index, model, device, store)
    if opened.manifest.kind == "captions" and (folder or since or until or show):
        raise UserError(f"{index}: an index of captions has no folders, dates or pictures to show")
    if query is not None:
        found = opened.search(query, k, language, folder=folder, since=since, until=until, exact=exact)
    else:
        found = opened.like(str(like), k, folder=folder, since=since, until=until, exact=exact)
    if show:
        _open(opened, query or str(like), opened.language_of(query, language) if query else "", found)
    if as_json:
        return print_json([asdict(one) for one in found])
    if not found:
        typer.echo("nothing found there", err=True)
        return
    _show(found)


def _show(found: "list[Found]") -> None:
    from groundling.search import FoundPicture

    rows = []
    for one in found:
        score = f"{one.score:.3f}"
        rows.append([score, one.path] if isinstance(one, FoundPicture) else [score, one.language, one.text])
    print_words("", ["score", "picture"] if len(rows[0]) == 2 else ["score", "language", "caption"], rows)


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
