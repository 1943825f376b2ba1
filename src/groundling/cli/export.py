"""groundling export"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, print_json

if TYPE_CHECKING:
    from groundling.export.manifest import GraphFile, Manifest


def export(
    run: Annotated[Path, typer.Argument(help="A trained run.")],
    onnx: Annotated[Path, typer.Option("--onnx", help="The folder to write; it must not be there yet.")],
    half: Annotated[
        bool,
        typer.Option("--half", help="Keep weights in half precision: half the size, slightly different vectors."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write a model as ONNX graphs with its tokeniser, checked against PyTorch to 1e-4 (extra `onnx`).

    `index`, `search`, `serve` and `check` take the folder as --model, and then run without torch.
    """
    from groundling.export.write import export_run

    manifest = export_run(run, onnx, half)
    if as_json:
        return print_json(manifest.model_dump())
    _show(onnx, manifest)


def _graphs(manifest: "Manifest") -> "list[GraphFile]":
    whole = [*(reader.text for reader in manifest.readers), manifest.picture, manifest.backbone, manifest.verdict]
    return [part for part in whole if part is not None]


def _show(folder: Path, manifest: "Manifest") -> None:
    names = [part.name for part in _graphs(manifest)]
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    found = manifest.agreement
    apart = max(found.text, found.picture, found.backbone or 0.0, found.verdict or 0.0)
    print(f"{folder}: {', '.join(names)}, {size:.1f} MB")
    print(f"At most {apart:.1e} from PyTorch in any entry of a vector (allowed: {found.tolerance:g})")
    if manifest.backbone is None:
        typer.echo(
            "no backbone: the model was trained on features that came from elsewhere, so it cannot look at pictures",
            err=True,
        )
