"""Several views of each picture: which they are, how they are cached, and that their mean is what others see."""

from pathlib import Path

import numpy as np
import pytest
import torch
from pictures import write_pictures
from PIL import Image
from torch import Tensor

from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision.backbones import Backbone
from groundling.vision.cache import extract, features_folder
from groundling.vision.from_settings import preprocessing_of
from groundling.vision.preprocessing import Preprocessing

CUT = Preprocessing(16, 20, views=9)


def corners(pictures: Tensor) -> Tensor:
    """[B, 6] red and green of three places: tells parts of a picture, and mirror images, from each other."""
    return torch.cat([pictures[:, :2, 0, 0], pictures[:, :2, 0, -1], pictures[:, :2, -1, -1]], dim=1)


BACKBONE = Backbone("corners", 6, 16, corners, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))


def test_the_views_of_a_picture(tmp_path: Path) -> None:
    wide, high = write_pictures(tmp_path, [(40, 80), (80, 40)])
    views = CUT.pixels(wide.read_bytes())
    assert views.shape == (9, 16, 16, 3)
    image = Image.open(wide)

    def cut(*box: float) -> Image.Image:
        return image.resize((16, 16), Image.Resampling.BICUBIC, box=box)

    usual = Preprocessing(16, 20).pixels(wide.read_bytes())
    assert np.abs(views[0].astype(int) - usual).max() <= 3  # the usual one, up to where a pixel begins
    for view, box in ((1, (0, 0, 80, 40)), (2, (0, 4, 32, 36)), (3, (48, 4, 80, 36))):
        part = np.asarray(cut(*box))
        np.testing.assert_array_equal(views[view], part[:, ::-1] if view % 2 else part)
    np.testing.assert_array_equal(views, CUT.pixels(wide.read_bytes()))  # the same every time
    assert len({view.tobytes() for view in views}) == 9
    np.testing.assert_array_equal(
        Preprocessing(16, 20, views=2).pixels(high.read_bytes()), CUT.pixels(high.read_bytes())[:2]
    )


def test_features_of_views_are_cached_side_by_side_and_their_mean_is_what_others_see(tmp_path: Path) -> None:
    paths = write_pictures(tmp_path / "photos", [(40, 60), (50, 30), (33, 33)])
    found = extract(paths, BACKBONE, CUT, folder=tmp_path / "cache").vectors
    assert found.shape == (3, 9 * 6)
    pixels = [CUT.pixels(path.read_bytes()) for path in paths]
    np.testing.assert_allclose(found.reshape(3, 9, 6).mean(axis=1), BACKBONE.features(pixels, CUT).numpy(), atol=1e-6)
    blind = Backbone("corners", 6, 16, lambda _: pytest.fail("it is in the cache"), BACKBONE.mean, BACKBONE.std)
    np.testing.assert_array_equal(extract(paths, blind, CUT, folder=tmp_path / "cache").vectors, found)
    assert features_folder(BACKBONE, CUT, tmp_path) != features_folder(BACKBONE, Preprocessing(16, 20), tmp_path)


@pytest.mark.parametrize("other", [{"mirror": True}, {"crop": False}, {"grid": 2}])
def test_what_does_not_go_with_views_is_said(other: dict[str, object]) -> None:
    with pytest.raises(UserError, match=r"features\.views"):
        preprocessing_of(FeatureSettings.model_validate({"views": 4, **other}), BACKBONE)
