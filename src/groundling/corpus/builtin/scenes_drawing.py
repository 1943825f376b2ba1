"""Draws scenes: one sprite per kind, colour and size, made once, put on a pale ground.

What is hidden looks hidden: a thing in the shade is grey, a thing behind frosted glass is a blur of its colour, and a
closed box is a crate that fills its cell.
"""

import math
from functools import cache
from pathlib import Path
from random import Random

from PIL import Image, ImageDraw, ImageFilter

from groundling.corpus.builtin.scenes_world import COLUMNS, Scene
from groundling.files import atomic_path

SIZE = 144  # pixels per side
_CELL = SIZE // COLUMNS
_FINE = 4  # sprites are drawn so many times larger
_GROUND, _OUTLINE, _SHADE = (222, 226, 230), (60, 60, 66), (140, 140, 144)
_RADIUS = {"big": 20.0, "small": 11.0}
_PAINT = {
    "red": (214, 40, 40),
    "blue": (38, 84, 214),
    "green": (34, 150, 62),
    "yellow": (250, 208, 30),
    "black": (24, 24, 26),
    "white": (255, 255, 255),
}
_TRUNK, _CRATE, _SLAT = (120, 80, 44), (196, 150, 96), (128, 88, 46)
Colour = tuple[int, int, int]
Point = tuple[float, float]


def draw(scene: Scene, path: Path, name: str) -> None:
    """The scene as a PNG file; `name` decides by how many pixels things are off the middle of their cells."""
    with atomic_path(path) as temporary:
        picture(scene, name).save(temporary, "PNG")


def picture(scene: Scene, name: str) -> Image.Image:
    random = Random(name)
    canvas = Image.new("RGB", (SIZE, SIZE), _GROUND)
    for item in scene:
        sprite = _sprite(item.size, item.colour, item.kind, item.box)
        room = (_CELL - sprite.width) // 2
        slack = min(4, room + 2) if item.kind else 1
        across, down = (int(random.random() * (2 * slack + 1)) - slack for _ in range(2))
        left, top = item.cell % COLUMNS * _CELL + room + across, item.cell // COLUMNS * _CELL + room + down
        canvas.paste(sprite, (left, top), sprite)
    return canvas


@cache
def _sprite(size: str | None, colour: str | None, kind: str | None, box: bool) -> Image.Image:
    if box or size is None:
        return _crate()
    radius = _RADIUS[size]
    paint = _SHADE if colour is None else _PAINT[colour]
    return _blur(radius, paint) if kind is None else _figure(kind, radius, paint)


def _figure(kind: str, radius: float, paint: Colour) -> Image.Image:
    side = int(2 * radius + 4)
    image = Image.new("RGBA", (side * _FINE, side * _FINE), (*_GROUND, 0))
    draw = ImageDraw.Draw(image)
    pen = round(1.3 * _FINE)

    def at(points: list[Point]) -> list[Point]:
        """Unit coordinates, y downwards, to pixels."""
        return [((side / 2 + x * radius) * _FINE, (side / 2 + y * radius) * _FINE) for x, y in points]

    def polygon(points: list[Point], fill: Colour = paint) -> None:
        corners = at(points)
        draw.polygon(corners, fill=fill)
        draw.line([*corners, corners[0], corners[1]], fill=_OUTLINE, width=pen, joint="curve")

    def disc(x: float, y: float, r: float, fill: Colour = paint) -> None:
        (left, top), (right, bottom) = at([(x - r, y - r), (x + r, y + r)])
        draw.ellipse((left, top, right, bottom), fill=fill, outline=_OUTLINE, width=pen)

    if kind == "ball":
        disc(0, 0, 0.92)
        for bend in (-1, 1):  # two seams, so that it is not just a disc
            (left, top), (right, bottom) = at([(bend * 1.15 - 0.8, -0.8), (bend * 1.15 + 0.8, 0.8)])
            draw.arc((left, top, right, bottom), *((-50, 50) if bend < 0 else (130, 230)), fill=_OUTLINE, width=pen)
    elif kind == "triangle":
        polygon([(0, -0.9), (0.95, 0.8), (-0.95, 0.8)])
    elif kind == "star":
        tips = [(math.pi * (at_tip / 5 - 0.5), 1.0 if at_tip % 2 == 0 else 0.42) for at_tip in range(10)]
        polygon([(far * math.cos(angle), far * math.sin(angle) + 0.06) for angle, far in tips])
    elif kind == "heart":
        turns = [2 * math.pi * step / 60 for step in range(60)]
        polygon([_heart(turn) for turn in turns])
    elif kind == "house":
        polygon([(-0.75, 0.9), (-0.75, -0.05), (0.75, -0.05), (0.75, 0.9)])
        polygon([(-0.98, -0.05), (0, -0.95), (0.98, -0.05)])
        polygon([(-0.2, 0.9), (-0.2, 0.35), (0.2, 0.35), (0.2, 0.9)], _GROUND)
    elif kind == "tree":
        polygon([(-0.15, 0.95), (-0.15, 0.3), (0.15, 0.3), (0.15, 0.95)], _TRUNK)
        turns = [2 * math.pi * step / 80 for step in range(80)]
        leaves = [(0.62 + 0.07 * math.cos(8 * turn), turn) for turn in turns]
        polygon([(far * 1.15 * math.cos(turn), far * math.sin(turn) - 0.28) for far, turn in leaves])
    elif kind == "fish":
        polygon([(0.3, 0.0), (0.98, -0.5), (0.98, 0.5)])
        turns = [2 * math.pi * step / 60 for step in range(60)]
        polygon([(0.75 * math.cos(turn) - 0.2, 0.5 * math.sin(turn)) for turn in turns])
        disc(-0.6, -0.12, 0.08, _OUTLINE if paint != _PAINT["black"] else _GROUND)
    else:  # flower
        for petal in range(5):
            angle = 2 * math.pi * petal / 5 - math.pi / 2
            disc(0.55 * math.cos(angle), 0.55 * math.sin(angle), 0.4)
        disc(0, 0, 0.3, _GROUND)
    return image.reduce(_FINE)


def _heart(turn: float) -> Point:
    x = 16 * math.sin(turn) ** 3
    y = 13 * math.cos(turn) - 5 * math.cos(2 * turn) - 2 * math.cos(3 * turn) - math.cos(4 * turn)
    return x / 17, -(y + 2.5) / 17


def _blur(radius: float, paint: Colour) -> Image.Image:
    """A pane of frosted glass, and a soft spot of the thing's colour and size in it."""
    side = _CELL - 4
    pane = (186, 199, 214)
    image = Image.new("RGB", (side, side), pane)
    middle = side / 2
    reach = radius * 0.8
    ImageDraw.Draw(image).ellipse((middle - reach, middle - reach, middle + reach, middle + reach), fill=paint)
    image = image.filter(ImageFilter.GaussianBlur(radius * 0.28))
    draw = ImageDraw.Draw(image)
    for step in range(-side, side, 6):  # the glass
        draw.line((step, side, step + side, 0), fill=pane)
    draw.rectangle((0, 0, side - 1, side - 1), outline=(120, 136, 152), width=2)
    return image.convert("RGBA")


def _crate() -> Image.Image:
    side = _CELL - 4
    image = Image.new("RGBA", (side, side), (*_CRATE, 255))
    draw = ImageDraw.Draw(image)
    for line in ((0, 0, side, side), (0, side, side, 0)):
        draw.line(line, fill=_SLAT, width=4)
    draw.rectangle((0, 0, side - 1, side - 1), outline=_SLAT, width=4)
    return image
