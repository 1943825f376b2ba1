"""Ten crops: which squares they are, that features are their mean, and that older features are still found."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch import Tensor

from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision.backbones import Backbone
from groundling.vision.cache import extract, features_folder
from groundling.vision.from_settings import preprocessing_of
from groundling.vision.preprocessing import Preprocessing


def lopsided(x: Tensor) -> Tensor:
    """Features that see left and right, and above and below, differently."""
    return torch.cat([x[..., : x.shape[-1] // 2].mean((2, 3)), x[:, :, 0].amax(2)], dim=1)


TINY = Backbone("tiny", 6, 8, lopsided)


def smooth(width: int, height: int) -> Image.Image:
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([x, y, 255 - (x + y) / 2], axis=-1).astype(np.uint8))


def encoded(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@settings(deadline=None, max_examples=30)
@given(width=st.integers(4, 90), height=st.integers(4, 90), size=st.integers(4, 20), border=st.integers(1, 8))
def test_the_squares_are_the_corners_and_the_centre(width: int, height: int, size: int, border: int) -> None:
    image, resize = smooth(width, height), size + border
    across, down = (max(resize, int(side * resize / min(image.size))) for side in image.size)
    scaled = image.resize((across, down), Image.Resampling.BICUBIC)
    right, below = across - size, down - size
    places = [(0, 0), (right, 0), (0, below), (right, below), (round(right / 2), round(below / 2))]
    twins = [np.asarray(scaled.crop((x, y, x + size, y + size))).astype(int) for x, y in places]
    squares = Preprocessing(size, resize, crops=10).pixels(encoded(image)).astype(int)
    assert squares.shape == (5, size, size, 3)
    assert (
        np.abs(squares - np.stack(twins)).max() <= 5
    )  # of 255: a picture of four pixels is made larger, and its edge differs
    assert np.array_equal(squares[4], Preprocessing(size, resize).pixels(encoded(image)))


def test_features_are_the_mean_of_five_squares_and_their_mirror_images(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    paths = [tmp_path / f"{number}.png" for number in range(7)]
    for path in paths:
        Image.fromarray(draw.integers(0, 256, (12, 15, 3), dtype=np.uint8)).save(path)
    cut = Preprocessing(8, 10, crops=10)
    found = extract(paths, TINY, cut, batch=11, folder=tmp_path / "cache").vectors
    for path, vector in zip(paths, found, strict=True):
        squares = torch.from_numpy(cut.pixels(path.read_bytes())).permute(0, 3, 1, 2)
        ten = torch.cat([TINY.encode(squares), TINY.encode(squares.flip(3))])
        np.testing.assert_allclose(vector, ten.mean(dim=0).numpy(), atol=1e-5)
    centre = extract(paths, TINY, Preprocessing(8, 10), folder=tmp_path / "cache").vectors
    assert np.abs(centre - found).max() > 0.01
    np.testing.assert_array_equal(extract(paths, TINY, cut, folder=tmp_path / "cache").vectors, found)


def test_other_cuts_have_other_folders_and_old_ones_keep_theirs(tmp_path: Path) -> None:
    cuts = [
        Preprocessing(8, 10),
        Preprocessing(8, 10, mirror=True),
        Preprocessing(8, 10, crops=10),
        Preprocessing(8, 8, stretch=True),
        Preprocessing(8, 8),
        Preprocessing(8, 10, resample="bilinear"),
    ]
    other_weights = Backbone("tiny", 6, 8, lopsided, fingerprint="ab")
    places = {features_folder(TINY, cut, tmp_path) for cut in cuts} | {
        features_folder(other_weights, cuts[0], tmp_path)
    }
    assert len(places) == 7
    # As it was named before there were crops: features that were computed then are found.
    assert features_folder(TINY, cuts[0], tmp_path).name == "tiny-8-41a0563f"


def test_a_recipe_asks_for_ten_crops() -> None:
    own = Backbone("own", 6, 448, lopsided)
    cut = preprocessing_of(FeatureSettings(crops=10), own)
    assert (cut.size, cut.resize, cut.crops, cut.mirror) == (448, 512, 10, True)
    assert cut == preprocessing_of(FeatureSettings(crops=10, mirror=True), own)
    without_border = Backbone("clip", 6, 224, lopsided, cut=Preprocessing(224, 224))
    assert preprocessing_of(FeatureSettings(crops=10), without_border).resize == 256
    assert preprocessing_of(FeatureSettings(), without_border).resize == 224
    with pytest.raises(UserError, match="leave out --whole"):
        preprocessing_of(FeatureSettings(crops=10, crop=False), own)
    with pytest.raises(UserError, match="larger than they are"):
        Preprocessing(8, 8, crops=10)
