"""A run as a folder of ONNX graphs, with its tokeniser and a manifest: whole and checked, or not there at all."""

import hashlib
from copy import deepcopy
from pathlib import Path
from typing import cast

import numpy as np
import torch

import groundling
from groundling.encoders.text import TextEncoder
from groundling.export import manifest as manifests
from groundling.export.agreement import TOLERANCE, measured
from groundling.export.card import card_of_run
from groundling.export.manifest import Agreement, ExportedFile, GraphFile, Manifest, ReaderFiles
from groundling.export.onnx_card import started_from, write_card
from groundling.export.onnx_model import OnnxModel
from groundling.export.picture_backbone import backbone_of_run
from groundling.export.precision import Precision, reduced
from groundling.export.recall import Asked, kept, recall_of_run
from groundling.export.trace import Graph, make_graph
from groundling.files import atomic_path, new_folder, refuse_existing, with_checksum, write_json
from groundling.model.trained import Reader, TrainedModel
from groundling.progress import bar
from groundling.run import Run
from groundling.systems import JudgingEncoders


def export_run(
    run: str | Path, folder: str | Path, precision: Precision = "float32", asked: Asked | None = None
) -> Manifest:
    """The model of a run as `folder`, which must not be there yet.

    Args:
        run: a finished run of any system.
        folder: where the graphs go: text.onnx, picture.onnx, backbone.onnx, tokeniser.json, manifest.json.
        precision: of the weights that are kept (see `precision`).
        asked: the corpus that recall is measured on; the run's own, where it was evaluated, when left out.
    """
    opened, folder = Run.open(Path(run)), Path(folder).expanduser()
    refuse_existing(folder)
    model = TrainedModel.load(opened.folder, "cpu")
    with new_folder(folder) as place, bar("Exporting", total=4) as progress:
        readers = [_reader(place, number, reader, model, precision) for number, reader in enumerate(model.readers)]
        progress.advance()
        picture = write_graph(place, "picture.onnx", _picture(model), precision)
        progress.advance()
        network = backbone_of_run(model)
        backbone = None if network is None else write_graph(place, "backbone.onnx", network.graph(), precision)
        head = (
            write_graph(place, "verdict.onnx", _head_graph(model, readers[0].text, picture), precision)
            if model.judges
            else None
        )
        progress.advance()
        suffix = "" if precision == "float32" else f"-{precision}"  # slightly other vectors
        manifest = Manifest(
            format=manifests.FORMAT,
            kind=manifests.KIND,
            groundling=groundling.__version__,
            corpus=model.recipe.corpus.name,
            recipe=model.recipe.name,
            system=model.system.name,
            similarity=model.system.similarity,
            languages=model.languages,
            dimensions=readers[0].text.outputs["vectors"][1],
            picture_dimensions=picture.outputs["vectors"][1],
            features=model.features,
            backbone_name="a precomputed array" if network is None else network.name,
            looking=None if network is None else network.looking,
            fingerprint=model.fingerprint + suffix,
            text_fingerprint=model.text_fingerprint + suffix,
            picture_fingerprint=model.picture_fingerprint + suffix,
            weights=precision,
            readers=readers,
            picture=picture,
            backbone=backbone,
            verdict=head,
            accuracy=model.accuracy,
            words_alone=model.words_alone,
            agreement=Agreement(tolerance=TOLERANCE[precision], text=0, picture=0, cosine=1),  # not known yet
        )
        write_json(place / manifests.FILE, with_checksum(manifest.model_dump()))
        exported = OnnxModel.load(place)
        agreement = measured(model, exported, network, precision, opened.folder)
        card = card_of_run(opened, started_from(model))
        if asked is None:
            recall = recall_of_run(model, exported)
        else:
            splits = asked.ranked(model, exported)
            recall, card = kept(splits), card.with_numbers(splits[0].result.to_json())
        manifest = manifest.model_copy(update={"agreement": agreement, "recall": recall})
        write_json(place / manifests.FILE, with_checksum(manifest.model_dump()))
        write_card(card, place, manifest, folder)
        progress.advance()
    return manifest


def _reader(folder: Path, number: int, reader: Reader, model: TrainedModel, precision: Precision) -> ReaderFiles:
    suffix = str(number + 1) if number else ""
    name = f"tokeniser{suffix}.json"
    write_json(folder / name, reader.tokeniser.exported())
    languages = model.tokeniser.reader_languages()[number]
    graph = text_graph(reader.encoder, model.system.name)
    return ReaderFiles(
        languages=languages,
        tokeniser=ExportedFile(name=name, sha256=file_sha256(folder / name)),
        text=write_graph(folder, f"text{suffix}.onnx", graph, precision),
    )


def text_graph(encoder: TextEncoder, system: str) -> Graph:
    """Traced with three captions of five entries; both, and the words that are spelled out, may be any number.

    The encoder itself stays as it is: a copy is taken apart.
    """
    inputs: dict[str, tuple[torch.Tensor, list[str | None]]] = {
        "ids": (torch.zeros(3, 5, dtype=torch.int32), ["captions", "longest"]),
        "lengths": (torch.tensor([5, 2, 1]), ["captions"]),
    }
    letters = encoder.tokeniser.letters
    if letters is not None:  # so many, or, where words are of pieces, any number
        inputs["spellings"] = (torch.ones(6, letters or 4, dtype=torch.int32), ["words", None if letters else "pieces"])
    alone = deepcopy(encoder).float().cpu().eval().requires_grad_(False)
    return make_graph(alone.export_graph(), inputs, "captions", f"system {system}")


def _picture(model: TrainedModel) -> Graph:
    example = torch.from_numpy(np.ones((3, model.features), dtype=np.float32))
    inputs = {"features": (example, ["pictures", None])}
    return make_graph(model.encoders.picture.export_graph(), inputs, "pictures", f"system {model.system.name}")


def _head_graph(model: TrainedModel, text: GraphFile, picture: GraphFile) -> Graph:
    sizes = {"sentences": int(text.outputs["vectors"][1]), "pictures": int(picture.outputs["vectors"][1])}
    inputs = {name: (torch.ones(3, size), ["pairs", None]) for name, size in sizes.items()}
    head = Tempered(cast(JudgingEncoders, model.encoders).head, model.temperature)
    return make_graph(head, inputs, "pairs", f"system {model.system.name}", "logits")


class Tempered(torch.nn.Module):
    """A head with its temperature in the graph: whoever runs it needs nothing but the softmax of what comes out."""

    def __init__(self, head: torch.nn.Module, temperature: float) -> None:
        super().__init__()
        self.head, self.temperature = head, temperature

    def forward(self, sentences: torch.Tensor, pictures: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(sentences, pictures)
        return logits if self.temperature == 1 else logits / self.temperature


def write_graph(folder: Path, name: str, graph: Graph, precision: Precision) -> GraphFile:
    data = reduced(graph.data, precision)
    with atomic_path(folder / name) as temporary:
        temporary.write_bytes(data)
    return GraphFile(name=name, sha256=_sha256(data), opset=graph.opset, inputs=graph.inputs, outputs=graph.outputs)


def file_sha256(path: Path) -> str:
    return _sha256(path.read_bytes())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
