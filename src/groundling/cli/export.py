"""groundling export"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from groundling.cli.output import AsJson, Data, print_json

if TYPE_CHECKING:
    from groundling.export.manifest import GraphFile, Manifest
    from groundling.export.precision import Precision
    from groundling.export.targets import Exported

PRECISIONS: "dict[str, Precision]" = {"float32": "float32", "fp16": "half", "int8": "int8"}


def export(
    model: Annotated[str, typer.Argument(help="A trained run; a pretrained pair by folder, hub name or short name.")],
    onnx: Annotated[
        Path | None,
        typer.Option("--onnx", help="A folder of ONNX graphs; MODEL.onnx beside the model when no folder is named."),
    ] = None,
    sentence_transformers: Annotated[
        Path | None,
        typer.Option("--sentence-transformers", help="A folder that SentenceTransformer loads, with the same vectors."),
    ] = None,
    immich: Annotated[
        Path | None, typer.Option("--immich", help="A folder that immich's machine-learning service reads.")
    ] = None,
    precision: Annotated[
        Literal["float32", "fp16", "int8"],
        typer.Option(help="Of the weights in ONNX graphs: half and a quarter of the size, slightly different vectors."),
    ] = "float32",
    text_model: Annotated[
        str | None,
        typer.Option(help="A separate text encoder of sentence-transformers or M-CLIP for a pretrained pair."),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            help="Ask the model about the test split of this corpus: numbers for its card, and the recall that ONNX "
            "graphs keep. Of a run that was evaluated, its own when left out."
        ),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="The same as --precision fp16.")] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Write a model for use elsewhere, checked against PyTorch, with a card (README.md). Folders must not be there yet.

    `index`, `search`, `serve` and `check` take a folder of ONNX graphs as --model, and then run without torch; one that
    lies beside its run is taken by itself.
    """
    from groundling.errors import UserError
    from groundling.export.targets import export_model

    if half and precision == "int8":
        raise UserError("--half and --precision int8: choose one")
    bits = PRECISIONS["fp16" if half else precision]
    exported = export_model(model, onnx, sentence_transformers, immich, bits, text_model, corpus, data)
    if as_json:
        return print_json(_as_json(exported))
    _show(exported)


def _as_json(exported: "Exported") -> object:
    """The manifest where there is only that, as ever; else what was written for each program."""
    folders = {"sentence_transformers": exported.sentence_transformers, "immich": exported.immich}
    others = {name: vars(one) for name, one in folders.items() if one is not None}
    manifest = None if exported.manifest is None else exported.manifest.model_dump()
    if not others:
        return manifest
    return others if manifest is None else {"onnx": manifest, **others}


def _graphs(manifest: "Manifest") -> "list[GraphFile]":
    whole = [*(reader.text for reader in manifest.readers), manifest.picture, manifest.backbone, manifest.verdict]
    return [part for part in whole if part is not None]


def _show(exported: "Exported") -> None:
    if exported.manifest is not None and exported.onnx is not None:
        _show_onnx(exported.onnx, exported.manifest)
    for one in (exported.sentence_transformers, exported.immich):
        if one is not None:
            print(f"{one.folder}: {one.about}, {_size(Path(one.folder)):.1f} MB")
            print(f"At most {one.difference:.1e} from groundling's own vectors in any entry")
            for note in one.notes:
                print(note)


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _show_onnx(folder: Path, manifest: "Manifest") -> None:
    names = [part.name for part in _graphs(manifest)]
    found = manifest.agreement
    apart = max(found.text, found.picture, found.backbone or 0.0, found.verdict or 0.0)
    print(f"{folder}: {', '.join(names)}, {_size(folder):.1f} MB")
    print(f"At most {apart:.1e} from PyTorch in any entry of a vector (allowed: {found.tolerance:g})")
    if manifest.recall is not None:
        kept = manifest.recall
        print(f"Mean recall on the test split of {kept.corpus}: {kept.exported:.2f} (PyTorch: {kept.pytorch:.2f})")
    if manifest.backbone is None:
        typer.echo(
            "no backbone: the model was trained on features that came from elsewhere, so it cannot look at pictures",
            err=True,
        )
