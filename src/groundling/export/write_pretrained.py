"""A pretrained pair as the same folder of ONNX graphs that a run becomes: indexed, searched and served without
transformers and without PyTorch."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

import groundling
from groundling.encoders.text.side import SideGraph
from groundling.encoders.tokenisers.side import piece_tokeniser
from groundling.export import manifest as manifests
from groundling.export.agreement import TOLERANCE, measured_pretrained
from groundling.export.card import card_of_pretrained
from groundling.export.manifest import Agreement, ExportedFile, Manifest, ReaderFiles
from groundling.export.onnx_card import write_card
from groundling.export.onnx_model import OnnxModel
from groundling.export.picture_backbone import backbone_of_side
from groundling.export.precision import Precision
from groundling.export.recall import Asked, kept
from groundling.export.trace import Examples, Graph, make_graph
from groundling.export.write import file_sha256, write_graph
from groundling.files import new_folder, refuse_existing, with_checksum, write_json
from groundling.model.pretrained import PretrainedModel
from groundling.model.sides import TextSide
from groundling.progress import bar


def export_pretrained(
    model: PretrainedModel, folder: str | Path, precision: Precision = "float32", asked: Asked | None = None
) -> Manifest:
    """A pretrained model, loaded on the CPU, as `folder`, which must not be there yet; recall is measured on the corpus
    that is asked about."""
    folder = Path(folder).expanduser()
    refuse_existing(folder)
    reading, network = model.text.text_rules(), backbone_of_side(model, model.pictures)
    suffix = "" if precision == "float32" else f"-{precision}"
    with new_folder(folder) as place, bar("Exporting", total=3) as progress:
        what = f"a model of type {model.backbone}"
        write_json(place / "tokeniser.json", piece_tokeniser(reading, model.prompt))
        text = write_graph(place, "text.onnx", text_graph(model.text, what), precision)
        progress.advance()
        backbone = write_graph(place, "backbone.onnx", network.graph(), precision)
        features = {"features": (torch.ones(3, model.dimensions), ["pictures", None])}
        picture = write_graph(place, "picture.onnx", make_graph(UnitVectors(), features, "pictures", what), precision)
        progress.advance()
        manifest = Manifest(
            format=manifests.FORMAT,
            kind=manifests.KIND,
            source="pretrained",
            groundling=groundling.__version__,
            recipe=model.name,
            system="pretrained",
            similarity=model.similarity,
            languages=model.languages,
            dimensions=model.dimensions,
            picture_dimensions=model.dimensions,
            features=model.dimensions,
            backbone_name=model.backbone,
            looking=network.looking,
            fingerprint=model.fingerprint + suffix,
            text_fingerprint=model.text_fingerprint + suffix,
            picture_fingerprint=model.picture_fingerprint + suffix,
            weights=precision,
            readers=[
                ReaderFiles(
                    languages=[],
                    tokeniser=ExportedFile(name="tokeniser.json", sha256=file_sha256(place / "tokeniser.json")),
                    text=text,
                )
            ],
            picture=picture,
            backbone=backbone,
            agreement=Agreement(tolerance=TOLERANCE[precision], text=0, picture=0, cosine=1),  # not known yet
        )
        write_json(place / manifests.FILE, with_checksum(manifest.model_dump()))
        agreement = measured_pretrained(model, OnnxModel.load(place), precision)
        manifest, card = manifest.model_copy(update={"agreement": agreement}), card_of_pretrained(folders_of(model))
        if asked is not None:
            splits = asked.ranked(model, OnnxModel.load(place))
            manifest = manifest.model_copy(update={"recall": kept(splits)})
            card = card.with_numbers(splits[0].result.to_json())
        write_json(place / manifests.FILE, with_checksum(manifest.model_dump()))
        write_card(card, place, manifest, folder)
        progress.advance()
    return manifest


def folders_of(model: PretrainedModel) -> dict[str, Path]:
    """Names and folders of the picture side, and of the text side where that is another."""
    return {model.pictures.name: model.pictures.folder, model.text.name: model.text.folder}


def text_graph(side: TextSide, what: str) -> Graph:
    pad = side.text_rules().pad
    inputs: Examples = {
        "ids": (torch.full((3, 5), pad, dtype=torch.int32), ["captions", "longest"]),
        "lengths": (torch.tensor([5, 2, 1]), ["captions"]),
    }
    return make_graph(SideGraph(side, nn.Identity()), inputs, "captions", what)


class UnitVectors(nn.Module):
    def forward(self, features: Tensor) -> Tensor:
        return normalize(features, dim=-1)
