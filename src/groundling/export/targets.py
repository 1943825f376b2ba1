"""What a model can be exported to: ONNX graphs, sentence-transformers, immich; one or several of them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling.dataset import load_corpus
from groundling.errors import UserError
from groundling.export.manifest import Manifest
from groundling.export.precision import Precision
from groundling.files import refuse_existing
from groundling.model.loading import is_exported
from groundling.settings import CorpusSettings

if TYPE_CHECKING:
    from groundling.export.recall import Asked
    from groundling.model.pretrained import PretrainedModel


@dataclass(frozen=True)
class Written:
    """A folder for another program.

    Attributes:
        about: what is in it, in a few words.
        difference: the largest of any entry of a vector, as that program computes it, from ours.
        notes: sentences that whoever uses it must know.
    """

    folder: str
    about: str
    difference: float
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Exported:
    """What was written."""

    onnx: Path | None = None
    manifest: Manifest | None = None
    sentence_transformers: Written | None = None
    immich: Written | None = None


def export_model(
    model: str,
    onnx: Path | None = None,
    sentence_transformers: Path | None = None,
    immich: Path | None = None,
    precision: Precision = "float32",
    text_model: str | None = None,
    corpus: str | None = None,
    data: Path | None = None,
) -> Exported:
    """To the folders that are named; ONNX graphs beside the model where none is.

    Args:
        model: a run, or a pretrained model by its folder or hub name.
        onnx, sentence_transformers, immich: folders to write, which must not be there yet.
        precision: of the weights in ONNX graphs, those for immich as well.
        text_model: a separate text encoder for a pretrained pair.
        corpus, data: what the model is asked about, for its card and for the recall that ONNX graphs keep; of a run
            that was evaluated, its own when left out.
    """
    from groundling.export.recall import Asked

    asked: Asked | None = None
    if corpus is not None:
        asked = Asked(corpus, data)
        load_corpus(CorpusSettings(name=corpus), data)  # an error before minutes of work
    folder = Path(model).expanduser()
    if onnx is None and sentence_transformers is None and immich is None:
        onnx = folder.with_name(f"{folder.name}.onnx") if folder.is_dir() else Path(f"{folder.name}.onnx")
    if is_exported(folder):
        raise UserError(f"{model}: was exported before; export the run or the pretrained model that it came from")
    for place in (onnx, sentence_transformers, immich):
        if place is not None:
            refuse_existing(place.expanduser())
    written: dict[str, Written] = {}
    manifest = None if onnx is None else _to_onnx(model, text_model, onnx, precision, asked)
    if sentence_transformers is not None:
        from groundling.export.sentence_transformers_folder import to_sentence_transformers

        written["sentence_transformers"] = to_sentence_transformers(model, text_model, sentence_transformers, asked)
    if immich is not None:
        from groundling.export.immich import to_immich

        written["immich"] = to_immich(model, text_model, immich, precision, asked)
    return Exported(onnx, manifest, written.get("sentence_transformers"), written.get("immich"))


def _to_onnx(model: str, text_model: str | None, folder: Path, precision: Precision, asked: "Asked | None") -> Manifest:
    if is_run(model):
        from groundling.export.write import export_run

        if text_model is not None:
            raise UserError(f"{model}: a run has a text side of its own; another goes with a pretrained model")
        return export_run(model, folder, precision, asked)
    from groundling.export.write_pretrained import export_pretrained

    return export_pretrained(pretrained(model, text_model), folder, precision, asked)


def is_run(model: str) -> bool:
    """Whether a name is meant to be that of a run: a folder in which no pretrained model is."""
    folder = Path(model).expanduser()
    pretrained = ("config.json", "modules.json", "open_clip_config.json", "0_CLIPModel")
    return folder.is_dir() and not any((folder / name).exists() for name in pretrained)


def pretrained(model: str, text_model: str | None) -> "PretrainedModel":
    """A pretrained model, on the CPU."""
    from groundling.model.loading import load

    found: Any = load(model, text_model, "cpu")  # whatever is no run and was not exported is one
    loaded: PretrainedModel = found
    return loaded
