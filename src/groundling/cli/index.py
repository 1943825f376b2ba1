"""groundling index"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, Prompt, Ray, TextModel, print_json, warn, warn_of_reasons

if TYPE_CHECKING:
    from groundling.search.build import Built
    from groundling.search.bulk import BulkImport
    from groundling.search.index_request import Options

SHORT = 0.01  # of recall that is missing before it is worth a word: two halves of the queries differ as much


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
        str,
        typer.Option(
            help="exact, ivf or hnsw; auto is exact up to 250,000 entries, then ivf; with --update, what it was."
        ),
    ] = "auto",
    store: Annotated[
        str,
        typer.Option(
            help="faiss (a file that is held in memory), faiss-disk (for tens of millions: little memory), or "
            "milvus:URI (a server, whose token is in $MILVUS_TOKEN, or a file ending in .db), or "
            "pgvector:postgresql://USER@HOST/DATABASE (whose password is in $PGPASSWORD or ~/.pgpass)."
        ),
    ] = "faiss",
    ray: Ray = None,
    recall: Annotated[
        float | None,
        typer.Option(
            min=0.01,
            max=1.0,
            help="The share of the ten nearest that an approximate search must find, measured when the index is built; "
            "0.95, or with --update that of the index.",
        ),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="Texts that people look for, one a line: the recall is measured and reached for them, too."),
    ] = None,
    bulk: Annotated[
        str | None,
        typer.Option(
            metavar="STORAGE",
            help="Rows reach the Milvus of --store as files that it reads by itself: a folder, or an address such as "
            "s3://BUCKET/imports, in the storage that the server keeps its own data in.",
        ),
    ] = None,
    bulk_prefix: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="What the server calls the place that --bulk names, where that differs: of a folder its path, of an "
            "address what stands behind the bucket.",
        ),
    ] = None,
    bulk_timeout: Annotated[
        float | None,
        typer.Option(min=1.0, help="Seconds without news of an import after which --bulk gives up; 1800 by default."),
    ] = None,
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

    options: Options = {
        "prompt": prompt,
        "store": store,
        "kind": kind,
        "update": update,
        "device": device,
        "recall": recall,
        "queries": () if queries is None else _lines(queries),
        "bulk": _bulk(bulk, bulk_prefix, bulk_timeout),
    }
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
        return print_json({**asdict(built), "search": built.search.model_dump()})
    _show(built)


def _bulk(storage: str | None, prefix: str | None, timeout: float | None) -> "BulkImport | None":
    from groundling.errors import UserError
    from groundling.search.bulk import PATIENCE, BulkImport

    if storage is None:
        if prefix is not None or timeout is not None:
            raise UserError("--bulk-prefix and --bulk-timeout go with --bulk")
        return None
    return BulkImport(storage, prefix, timeout or PATIENCE)


def _best_there_is() -> str:
    """The model that is taken where none is named, and a line that says which."""
    from groundling.model.nearby import best_model, nearby_models

    best, others = best_model(), nearby_models()[1:]
    rest = f"; also here: {', '.join(one.about for one in others[:3])}" if others else ""
    typer.echo(f"with {best.about}, the best model that is here{rest} (--model takes another)", err=True)
    return best.name


def _show(built: "Built") -> None:
    warn_of_reasons(built.skipped)
    if built.others:
        from groundling.search.walk import named_counts

        typer.echo(f"no pictures, and left alone: {named_counts(built.others)}", err=True)
    if built.links:
        links = "1 link was" if built.links == 1 else f"{built.links} links were"
        typer.echo(f"{links} not followed", err=True)
    things = built.kind if built.count != 1 else built.kind.removesuffix("s")
    print(
        f"{built.count} {things} in {built.index}: {built.added} added, {built.changed} changed, {built.removed} "
        f"removed, {built.kept} kept, {len(built.skipped)} skipped ({built.encoded} encoded, {built.seconds} s)"
    )
    search = built.search
    if search.kind == "exact":
        return
    print(
        f"Search is approximate ({search.kind}): of the ten nearest pictures it finds "
        f"{100 * search.recall_at_10:.1f} %, measured with {search.queries} pictures of the index"
    )
    if search.text_recall_at_10 is not None:
        print(f"For texts it finds {100 * search.text_recall_at_10:.1f} %, measured with {search.texts} of yours")
    if search.candidates is not None:
        print(f"A query looks into {search.effort} lists and compares {search.candidates} candidates once more")
    found = min(search.recall_at_10, search.text_recall_at_10 or 1.0)
    if search.target is not None and found < search.target - SHORT:
        warn(f"that is less than the {100 * search.target:g} % asked for")


def _lines(path: Path) -> list[str]:
    """The texts of a file, one a line."""
    from groundling.errors import UserError

    try:
        texts = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not text'})") from None
    if not texts:
        raise UserError(f"{path}: no texts in it")
    return texts
