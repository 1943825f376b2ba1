"""A pretrained pair as the same folder of ONNX graphs that a run becomes: indexed, searched and served without
transformers and without PyTorch."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

import groundling
from groundling.encoders.tokenisers import PieceTokeniser
from groundling.export import manifest as manifests
from groundling.export.agreement import TOLERANCE, measured_pretrained
from groundling.export.card import card_of_pretrained
from groundling.export.manifest import Agreement, ExportedFile, Manifest, PreprocessingSettings, ReaderFiles
from groundling.export.onnx_card import write_card
from groundling.export.onnx_model import OnnxModel
from groundling.export.precision import Precision
from groundling.export.write import file_sha256, make_graph, write_graph
from groundling.files import new_folder, refuse_existing, with_checksum, write_json
from groundling.model.pretrained import PretrainedModel
from groundling.model.sides import Cutting, PictureSide, TextRules, TextSide
from groundling.progress import bar


def export_pretrained(model: PretrainedModel, folder: str | Path, precision: Precision = "float32") -> Manifest:
    """A pretrained model, loaded on the CPU, as `folder`, which must not be there yet."""
    folder = Path(folder).expanduser()
    refuse_existing(folder)
    reading, cutting = model.text.text_rules(), model.pictures.cutting()
    suffix = "" if precision == "float32" else f"-{precision}"
    with new_folder(folder) as place, bar("Exporting", total=3) as progress:
        what = f"a model of type {model.backbone}"
        write_json(place / "tokeniser.json", tokeniser_of(reading, model.prompt).to_json())
        text = write_graph(place, "text.onnx", text_graph(model.text, reading, what), precision)
        progress.advance()
        network = PictureGraph(model.pictures, cutting)
        squares = {"pixels": (torch.zeros(3, cutting.size, cutting.size, 3, dtype=torch.uint8), SQUARES)}
        backbone = write_graph(
            place, "backbone.onnx", make_graph(network, squares, "squares", what, "features"), precision
        )
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
            looking=looking(cutting),
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
        manifest = manifest.model_copy(update={"agreement": agreement})
        write_json(place / manifests.FILE, with_checksum(manifest.model_dump()))
        write_card(card_of_pretrained(folders_of(model)), place, manifest, folder)
        progress.advance()
    return manifest


SQUARES = ["squares", None, None, None]


def folders_of(model: PretrainedModel) -> dict[str, Path]:
    """Names and folders of the picture side, and of the text side where that is another."""
    return {model.pictures.name: model.pictures.folder, model.text.name: model.text.folder}


def tokeniser_of(reading: TextRules, prompt: str | None) -> PieceTokeniser:
    return PieceTokeniser.from_json(
        {
            "rules": reading.rules,
            "longest": reading.longest,
            "prompt": reading.prefix + (prompt or "{}"),
            "small_letters": reading.small_letters,
        }
    )


def looking(cutting: Cutting) -> PreprocessingSettings:
    cut = {name: value for name, value in asdict(cutting).items() if name not in ("mean", "std")}
    return PreprocessingSettings(like="transformers", mirror=False, crops=1, **cut)


def text_graph(side: TextSide, reading: TextRules, what: str) -> Any:
    inputs: dict[str, Any] = {
        "ids": (torch.full((3, 5), reading.pad, dtype=torch.int32), ["captions", "longest"]),
        "lengths": (torch.tensor([5, 2, 1]), ["captions"]),
    }
    return make_graph(TextGraph(side, reading), inputs, "captions", what)


class TextGraph(nn.Module):
    """[captions, longest] tokens and [captions] lengths → unit vectors, padded and masked as the side's makers did."""

    def __init__(self, side: TextSide, reading: TextRules) -> None:
        super().__init__()
        self.network, self.reading = side.network.float().requires_grad_(False), reading
        self.vectors = side.vectors

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        said = self.reading
        if said.padded:  # whatever the width is, `longest` columns are left
            more = torch.zeros((ids.shape[0], said.longest), dtype=ids.dtype, device=ids.device)
            ids = torch.cat([ids, more], dim=1)[:, : said.longest]
        real = torch.arange(ids.shape[1], device=ids.device)[None, :] < lengths[:, None]
        inputs = {"input_ids": torch.where(real, ids, said.pad).long()}
        if said.masked:
            inputs["attention_mask"] = real.long()
        return normalize(self.vectors(inputs).float(), dim=-1)


class PictureGraph(nn.Module):
    """[squares, size, size, 3] bytes → colours as the side's makers normalised them → features."""

    mean: Tensor
    std: Tensor

    def __init__(self, side: PictureSide, cutting: Cutting) -> None:
        super().__init__()
        self.network, self.vectors = side.network.float().requires_grad_(False), side.vectors
        self.register_buffer("mean", torch.tensor(cutting.mean)[:, None, None])
        self.register_buffer("std", torch.tensor(cutting.std)[:, None, None])

    def forward(self, pixels: Tensor) -> Tensor:
        return self.vectors({"pixel_values": (pixels.permute(0, 3, 1, 2).float() / 255 - self.mean) / self.std}).float()


class UnitVectors(nn.Module):
    def forward(self, features: Tensor) -> Tensor:
        return normalize(features, dim=-1)
