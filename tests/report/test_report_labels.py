"""Names on a drawing: for any dots none covers another name or a dot or leaves the frame."""

import math
import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.report.charts.labels import Box, Label, Place, Placed, place_labels

FRAME = Box(40, 20, 740, 360)
ROUND = 4.0

places = st.tuples(st.floats(44, 736), st.floats(24, 356))


def dot(place: Place) -> Box:
    return Box(*place, *place).grown(ROUND)


def label(name: str, *anchors: Place) -> Label:
    return Label(name, 7.0 * len(name), 13.0, anchors)


def one(name: str, anchor: Place, dots: list[Box], frame: Box = FRAME, **more: list[tuple[Place, Place]]) -> Placed:
    (placed,) = place_labels([label(name, anchor)], frame, dots, **more)
    assert placed is not None
    return placed


@given(
    st.lists(st.tuples(st.integers(1, 14), places, places), max_size=14), st.lists(places, max_size=12), st.randoms()
)
@settings(deadline=None, max_examples=40)
def test_names_are_inside_and_cover_nothing(
    given_labels: list[tuple[int, Place, Place]], more: list[Place], shuffler: random.Random
) -> None:
    labels = [label("n" * length, *dict.fromkeys(ends)) for length, *ends in given_labels]
    dots = [dot(place) for place in [*more, *(anchor for each in labels for anchor in each.anchors)]]
    strokes = [(each.anchors[0], each.anchors[-1]) for each in labels]
    placed = place_labels(labels, FRAME, dots, strokes)
    boxes = [each.box for each in placed if each is not None]
    assert all(FRAME.holds(box) for box in boxes)
    assert not any(a.touches(b) for a, b in combinations(boxes, 2))
    assert not any(box.touches(other) for box in boxes for other in dots)
    if len(labels) <= 8 and not more:
        assert len(boxes) == len(labels)
    order = list(range(len(labels)))
    shuffler.shuffle(order)
    again = place_labels([labels[number] for number in order], FRAME, dots, strokes)
    assert {(labels[n], place) for n, place in zip(order, again, strict=True)} == set(zip(labels, placed, strict=True))


def test_a_name_stands_on_the_right_if_it_may() -> None:
    free = one("name", (300, 200), [dot((300, 200))])
    assert (free.box.left > 304, free.leader) == (True, None)
    edge = one("name", (730, 200), [dot((730, 200))])
    assert (edge.box.right < 726, edge.leader) == (True, None)


def test_a_name_keeps_off_lines_and_off_the_dots_of_others() -> None:
    line = ((315.0, 100.0), (315.0, 300.0))
    assert one("name", (300, 200), [dot((300, 200))], strokes=[line]).box.right < 300
    assert one("name", (300, 200), [dot((300, 200)), dot((341, 200))]).box.right < 300


def test_a_name_that_is_moved_away_has_a_line_to_its_dot() -> None:
    """All around the dot there are others."""
    near = [(300.0 + x, 200.0 + y) for x in range(-30, 31, 10) for y in range(-20, 21, 10)]
    placed = one("name", (300, 200), [dot(place) for place in near])
    assert placed.leader is not None
    start, end = placed.leader
    assert math.dist(start, (300, 200)) == 0
    assert placed.box.nearest(end) == end


def test_a_name_without_room_has_no_place() -> None:
    assert place_labels([label("a long name", (50, 30))], Box(40, 20, 100, 60), []) == [None]


def test_names_of_dots_at_the_same_place_stand_apart() -> None:
    first, second = place_labels([label("a", (300, 200)), label("a", (300, 200))], FRAME, [dot((300, 200))])
    assert first is not None
    assert second is not None
    assert not first.box.touches(second.box)


def test_strokes_across_a_box() -> None:
    box = Box(0, 0, 10, 10)
    assert box.is_crossed(((-5, 5), (15, 5)))
    assert box.is_crossed(((2, 2), (3, 3)))
    assert box.is_crossed(((-1, 8), (3, 12)))
    assert not box.is_crossed(((-5, 8), (3, 16)))
    assert not box.is_crossed(((-5, 11), (15, 11)))
    assert not box.is_crossed(((11, 5), (20, 5)))
