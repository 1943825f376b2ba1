"""Picture networks that `transformers` can load, from the hub or from a folder. Needs the extra `hub`.

ResNet, ConvNeXt, CLIP's and SigLIP's picture side, ViT, DINOv2 and their like. Features are the average of what the
network sees over the picture: of the last convolutional map, or of the patches of a transformer's last layer, without
its class token. Pictures are cut and normalised as the network's own preprocessor_config.json says.
"""

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from groundling import hub
from groundling.errors import UserError
from groundling.vision.backbones import NOTHING_SPECIAL, Backbone
from groundling.vision.preprocessing import CROP, Preprocessing
from groundling.vision.tuned import Weights
from groundling.vision.view import View, on_grid

PREPROCESSOR = "preprocessor_config.json"
FILES = (*hub.WEIGHTS, PREPROCESSOR)
RESAMPLE = {2: "bilinear", 3: "bicubic"}
WHOLE = 384  # from this size on ConvNeXt and ResNet squeeze the whole picture into the square


def load(
    name: str,
    size: int | None,
    view: View = NOTHING_SPECIAL,
    tuned: Weights | None = None,
    trainable: bool = False,
) -> Backbone:
    """The network called `hf:NAME`: a folder, or a repository of the hub."""
    folder = hub.model_folder(name.removeprefix("hf:"), FILES, "backbone")
    cut, mean, std = read_preprocessor(folder / PREPROCESSOR)
    if size is not None and size != cut.size:
        cut = resized(cut, size)
    if view.stage is not None:
        raise UserError(f"{name}: features.stage is for EfficientNet-Lite; leave it out")
    model, projection = _load_model(folder, name)
    network: nn.Module = AveragePooled(model, _own_size(model.config), cut.size, name, view.grid)
    if view.projected:
        network = Projected(model, projection, cut.size, name)
    if tuned is not None:
        tuned.into(network, name)
    with torch.inference_mode():
        try:
            dim = network(torch.zeros(1, 3, cut.size, cut.size)).shape[1]
        except Exception as error:  # whatever a size that it was not made for leads it into
            raise UserError(f"{name}: cannot look at pictures of {cut.size} pixels ({hub.first_line(error)})") from None
    # The same weights have the same features wherever they lie: the name of the cache's folder has no path in it.
    asked = Path(name.removeprefix("hf:")).expanduser()
    short = f"hf:{asked.resolve().name if asked.is_dir() else asked.name}"
    fingerprint = hub.fingerprint(folder, FILES) if tuned is None else tuned.fingerprint
    return Backbone(short, dim, cut.size, network.requires_grad_(trainable), mean, std, fingerprint, cut, view)


def read_preprocessor(path: Path) -> tuple[Preprocessing, tuple[float, float, float], tuple[float, float, float]]:
    """How a network's own pictures are cut, and the mean and deviation of its colours."""
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        mean, std = (_three(settings[key]) for key in ("image_mean", "image_std"))
        size, edge = settings["size"], 0
        if isinstance(size, dict) and "shortest_edge" not in size:
            size = (size["height"], size["width"])
        elif isinstance(size, dict):
            edge = size = size["shortest_edge"]
        centre = settings.get("crop_size") if settings.get("do_center_crop") else None
        if isinstance(centre, dict):
            centre = centre["height"]
        resample = RESAMPLE[settings.get("resample", 3)]
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; it says how the network's pictures are cut") from None
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: does not say how pictures are cut ({error})") from None
    more: dict[str, Any] = {"resample": resample}
    if centre is not None:  # CLIP, DINOv2: the short side resized, the centre cut out
        cut = Preprocessing(centre, size if isinstance(size, int) else size[0], **more)
    elif "crop_pct" in settings:  # ConvNeXt, ResNet
        square = size if isinstance(size, int) else size[0]
        share = settings["crop_pct"] or CROP
        cut = Preprocessing(square, int(square / share), **more) if square < WHOLE else _stretched(square, more)
    elif isinstance(size, int) and edge:
        cut = Preprocessing(size, size, **more)
    else:  # ViT, SigLIP: all of the picture, made square
        cut = _stretched(size if isinstance(size, int) else size[0], more)
    return cut, mean, std


def _three(values: Any) -> tuple[float, float, float]:
    red, green, blue = (float(value) for value in values)
    return red, green, blue


def _stretched(size: int, more: dict[str, Any]) -> Preprocessing:
    return Preprocessing(size, size, stretch=True, **more)


def resized(cut: Preprocessing, size: int) -> Preprocessing:
    """The same way of cutting for another size."""
    return Preprocessing(
        size, round(cut.resize * size / cut.size), stretch=cut.stretch, resample=cut.resample, mirror=cut.mirror
    )


class Projected(nn.Module):
    """Normalised pictures [B, 3, size, size] → the vectors [B, dim] that are compared with those of text."""

    def __init__(self, model: Any, projection: Any, size: int, name: str) -> None:
        super().__init__()
        if projection is None:
            raise UserError(f"{name}: has no vectors to compare with text; leave out features.projected")
        own = _own_size(model.config)
        if size != own:
            raise UserError(f"{name}: with features.projected pictures have its own size, {own} pixels")
        self.model, self.projection = model, projection

    def forward(self, pictures: Tensor) -> Tensor:
        vectors: Tensor = self.projection(self.model(pixel_values=pictures).pooler_output)
        return vectors


class AveragePooled(nn.Module):
    """Normalised pictures [B, 3, size, size] → features [B, dim], or [B, grid · grid · dim] of the cells of a grid."""

    def __init__(self, model: Any, own_size: int | None, size: int, name: str, grid: int = 1) -> None:
        super().__init__()
        patch = getattr(model.config, "patch_size", None)
        self.patch = patch if isinstance(patch, int) else None
        self.options = {}
        if self.patch is not None and own_size is not None and size != own_size:
            if size % self.patch:
                raise UserError(f"{name}: pictures of {size} pixels do not divide into patches of {self.patch}")
            self.options = {"interpolate_pos_encoding": True}
        self.model, self.size, self.name, self.grid = model, size, name, grid

    def forward(self, pictures: Tensor) -> Tensor:
        states: Tensor = self.model(pixel_values=pictures, **self.options).last_hidden_state
        if states.ndim == 4:  # [B, dim, height, width]
            return states.mean(dim=(2, 3)) if self.grid == 1 else on_grid(states, self.grid)
        if self.patch is not None:  # the class token and others come before the patches
            side = self.size // self.patch
            states = states[:, -(side**2) :]
            if self.grid > 1:
                return on_grid(states.transpose(1, 2).unflatten(2, (side, side)), self.grid)
        if self.grid > 1:
            raise UserError(f"{self.name}: its patches have no place in the picture; leave out features.grid")
        return states.mean(dim=1)


def _own_size(config: Any) -> int | None:
    size = getattr(config, "image_size", None)
    return size[0] if isinstance(size, list | tuple) else size


def _load_model(folder: Path, name: str) -> tuple[Any, Any]:
    """The network, and the layer from it to the vectors that are compared with text, where it has one."""
    library = hub.transformers("backbone")
    try:
        config = library.AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        common: dict[str, Any] = {"use_safetensors": True, "trust_remote_code": False, "local_files_only": True}
        model, facts = library.AutoModel.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True, **common
        )
        projection = getattr(model, "visual_projection", None)
        model = getattr(model, "vision_model", model) if hasattr(config, "vision_config") else model
    except Exception as error:  # whatever the wrong files lead transformers into
        raise UserError(f"{name}: not a backbone that can be used ({hub.first_line(error)})") from None
    missing = sorted(key for key in facts["missing_keys"] if "pooler" not in key)  # features are not pooled by it
    if missing:
        raise UserError(f"{name}: its weights are not all there ({missing[0]} is missing); copy the folder again")
    model.eval().requires_grad_(False)
    return model, None if projection is None else projection.requires_grad_(False)
