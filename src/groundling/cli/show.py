"""groundling show"""

from pathlib import Path
from typing import Annotated

import typer

from groundling.cli.output import ANY_MODEL, AsJson, Data, Device, Prompt, TextModel, print_json, warn_of_skipped

MOST = 50  # of each, so that a page stays within a few megabytes


def show(
    model: Annotated[str, typer.Argument(metavar="MODEL", help=ANY_MODEL)],
    corpus: Annotated[str | None, typer.Option(help="Another corpus than the run's own.")] = None,
    text_model: TextModel = None,
    prompt: Prompt = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            help="Show captions in this language (repeatable), trained on or not; those of the run when left out."
        ),
    ] = None,
    pictures: Annotated[int, typer.Option(min=0, max=MOST, help="Pictures with the captions found for them.")] = 8,
    queries: Annotated[int, typer.Option(min=0, max=MOST, help="Captions with the pictures found for them.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Another seed draws others.")] = 0,
    photos: Annotated[
        Path | None, typer.Option(help="A folder of picture files by name, where the corpus has only features.")
    ] = None,
    translations: Annotated[
        str | None,
        typer.Option(
            help="Also captions before and after their translations are asked with them, from this source: own, "
            "comparable, corpus:NAME, a table, hub:MODEL (see `evaluate --source`)."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="train, dev or test.")] = "test",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The page; RUN/show.html, or runs/MODEL-on-CORPUS/show.html, when left out."),
    ] = None,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """One HTML page to look at: pictures with the captions found for them, captions with the pictures found for them.

    Drawn at random, not chosen. Pictures are in the page, small; it needs nothing beside it.
    """
    from groundling.devices import pick_device
    from groundling.errors import UserError
    from groundling.evaluation.saved import answers_folder
    from groundling.evaluation.show import draw_examples
    from groundling.files import write_text
    from groundling.model import load
    from groundling.report.qualitative import qualitative_page

    if split not in ("train", "dev", "test"):
        raise UserError(f'--split: "{split}" is not train, dev or test')
    if photos is not None and not photos.is_dir():
        raise UserError(f"--photos {photos}: no such folder")
    if not pictures and not queries:
        raise UserError("--pictures 0 and --queries 0 leave nothing to show")
    if out is not None and out.is_dir():
        raise UserError(f"--out {out}: a folder, where the name of a page is needed")
    loaded = load(model, text_model, device, prompt)
    where = pick_device(device).type
    shown = draw_examples(loaded, corpus, language, pictures, queries, seed, photos, split, data, translations, where)
    folder = loaded.run.folder if loaded.run is not None else answers_folder(loaded, shown.result.corpus)
    page = out or folder / "show.html"
    write_text(page, qualitative_page(shown))
    if as_json:
        return print_json({**shown.to_json(), "page": str(page)})
    warn_of_skipped(shown.result.skipped)
    print(f"Page: {page}")
