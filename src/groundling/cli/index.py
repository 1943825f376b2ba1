"""groundling index"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from groundling.cli.output import AsJson, Data, Device, Prompt, Ray, TextModel, print_json, warn

if TYPE_CHECKING:
    from groundling.search.build import Built

LISTED = 20  # reasons to skip files on the terminal; --json has all


def index(
    folder: Annotated[
        str | None,
        typer.Argument(
            help="A folder of pictures; with --update that of the index when left out. With --ray also tar shards "
            "(shards/{000..999}.tar) or an address (s3://bucket/photos)."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A run, or what `groundling export` made of one; the folder or hub name of a CLIP, SigLIP or another "
            "pair; or a name from `groundling models`. When left out, with --update that of the index, else the best "
            "that is here (runs/, *.onnx, fetched before)."
        ),
    ] = None,
    text_model: TextModel = None,
    prompt: Prompt = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the index.")] = Path("photos.index"),
    captions: Annotated[
        str | None,
        typer.Option(help="Index the captions of this corpus, or the lines of a .txt file, instead of pictures."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="The language of a .txt file of captions; guessed line by line when left out.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Add, change and remove what has changed since the index was built.")
    ] = False,
    kind: Annotated[
        str, typer.Option(help="exact, ivf or hnsw; auto is exact up to 250,000 entries, then ivf.")
    ] = "auto",
    store: Annotated[
        str, typer.Option(help="faiss (a file), or milvus:URI (a server, or a file ending in .db).")
    ] = "faiss",
    ray: Ray = None,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Make a folder of pictures searchable: JPEG, PNG, WebP, GIF, TIFF, BMP; HEIC and RAW with the extras of that name.

    A build that was stopped goes on where it was. Links are not followed, broken files are listed and skipped.
    """
    from dataclasses import asdict

    from groundling.distributed.sources import is_source
    from groundling.errors import UserError
    from groundling.search import index_captions, index_pictures, index_source

    options: dict[str, Any] = {"prompt": prompt, "store": store, "kind": kind, "update": update, "device": device}
    if captions is None:
        if language is not None:
            raise UserError("--language goes with --captions")
        if model is None and text_model is None and folder is not None and not (out / "manifest.json").exists():
            model = _best_there_is()
        if folder is not None and is_source(folder):
            if ray is None:
                raise UserError(f"{folder}: shards and addresses are read by workers of Ray; add --ray local")
            built = index_source(folder, out, ray, model, text_model, **options)
        else:
            root = None if folder is None else Path(folder)
            built = index_pictures(root, out, model, text_model, ray=ray, **options)
    else:
        from groundling.search.captions import read_captions

        if ray is not None:
            raise UserError("--ray encodes pictures; leave it out with --captions")
        if folder is not None:
            raise UserError(f"give either a folder of pictures ({folder}) or --captions, and each an index of its own")
        rows = read_captions(captions, language, data)
        built = index_captions(rows, out, model, text_model, **options)
    if as_json:
        return print_json(asdict(built))
    _show(built)


def _best_there_is() -> str:
    """The model that is taken where none is named, and a line that says which."""
    from groundling.model.nearby import best_model, nearby_models

    best, others = best_model(), nearby_models()[1:]
    rest = f"; also here: {', '.join(one.about for one in others[:3])}" if others else ""
    typer.echo(f"with {best.about}, the best model that is here{rest} (--model takes another)", err=True)
    return best.name


def _show(built: "Built") -> None:
    _show_skipped(built.skipped)
    if built.others:
        from groundling.search.walk import named_counts

        typer.echo(f"no pictures, and left alone: {named_counts(built.others)}", err=True)
    if built.links:
        links = "1 link was" if built.links == 1 else f"{built.links} links were"
        typer.echo(f"{links} not followed", err=True)
    print(
        f"{built.count} {built.kind} in {built.index}: {built.added} added, {built.changed} changed, {built.removed} "
        f"removed, {built.kept} kept, {len(built.skipped)} skipped ({built.encoded} encoded, {built.seconds} s)"
    )
    if built.search["kind"] != "exact":
        print(
            f"Search is approximate ({built.search['kind']}): of the ten nearest pictures it finds "
            f"{100 * built.search['recall_at_10']:.1f} %, measured with {built.search['queries']} pictures of the index"
        )


def _show_skipped(skipped: dict[str, str]) -> None:
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
