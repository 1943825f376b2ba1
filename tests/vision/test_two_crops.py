"""Two crops: the centre and the whole made square, on the host and on the device."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from groundling.errors import UserError
from groundling.settings import FeatureSettings
from groundling.vision.backbones import Backbone
from groundling.vision.from_settings import preprocessing_of
from groundling.vision.picture_cache import decode_pictures
from groundling.vision.picture_store import PictureStore
from groundling.vision.preprocessing import Preprocessing
from groundling.vision.tuning import features_of


def striped(width: int, height: int) -> Image.Image:
    """Red on the left fifth, green in the middle, blue on the right fifth."""
    pixels = np.zeros((height, width, 3), dtype=np.uint8)
    pixels[:, :, 1] = 200
    pixels[:, : width // 5] = (250, 0, 0)
    pixels[:, -(width // 5) :] = (0, 0, 250)
    return Image.fromarray(pixels)


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def mean_colour(pictures: torch.Tensor) -> torch.Tensor:
    """[n, 3, side, side] → [n, 3]: a network whose features can be worked out by hand."""
    return pictures.mean(dim=(2, 3))


COLOURS = Backbone("colours", 3, 16, mean_colour, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


def test_the_whole_shows_the_ends_that_the_centre_leaves_out() -> None:
    whole, centre = Preprocessing(8, 8, crops=2).pixels(png(striped(100, 50)))
    assert np.abs(whole[:, 0] - np.array([250, 0, 0])).max() < 20
    assert np.abs(whole[:, -1] - np.array([0, 0, 250])).max() < 20
    assert np.abs(centre - np.array([0, 200, 0])).max() < 20


def test_features_are_the_mean_of_both() -> None:
    cut = preprocessing_of(FeatureSettings(crops=2), COLOURS)
    squares = cut.pixels(png(striped(100, 50)))
    assert cut.parts == len(squares) == 2
    by_hand = squares.reshape(2, -1, 3).mean(axis=1).mean(axis=0) / 255
    assert COLOURS.features([squares], cut)[0].numpy() == pytest.approx(by_hand, abs=1e-6)


def test_the_device_sees_what_the_host_sees(tmp_path: Path) -> None:
    paths = []
    for number, size in enumerate([(40, 16), (16, 16), (16, 32)]):
        paths.append(tmp_path / f"{number}.png")
        striped(*size).save(paths[-1])
    settings = FeatureSettings(crops=2, mirror=True)
    cut = preprocessing_of(settings, COLOURS)
    on_host = COLOURS.features([cut.pixels(path.read_bytes()) for path in paths], cut)
    pictures = decode_pictures(paths, 16, folder=tmp_path / "cache", strict=True)
    store = PictureStore(pictures, 16, COLOURS.mean, COLOURS.std, torch.device("cpu"))
    on_device = features_of(mean_colour, store, settings)
    assert on_device.numpy() == pytest.approx(on_host.numpy(), abs=0.03)  # one interpolates, the other averages
    alone = features_of(mean_colour, store, FeatureSettings(mirror=True))
    assert abs(alone[0, 0] - on_device[0, 0]) > 0.05  # the centre alone has no red


def test_the_whole_picture_twice_is_refused() -> None:
    with pytest.raises(UserError, match="show the whole picture already"):
        preprocessing_of(FeatureSettings(crops=2, crop=False), COLOURS)
