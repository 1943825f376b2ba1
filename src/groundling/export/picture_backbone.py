"""What looks at pictures in an exported model: a frozen backbone, or the picture side of a pretrained pair."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.export import samples
from groundling.export.backbone_graph import BackboneGraph
from groundling.export.manifest import PreprocessingSettings
from groundling.export.onnx_model import OnnxModel
from groundling.export.trace import Graph, make_graph
from groundling.model.protocol import Model
from groundling.model.sides import Cutting, PictureSide
from groundling.model.trained import TrainedModel
from groundling.model.vectors import Vectors
from groundling.vision.backbones import Backbone
from groundling.vision.from_settings import backbone_of, preprocessing_of
from groundling.vision.preprocessing import Preprocessing

SQUARES = ["squares", None, None, None]


@dataclass(frozen=True)
class ExportedBackbone:
    """
    Attributes:
        name: what they are called in the manifest.
        network: [squares, size, size, 3] bytes → [squares, features]
        looking: how pictures are cut for them.
        compared: features of some pictures as the exported model has them, and as the model itself has them.
    """

    name: str
    network: nn.Module
    looking: PreprocessingSettings
    compared: Callable[[OnnxModel], tuple[Vectors, Vectors]]

    def graph(self) -> Graph:
        example = torch.zeros(3, self.looking.size, self.looking.size, 3, dtype=torch.uint8)
        return make_graph(self.network, {"pixels": (example, SQUARES)}, "squares", f"backbone {self.name}", "features")


def backbone_of_run(model: TrainedModel) -> ExportedBackbone | None:
    """None where a run was trained on features that came from elsewhere."""
    if model.pictures is not None:
        return backbone_of_side(model, model.pictures)
    seen = network_of_run(model)
    if seen is None:
        return None
    backbone, cut = seen

    def compared(exported: OnnxModel) -> tuple[Vectors, Vectors]:
        squares = samples.pixels(cut)
        return exported.features_of(squares), backbone.features(squares, cut).numpy()

    own = PreprocessingSettings.model_fields.keys() - {"like"}
    looking = PreprocessingSettings(**{name: getattr(cut, name) for name in own})
    return ExportedBackbone(model.recipe.features.backbone, BackboneGraph(backbone, cut.mirror), looking, compared)


def backbone_of_side(model: Model, side: PictureSide) -> ExportedBackbone:
    """Those of a pretrained pair, whose pictures go through its own processor, and exported through ours."""
    cutting = side.cutting()

    def compared(exported: OnnxModel) -> tuple[Vectors, Vectors]:
        files = samples.files()
        ours = exported.features_of([exported.preparation(data) for data in files])
        return ours, model.features_of([model.preparation(data) for data in files])

    cut = {name: value for name, value in asdict(cutting).items() if name not in ("mean", "std")}
    looking = PreprocessingSettings(mirror=False, crops=1, **cut)
    return ExportedBackbone(side.backbone, PictureGraph(side, cutting), looking, compared)


def network_of_run(model: TrainedModel) -> tuple[Backbone, Preprocessing] | None:
    """The backbone of a run, and how it cuts pictures."""
    settings = model.feature_settings
    if settings is None or settings.array is not None:
        return None
    backbone = backbone_of(settings).to(torch.device("cpu"))
    if backbone.dim != model.features:
        return None  # the features came with the corpus, from some other network
    return backbone, preprocessing_of(settings, backbone)


class SideColours(nn.Module):
    """[squares, 3, size, size] colours as a picture side's makers normalised them → its unit vectors."""

    def __init__(self, side: PictureSide) -> None:
        super().__init__()
        self.network, self.vectors = side.network.float().requires_grad_(False), side.vectors
        self.takes = side.takes

    def forward(self, colours: Tensor) -> Tensor:
        return normalize(self.vectors({self.takes: colours}).float(), dim=-1)


class PictureGraph(nn.Module):
    """[squares, size, size, 3] bytes → colours → unit vectors."""

    mean: Tensor
    std: Tensor

    def __init__(self, side: PictureSide, cutting: Cutting) -> None:
        super().__init__()
        self.side = SideColours(side)
        self.register_buffer("mean", torch.tensor(cutting.mean)[:, None, None])
        self.register_buffer("std", torch.tensor(cutting.std)[:, None, None])

    def forward(self, pixels: Tensor) -> Tensor:
        vectors: Tensor = self.side((pixels.permute(0, 3, 1, 2).float() / 255 - self.mean) / self.std)
        return vectors
