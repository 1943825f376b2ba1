"""Draws scenes. Dev and test have combinations of colour and kind that training never shows.

Only `Random.random` is used, whose numbers Python promises never to change: a seed is the same corpus everywhere.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from groundling.corpus.builtin.scenes_world import COLOURS, COLUMNS, KINDS, ROWS, SIZES, Item, Scene

HELD_OUT = {
    "dev": frozenset((COLOURS[at % 6], kind) for at, kind in enumerate(KINDS)),
    "test": frozenset((COLOURS[(at + 3) % 6], kind) for at, kind in enumerate(KINDS)),
}
SHOWN = [
    (colour, kind)
    for colour in COLOURS
    for kind in KINDS
    if not any((colour, kind) in held for held in HELD_OUT.values())
]
_NUMBER = {"train": (1, 2, 2, 2, 3, 3, 3, 4, 4, 4), "dev": (2, 2, 3, 3, 3, 4, 4, 4)}
_NUMBER["test"] = _NUMBER["dev"]

Value = TypeVar("Value")


def scenes(split: str, number: int, seed: int) -> list[Scene]:
    """So many different scenes; fewer are the beginning of more."""
    random = Random(f"scenes {seed} {split}")
    found: dict[Scene, None] = {}
    while len(found) < number:
        found.setdefault(_scene(split, random))
    return list(found)


def _scene(split: str, random: Random) -> Scene:
    cells = list(range(COLUMNS * ROWS))
    number = _pick(_NUMBER[split], random)
    items = [_item(cells.pop(int(random.random() * len(cells))), split, random)]
    if split in HELD_OUT:  # the first thing is a new combination, and is seen
        colour, kind = _pick(sorted(HELD_OUT[split]), random)
        items = [Item(items[0].cell, items[0].size, colour, kind)]
    while len(items) < number:
        items.append(_item(cells.pop(int(random.random() * len(cells))), split, random, items[-1]))
    seen = 1 if split in HELD_OUT else 0
    for place in {seen + int(random.random() * (number - seen)) for _ in range(_pick((1, 1, 2), random))}:
        no_box = number == 1 or any(item.box for item in items)
        items[place] = _hidden(items[place], no_box, random)
    return tuple(sorted(items, key=lambda item: item.cell))


def _item(cell: int, split: str, random: Random, like: Item | None = None) -> Item:
    """A thing, perhaps of the kind or of the colour of another one: else nothing would be there twice or thrice."""
    allowed = [*SHOWN, *sorted(HELD_OUT.get(split, ()))]
    wish = random.random()
    if like is not None and wish < 0.7:
        place, wanted = (1, like.kind) if wish < 0.35 else (0, like.colour)
        allowed = [pair for pair in allowed if pair[place] == wanted]
    colour, kind = _pick(allowed, random)
    return Item(cell, _pick(SIZES, random), colour, kind)


def _hidden(item: Item, no_box: bool, random: Random) -> Item:
    """One box at most, and never alone: nothing would be certain of the scene."""
    wish = random.random()
    if wish < 0.3 and not no_box:
        return Item(item.cell, None, None, None, box=True)
    if wish < 0.65:
        return Item(item.cell, item.size, None, item.kind)
    return Item(item.cell, item.size, item.colour, None)


def _pick(values: Sequence[Value], random: Random) -> Value:
    return values[int(random.random() * len(values))]
