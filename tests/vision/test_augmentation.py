"""Parts of pictures: against torch's grid_sample and a slow loop, and what must hold for every draw."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from pictures import write_pictures
from torch import Tensor
from torch.nn.functional import grid_sample

from groundling.vision.augmentation import (
    Boxes,
    Cropping,
    centre_boxes,
    cut,
    jittered,
    normalised,
    random_boxes,
    whole_boxes,
)
from groundling.vision.picture_cache import Pictures, decode_pictures
from groundling.vision.picture_store import PictureStore

SIZES = [(7, 9), (12, 5), (1, 6), (8, 8)]


def some_pictures(seed: int = 0) -> tuple[list[Tensor], Tensor, Tensor, Tensor]:
    """Pictures of several shapes, the same one after another, where each begins, and their sizes."""
    draw = torch.Generator().manual_seed(seed)
    pictures = [torch.randint(0, 256, (*size, 3), dtype=torch.uint8, generator=draw) for size in SIZES]
    counts = torch.tensor([height * width for height, width in SIZES])
    return pictures, torch.cat([p.reshape(-1, 3) for p in pictures]), counts.cumsum(0) - counts, torch.tensor(SIZES)


def by_grid_sample(picture: Tensor, corner: Tensor, size: Tensor, mirrored: bool, side: int) -> Tensor:
    """[3, side, side] the part of one picture, by torch's own function."""
    height, width = picture.shape[:2]
    steps = (torch.arange(side) + 0.5) / side
    rows = (corner[0] + steps * size[0]) / height * 2 - 1
    columns = (corner[1] + (steps.flip(0) if mirrored else steps) * size[1]) / width * 2 - 1
    grid = torch.stack([columns[None, :].expand(side, -1), rows[:, None].expand(-1, side)], dim=-1)
    image = picture.permute(2, 0, 1)[None].float()
    return grid_sample(image, grid[None], mode="bilinear", padding_mode="border", align_corners=False)[0]


def by_loop(picture: Tensor, corner: Tensor, size: Tensor, side: int) -> np.ndarray:
    """The same pixel by pixel, without mirror."""
    pixels, (height, width, _) = picture.numpy().astype(float), picture.shape
    result = np.zeros((3, side, side))
    for i in range(side):
        for j in range(side):
            y = min(max(float(corner[0]) + (i + 0.5) / side * float(size[0]) - 0.5, 0), height - 1)
            x = min(max(float(corner[1]) + (j + 0.5) / side * float(size[1]) - 0.5, 0), width - 1)
            for row in (math.floor(y), math.floor(y) + 1):
                for column in (math.floor(x), math.floor(x) + 1):
                    weight = max(0, 1 - abs(y - row)) * max(0, 1 - abs(x - column))
                    if weight:
                        result[:, i, j] += weight * pixels[row, column]
    return result


@pytest.mark.parametrize("side", [3, 6, 11])
def test_random_parts_are_those_of_grid_sample_and_of_a_slow_loop(side: int) -> None:
    pictures, pixels, first, sizes = some_pictures()
    boxes = random_boxes(sizes, Cropping(area=(0.1, 1.0)), torch.Generator().manual_seed(side))
    parts = cut(pixels, first, sizes, boxes, side)
    for n, picture in enumerate(pictures):
        box = boxes.corner[n], boxes.size[n]
        torch.testing.assert_close(
            parts[n], by_grid_sample(picture, *box, bool(boxes.mirrored[n]), side), atol=1e-2, rtol=0
        )
        straight = parts[n].flip(2) if boxes.mirrored[n] else parts[n]
        np.testing.assert_allclose(straight.numpy(), by_loop(picture, *box, side), atol=1e-2)


def test_a_box_that_reaches_beyond_its_picture_goes_on_with_the_edge() -> None:
    pictures, pixels, first, sizes = some_pictures()
    boxes = Boxes(torch.full((4, 2), -3.0), sizes + 6.0, torch.zeros(4, dtype=torch.bool))
    parts = cut(pixels, first, sizes, boxes, 24)
    for n, picture in enumerate(pictures):
        torch.testing.assert_close(parts[n, :, 0, 0], picture[0, 0].float())  # not a pixel of the picture before it
        torch.testing.assert_close(parts[n, :, -1, -1], picture[-1, -1].float())


def test_the_whole_of_a_square_is_itself_and_its_mirror_image_is_turned_round() -> None:
    pictures, pixels, first, sizes = some_pictures()
    square = pictures[3].permute(2, 0, 1).float()
    torch.testing.assert_close(cut(pixels, first, sizes, whole_boxes(sizes), 8)[3], square)
    torch.testing.assert_close(cut(pixels, first, sizes, whole_boxes(sizes, mirrored=True), 8)[3], square.flip(2))
    middle = cut(pixels, first, sizes, centre_boxes(sizes, 0.5), 4)[3]
    torch.testing.assert_close(middle, square[:, 2:6, 2:6])


def test_random_boxes_lie_inside_and_have_the_area_and_shape_that_was_asked_for() -> None:
    sizes = torch.tensor([[300, 400]]).expand(4000, -1)
    boxes = random_boxes(sizes, Cropping(area=(0.2, 0.5), aspect=1.25, flip=0.3), torch.Generator().manual_seed(1))
    assert (boxes.corner >= 0).all() and (boxes.corner + boxes.size <= sizes + 1e-3).all()
    shares = boxes.size.prod(dim=1) / (300 * 400)
    assert 0.2 <= shares.min() < 0.21 and 0.49 < shares.max() <= 0.5 + 1e-6
    aspects = boxes.size[:, 1] / boxes.size[:, 0]
    assert 0.8 <= aspects.min() < 0.81 and 1.24 < aspects.max() <= 1.25 + 1e-6
    assert abs(float(boxes.mirrored.float().mean()) - 0.3) < 0.03
    free = boxes.corner / (sizes - boxes.size)
    assert abs(float(free.mean()) - 0.5) < 0.02 and free.min() < 0.01 and free.max() > 0.99
    whole = random_boxes(sizes, Cropping(area=(1.0, 1.0)))  # never larger than the picture, whatever its shape
    assert (whole.size <= sizes).all()


def test_draws_are_told_by_their_generator() -> None:
    _, pixels, first, sizes = some_pictures()
    one, same, other = (
        cut(pixels, first, sizes, random_boxes(sizes, Cropping(), torch.Generator().manual_seed(seed)), 5)
        for seed in (1, 1, 2)
    )
    assert torch.equal(one, same) and not torch.equal(one, other)


def test_jitter_changes_light_and_not_grey_pictures_colour() -> None:
    grey = torch.rand(6, 1, 5, 5).expand(-1, 3, -1, -1) * 255
    changed = jittered(grey, 0.4, torch.Generator().manual_seed(0))
    assert not torch.allclose(changed, grey)
    torch.testing.assert_close(changed[:, 0], changed[:, 2])
    assert changed.min() >= 0 and changed.max() <= 255
    colours = torch.rand(2, 3, 5, 5) * 255
    torch.testing.assert_close(jittered(colours, 0.0), colours)


def test_normalised_as_a_network_expects() -> None:
    pictures = torch.tensor([0.0, 127.5, 255.0])[None, :, None, None]
    mean, deviation = torch.tensor([0.5, 0.5, 0.25]), torch.tensor([0.5, 0.25, 0.25])
    torch.testing.assert_close(normalised(pictures, mean, deviation).flatten(), torch.tensor([-1.0, 0.0, 3.0]))


@pytest.fixture
def decoded(tmp_path: Path) -> Pictures:
    paths = write_pictures(tmp_path / "photos", [(40, 60), (50, 30), (32, 32), (64, 36)])
    return decode_pictures(paths, side=32, folder=tmp_path / "cache")


def test_pictures_of_a_batch_are_the_same_resident_or_sent(decoded: Pictures) -> None:
    stores = [
        PictureStore(decoded, 16, (0.5, 0.4, 0.3), (0.2, 0.3, 0.4), torch.device("cpu"), 0.8, resident=resident)
        for resident in (True, False)
    ]
    assert not PictureStore(decoded, 16, (0, 0, 0), (1, 1, 1), torch.device("cpu")).resident
    for rows in (np.array([2, 0]), np.array([3, 1]), np.array([1, 1, 3])):
        found = []
        for store in stores:
            torch.manual_seed(7)
            store.stage(rows)
            chosen = torch.from_numpy(rows)
            found.append(
                (store.random(chosen, Cropping(jitter=0.1)), store.centres(chosen), store.centres(chosen, True))
            )
        for one, other in zip(*found, strict=True):
            torch.testing.assert_close(one, other)
            assert one.is_contiguous(memory_format=torch.channels_last)
    centre = stores[0].centres(torch.tensor([2]))[0]
    picture = torch.from_numpy(decoded[2].copy())
    box = torch.full((2,), 3.2), torch.full((2,), 25.6)
    wanted = by_grid_sample(picture, *box, False, 16) / 255
    wanted = (wanted - torch.tensor([0.5, 0.4, 0.3])[:, None, None]) / torch.tensor([0.2, 0.3, 0.4])[:, None, None]
    torch.testing.assert_close(centre, wanted, atol=1e-3, rtol=0)
