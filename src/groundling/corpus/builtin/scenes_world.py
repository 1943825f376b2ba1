"""The small world of the scenes: things in a grid of three by three, some of them partly hidden, and what can be said.

A picture need not show everything. A thing in the shade shows no colour, a thing behind frosted glass shows no kind,
and a closed box shows not even whether anything is in it. What is hidden is one of the values below and nothing else.
"""

from dataclasses import dataclass

KINDS = ("ball", "triangle", "star", "heart", "house", "tree", "fish", "flower")
COLOURS = ("red", "blue", "green", "yellow", "black", "white")
SIZES = ("big", "small")
RELATIONS = ("left", "right", "above", "below")
COLUMNS = ROWS = 3


@dataclass(frozen=True, order=True)
class Item:
    """What stands in one cell; None is what the picture does not show. A box holds one thing, or nothing."""

    cell: int  # 0 … 8, row by row from the top left
    size: str | None
    colour: str | None
    kind: str | None
    box: bool = False


Scene = tuple[Item, ...]  # in the order of the cells


@dataclass(frozen=True)
class Thing:
    """What a statement says of a thing; None is what it does not say. Without a kind it is "an object"."""

    size: str | None = None
    colour: str | None = None
    kind: str | None = None


@dataclass(frozen=True)
class Exists:
    """At least one such thing is there."""

    thing: Thing


@dataclass(frozen=True)
class Absent:
    """No such thing is there."""

    thing: Thing


@dataclass(frozen=True)
class Count:
    """Exactly so many such things are there."""

    number: int
    thing: Thing


@dataclass(frozen=True)
class Beside:
    """At least one such thing is in a column further left (or right), or a row further up (or down), than such another.

    How far up or down does not matter for left and right, nor how far to the side for above and below.
    """

    thing: Thing
    relation: str
    other: Thing


@dataclass(frozen=True)
class More:
    """There are more things of the one kind (or colour) than of the other."""

    thing: Thing
    other: Thing


Statement = Exists | Absent | Count | Beside | More
