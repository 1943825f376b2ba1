"""Tiny random networks in folders, as transformers saves them: ResNet, CLIP and ViT as backbones."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from groundling.errors import UserError
from groundling.vision import backbones
from groundling.vision.cache import extract, features_folder
from groundling.vision.hub_backbone import read_preprocessor
from groundling.vision.preprocessing import Preprocessing

transformers = pytest.importorskip("transformers")

CENTRE = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.25, 0.3]}
RESNET = {**CENTRE, "crop_pct": 0.875, "size": 64, "resample": 3, "do_resize": True}
CLIP = {**CENTRE, "size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}, "do_center_crop": True}
VIT = {**CENTRE, "size": {"height": 32, "width": 32}, "resample": 2}


def write(folder: Path, model: Any, preprocessor: dict[str, Any]) -> str:
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    return f"hf:{folder}"


@pytest.fixture(scope="module")
def resnet(tmp_path_factory: pytest.TempPathFactory) -> str:
    torch.manual_seed(0)
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_channels=3
    )
    return write(tmp_path_factory.mktemp("hub") / "resnet", transformers.ResNetModel(config), RESNET)


def transformer(kind: str) -> Any:
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(1)
    if kind == "vit":
        return transformers.ViTModel(transformers.ViTConfig(**sizes, image_size=32, patch_size=8))
    vision = {**sizes, "image_size": 32, "patch_size": 8}
    if kind == "clip vision":
        return transformers.CLIPVisionModel(transformers.CLIPVisionConfig(**vision))
    config = transformers.CLIPConfig(text_config={**sizes, "vocab_size": 50}, vision_config=vision)
    return transformers.CLIPModel(config)


def noise(count: int, size: int) -> torch.Tensor:
    return torch.randint(0, 256, (count, 3, size, size), generator=torch.Generator().manual_seed(5), dtype=torch.uint8)


def normalised(pictures: torch.Tensor) -> torch.Tensor:
    mean, std = (torch.tensor(CENTRE[key])[:, None, None] for key in ("image_mean", "image_std"))
    return (pictures.float() / 255 - mean) / std


def test_resnet_s_features_are_its_own_average_pool(resnet: str) -> None:
    backbone = backbones.get(resnet)
    assert (backbone.name, backbone.dim, backbone.size) == ("hf:resnet", 16, 64)
    assert backbone.cut == Preprocessing(64, 73)
    pictures = noise(5, 64)
    model = transformers.ResNetModel.from_pretrained(resnet.removeprefix("hf:")).eval()
    with torch.no_grad():
        pooled = model(normalised(pictures)).pooler_output.flatten(1)
    torch.testing.assert_close(backbone.encode(pictures), pooled, atol=1e-5, rtol=1e-4)
    larger = backbones.get(resnet, 128)
    assert (larger.size, larger.cut) == (128, Preprocessing(128, 146))
    assert larger.encode(noise(2, 128)).shape == (2, 16)


@pytest.mark.parametrize("kind", ["vit", "clip vision", "clip"])
def test_a_transformer_s_features_are_the_mean_of_its_patches(kind: str, tmp_path: Path) -> None:
    model = transformer(kind)
    backbone = backbones.get(write(tmp_path / "t", model, CLIP if "clip" in kind else VIT))
    assert (backbone.dim, backbone.size) == (12, 32)
    pictures = noise(3, 32)
    eyes = getattr(model, "vision_model", model).eval()
    with torch.no_grad():
        states = eyes(pixel_values=normalised(pictures)).last_hidden_state
    assert states.shape[1] == 17  # a class token and 16 patches
    torch.testing.assert_close(backbone.encode(pictures), states[:, 1:].mean(dim=1), atol=1e-5, rtol=1e-4)
    other = backbones.get(f"hf:{tmp_path / 't'}", 64)
    assert other.encode(noise(2, 64)).shape == (2, 12)
    with pytest.raises(UserError, match="pictures of 60 pixels do not divide into patches of 8"):
        backbones.get(f"hf:{tmp_path / 't'}", 60)


@pytest.mark.parametrize(
    ("settings", "cut"),
    [
        ({**RESNET, "size": 224}, Preprocessing(224, 256)),
        ({**RESNET, "size": {"shortest_edge": 384}}, Preprocessing(384, 384, stretch=True)),
        ({**CLIP, "size": 224, "crop_size": 224}, Preprocessing(224, 224)),
        ({**CLIP, "size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}}, Preprocessing(224, 256)),
        (VIT, Preprocessing(32, 32, stretch=True, resample="bilinear")),
        ({**VIT, "size": 384}, Preprocessing(384, 384, stretch=True, resample="bilinear")),
    ],
)
def test_pictures_are_cut_as_the_network_is_used_to(tmp_path: Path, settings: dict[str, Any], cut: Any) -> None:
    (tmp_path / "p.json").write_text(json.dumps(settings))
    found = read_preprocessor(tmp_path / "p.json")
    assert found == (cut, (0.5, 0.4, 0.3), (0.2, 0.25, 0.3))


@pytest.mark.parametrize(("preprocessor", "kind"), [(RESNET, "convnext"), (CLIP, "clip"), (VIT, "vit")])
def test_pixels_are_those_of_transformers_own_preprocessing(tmp_path: Path, preprocessor: Any, kind: str) -> None:
    x, y = np.meshgrid(np.linspace(0, 255, 90), np.linspace(0, 255, 70))
    image = Image.fromarray(np.stack([x, y, 255 - (x + y) / 2], axis=-1).astype(np.uint8))
    image.save(tmp_path / "smooth.png")
    (tmp_path / "p.json").write_text(json.dumps(preprocessor))
    name = {"convnext": "ConvNextImageProcessor", "clip": "CLIPImageProcessor", "vit": "ViTImageProcessor"}[kind]
    theirs = getattr(transformers, name)(**{**preprocessor, "size": preprocessor["size"]})
    if kind == "convnext":
        theirs = getattr(transformers, name)(**{**preprocessor, "size": {"shortest_edge": preprocessor["size"]}})
    expected = theirs(image, return_tensors="np")["pixel_values"][0]
    cut, mean, std = read_preprocessor(tmp_path / "p.json")
    pixels = cut.pixels((tmp_path / "smooth.png").read_bytes())
    ours = (pixels.transpose(2, 0, 1) / 255 - np.array(mean)[:, None, None]) / np.array(std)[:, None, None]
    assert ours.shape == expected.shape
    assert np.abs(ours - expected).max() < 3 / 255 / min(std)


def test_the_cache_knows_the_weights_not_the_place(resnet: str, tmp_path: Path) -> None:
    first = backbones.get(resnet)
    copy = tmp_path / "resnet"
    shutil.copytree(resnet.removeprefix("hf:"), copy)
    moved = backbones.get(f"hf:{copy}")
    cut = first.cut
    assert cut is not None
    assert features_folder(first, cut, tmp_path) == features_folder(moved, cut, tmp_path)
    assert features_folder(first, cut, tmp_path).name.startswith("hf--resnet-64-")
    torch.manual_seed(9)
    transformers.ResNetModel(transformers.ResNetConfig.from_pretrained(copy)).save_pretrained(copy)
    changed = backbones.get(f"hf:{copy}")
    assert features_folder(changed, cut, tmp_path) != features_folder(first, cut, tmp_path)
    Image.new("RGB", (80, 90), "teal").save(tmp_path / "p.png")
    vectors = [extract([tmp_path / "p.png"], one, folder=tmp_path / "cache").vectors for one in (first, moved, changed)]
    assert np.array_equal(vectors[0], vectors[1])
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-3


def test_what_cannot_be_a_backbone_is_refused_in_a_sentence(resnet: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no backbone is there"):
        backbones.get(f"hf:{tmp_path}")
    copy = tmp_path / "copy"
    shutil.copytree(resnet.removeprefix("hf:"), copy)
    (copy / "preprocessor_config.json").write_text("{}")
    with pytest.raises(UserError, match="does not say how pictures are cut"):
        backbones.get(f"hf:{copy}")
    (copy / "preprocessor_config.json").unlink()
    with pytest.raises(UserError, match="no such file"):
        backbones.get(f"hf:{copy}")
    (copy / "preprocessor_config.json").write_text(json.dumps(RESNET))
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    with pytest.raises(UserError, match="no weights in safetensors"):
        backbones.get(f"hf:{copy}")
    (copy / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match="not a backbone that can be used"):
        backbones.get(f"hf:{copy}")


def test_a_classifier_s_weights_are_not_reported_and_missing_ones_are_not_made_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    name = write(tmp_path / "whole", transformers.ResNetForImageClassification(config), RESNET)
    capfd.readouterr()
    backbones.get(name)
    assert "UNEXPECTED" not in "".join(capfd.readouterr())
    weights = tmp_path / "whole" / "model.safetensors"
    kept = {key: value for key, value in load_file(weights).items() if "stages.1" not in key}
    save_file(kept, weights, metadata={"format": "pt"})
    with pytest.raises(UserError, match="its weights are not all there"):
        backbones.get(name)
