"""Where names stand on a drawing: beside what they name, not on each other, not on a dot, not outside.

Greedy: the name with the least room chooses first. What is chosen does not depend on the order that names come in.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Place = tuple[float, float]
Stroke = tuple[Place, Place]  # a straight line that is drawn

BESIDE = 7.0  # from the middle of a dot to its name
DISTANCES = (BESIDE, 12.0, 20.0, 30.0, 42.0, 56.0, 72.0, 90.0, 120.0, 160.0, 210.0)
# Sixteenths of a turn: right, left, above, below, …
DIRECTIONS = (0, 8, 12, 4, 14, 2, 10, 6, 15, 1, 9, 7, 13, 11, 3, 5)
NEAR = 5.0  # a name so near to another's dot may be taken for its name
ON_A_STROKE, NEAR_ANOTHER, LEADER_ON_SOMETHING, LEADER = 22.0, 9.0, 40.0, 12.0  # as bad as so much more distance


@dataclass(frozen=True, order=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: "Box") -> bool:
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    def grown(self, by: float) -> "Box":
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def nearest(self, place: Place) -> Place:
        return min(max(place[0], self.left), self.right), min(max(place[1], self.top), self.bottom)

    def is_crossed(self, stroke: Stroke) -> bool:
        """Whether any part of a straight line is inside: what is left of it after cutting at each of four sides."""
        (x, y), (to_x, to_y) = stroke
        start, end = 0.0, 1.0
        for step, room in (
            (x - to_x, x - self.left),
            (to_x - x, self.right - x),
            (y - to_y, y - self.top),
            (to_y - y, self.bottom - y),
        ):
            if step == 0:
                if room <= 0:
                    return False
            elif step < 0:
                start = max(start, room / step)
            else:
                end = min(end, room / step)
        return start < end


@dataclass(frozen=True, order=True)
class Label:
    """A name, its size, and the dots that it may stand beside: one, or the two ends of a line."""

    name: str
    width: float
    height: float
    anchors: tuple[Place, ...]


@dataclass(frozen=True)
class Placed:
    """Where a name stands; with a leader, a line that leads to its dot, where that is not right beside it."""

    box: Box
    anchor: Place
    leader: Stroke | None = None


def place_labels(
    labels: Sequence[Label], frame: Box, dots: Sequence[Box], strokes: Sequence[Stroke] = ()
) -> list[Placed | None]:
    """A place for each label; None for one that there is no room for.

    No label touches another or a dot, and none leaves the frame. On lines labels stand only where it is better than
    to be far from what they name.
    """
    free = []
    for label in labels:
        near = (box for anchor in label.anchors for box in _around(label, anchor, BESIDE))
        free.append(sum(frame.holds(box) and not any(map(box.touches, dots)) for box in near))
    taken: list[Box] = []
    drawn = list(strokes)
    placed: list[Placed | None] = [None] * len(labels)
    for number in sorted(range(len(labels)), key=lambda number: (free[number], labels[number])):
        best = placed[number] = _best(labels[number], frame, dots, taken, drawn)
        if best is not None:
            taken.append(best.box)
            drawn += [best.leader] if best.leader else []
    return placed


def _best(
    label: Label, frame: Box, dots: Sequence[Box], taken: Sequence[Box], strokes: Sequence[Stroke]
) -> Placed | None:
    best, least = None, math.inf
    for distance, anchor, box in _candidates(label, frame):
        if distance >= least:  # nothing makes a place better than its distance
            continue
        if not frame.holds(box) or any(map(box.touches, taken)) or any(map(box.touches, dots)):
            continue
        others = [dot for dot in dots if dot.nearest(anchor) != anchor]
        badness = distance + ON_A_STROKE * sum(map(box.is_crossed, strokes))
        badness += NEAR_ANOTHER * any(map(box.grown(NEAR).touches, others))
        leader = None
        if distance > DISTANCES[1]:
            leader = (anchor, box.nearest(anchor))
            badness += LEADER + LEADER_ON_SOMETHING * sum(thing.is_crossed(leader) for thing in (*others, *taken))
        if badness < least:
            best, least = Placed(box, anchor, leader), badness
    return best


def _candidates(label: Label, frame: Box) -> Iterator[tuple[float, Place, Box]]:
    """Places around the dots, nearer ones first; then, for want of these, all over the frame."""
    for distance in DISTANCES:
        for anchor in label.anchors:
            for box in _around(label, anchor, distance):
                yield distance, anchor, box
    top = frame.top
    while top + label.height <= frame.bottom:
        left = frame.left
        while left + label.width <= frame.right:
            box = Box(left, top, left + label.width, top + label.height)
            anchor = min(label.anchors, key=lambda anchor: math.dist(anchor, box.nearest(anchor)))
            yield DISTANCES[-1] + math.dist(anchor, box.nearest(anchor)), anchor, box
            left += 12
        top += label.height / 2


def _around(label: Label, anchor: Place, distance: float) -> Iterator[Box]:
    """Boxes whose side or corner is so far away."""
    for direction in DIRECTIONS:
        x, y = math.cos(direction * math.pi / 8), math.sin(direction * math.pi / 8)
        sideways, down = (max(-1.0, min(1.0, 1.5 * part)) for part in (x, y))
        middle = anchor[0] + distance * x + sideways * label.width / 2
        height = anchor[1] + distance * y + down * label.height / 2
        half, tall = label.width / 2, label.height / 2
        yield Box(middle - half, height - tall, middle + half, height + tall)
