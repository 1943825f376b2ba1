"""EfficientNet-Lite: a small convolutional network that runs well on a CPU (Tan & Le 2019; "Lite" by Google, 2020).

EfficientNet without squeeze-and-excite and with ReLU6 for swish; the stem and the head keep their width in every size.
The weights were trained in TensorFlow, so convolutions are padded its way ("SAME").
"""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# repeats, kernel, stride, expansion, channels out
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
STEM, HEAD, CLASSES = 32, 1280, 1000


def same_padding(length: int, kernel: int, stride: int) -> tuple[int, int]:
    """Zeros before and after, as TensorFlow's SAME: ceil(length / stride) outputs, an odd zero goes after."""
    total = max((math.ceil(length / stride) - 1) * stride + kernel - length, 0)
    return total // 2, total - total // 2


def scaled_channels(channels: int, width: float) -> int:
    """Channels times width, to the nearest multiple of eight that loses no more than a tenth."""
    wanted = channels * width
    rounded = max(8, int(wanted + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * wanted else rounded


class ConvNorm(nn.Module):
    """Convolution, batch normalisation, and ReLU6 unless the layer is a linear bottleneck."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1, active: bool = True
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, groups=groups, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(outputs, eps=1e-3)
        self.kernel, self.stride, self.active = kernel, stride, active

    def forward(self, x: Tensor) -> Tensor:
        top, bottom = same_padding(x.shape[2], self.kernel, self.stride)
        left, right = same_padding(x.shape[3], self.kernel, self.stride)
        padding = (top, left)
        if (top, left) != (bottom, right):  # the convolution itself can only pad both sides alike
            x, padding = functional.pad(x, (left, right, top, bottom)), (0, 0)
        conv, weight, bias = self.conv, self.conv.weight, self.conv.bias
        fixed = self._fixed()
        if fixed is not None:  # the same function, and the same gradients, in one pass over the picture instead of two
            scale, bias = fixed
            weight = weight * scale[:, None, None, None]
        x = functional.conv2d(x, weight, bias, conv.stride, padding, groups=conv.groups)
        x = self.norm(x) if fixed is None else x
        return functional.relu6(x, inplace=True) if self.active else x

    def _fixed(self) -> tuple[Tensor, Tensor] | None:
        """The scale and shift of a normalisation whose statistics are fixed; None where they are not, or are fused."""
        norm = self.norm
        if not isinstance(norm, nn.BatchNorm2d) or norm.training or norm.running_var is None:
            return None
        assert norm.running_mean is not None  # noqa: S101 (for the type checker: it comes with the variance)
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        return scale, norm.bias - norm.running_mean * scale

    def fuse(self) -> None:
        """Move the normalisation's fixed scale and shift into the convolution: the same function in one pass."""
        self.norm.eval()
        fixed = self._fixed()
        if fixed is None:
            return
        scale, shift = fixed
        self.conv.weight = nn.Parameter(self.conv.weight * scale[:, None, None, None], requires_grad=False)
        self.conv.bias = nn.Parameter(shift, requires_grad=False)
        self.norm = nn.Identity()


class Bottleneck(nn.Module):
    """Expand with 1×1, convolve each channel by itself, project back; add the input where the shape allows."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        wide = inputs * expansion
        self.expand = ConvNorm(inputs, wide, 1) if expansion > 1 else nn.Identity()
        self.depthwise = ConvNorm(wide, wide, kernel, stride, groups=wide)
        self.project = ConvNorm(wide, outputs, 1, active=False)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        out = self.project(self.depthwise(self.expand(x)))
        return out + x if self.residual else out


class EfficientNetLite(nn.Module):
    """Pictures [B, 3, H, W], normalised, to features [B, 1280]: the average of the last convolutional map."""

    def __init__(self, width: float = 1.0, depth: float = 1.0) -> None:
        super().__init__()
        self.stem = ConvNorm(3, STEM, 3, stride=2)
        blocks: list[nn.Module] = []
        self.ends = []  # how many blocks there are up to the end of each stage
        inputs = STEM
        for stage, (repeats, kernel, stride, expansion, channels) in enumerate(STAGES):
            outputs = scaled_channels(channels, width)
            if 0 < stage < len(STAGES) - 1:
                repeats = math.ceil(repeats * depth)
            for repeat in range(repeats):
                blocks.append(Bottleneck(inputs, outputs, kernel, stride if repeat == 0 else 1, expansion))
                inputs = outputs
            self.ends.append(len(blocks))
        self.blocks = nn.Sequential(*blocks)
        self.head = ConvNorm(inputs, HEAD, 1)
        self.classifier = nn.Linear(HEAD, CLASSES)  # for checks against ImageNet; features do not pass through it

    def forward(self, x: Tensor) -> Tensor:
        return self.map(x).mean(dim=(2, 3))

    def map(self, x: Tensor, stage: int | None = None) -> Tensor:
        """The map [B, channels, height, width] at the end, or after one of the stages 1 to 7."""
        x = self.stem(x)
        if stage is None:
            return self.head(self.blocks(x))
        return self.blocks[: self.ends[stage - 1]](x)

    def fuse(self) -> "EfficientNetLite":
        """Ready for inference: normalisation fused into the convolutions, channels innermost in memory."""
        with torch.no_grad():
            for module in self.modules():
                if isinstance(module, ConvNorm):
                    module.fuse()
        return self.eval().requires_grad_(False).to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def read_published(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The published weights under our names: `_blocks.3._bn1.bias` is our `blocks.3.depthwise.norm.bias`."""
    in_block = {"_expand_conv": "expand.conv", "_bn0": "expand.norm", "_depthwise_conv": "depthwise.conv"}
    in_block |= {"_bn1": "depthwise.norm", "_project_conv": "project.conv", "_bn2": "project.norm"}
    outside = {"_conv_stem": "stem.conv", "_bn0": "stem.norm", "_conv_head": "head.conv", "_bn1": "head.norm"}
    outside |= {"_fc": "classifier"}
    ours: dict[str, Any] = {}
    for name, value in state.items():
        *path, module, parameter = name.split(".")
        if path:
            ours[f"blocks.{path[1]}.{in_block[module]}.{parameter}"] = value
        else:
            ours[f"{outside[module]}.{parameter}"] = value
    return ours
