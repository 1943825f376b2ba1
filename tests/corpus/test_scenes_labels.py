"""Labels of scenes against the slow truth: every world that a picture leaves open, one by one."""

from itertools import product
from random import Random

import pytest

from groundling.corpus.builtin.scenes_labels import Labels
from groundling.corpus.builtin.scenes_sampling import scenes
from groundling.corpus.builtin.scenes_statements import draw, forms
from groundling.corpus.builtin.scenes_world import (
    COLOURS,
    KINDS,
    SIZES,
    Absent,
    Beside,
    Count,
    Exists,
    Item,
    More,
    Scene,
    Statement,
    Thing,
)
from groundling.corpus.entailment import LABELS

Solid = tuple[int, str, str, str]  # cell, size, colour, kind: nothing hidden


def worlds(scene: Scene) -> list[list[Solid]]:
    """Everything that may be behind a picture."""
    choices: list[list[Solid | None]] = []
    for item in scene:
        sizes = SIZES if item.size is None else (item.size,)
        colours = COLOURS if item.colour is None else (item.colour,)
        kinds = KINDS if item.kind is None else (item.kind,)
        filled: list[Solid | None] = [(item.cell, *values) for values in product(sizes, colours, kinds)]
        choices.append([*filled, None] if item.box else filled)
    return [[solid for solid in world if solid is not None] for world in product(*choices)]


def is_such(solid: Solid, thing: Thing) -> bool:
    _, size, colour, kind = solid
    return thing.size in (None, size) and thing.colour in (None, colour) and thing.kind in (None, kind)


def number_of(world: list[Solid], thing: Thing) -> int:
    return sum(is_such(solid, thing) for solid in world)


def is_true(statement: Statement, world: list[Solid]) -> bool:
    if isinstance(statement, Exists):
        return number_of(world, statement.thing) > 0
    if isinstance(statement, Absent):
        return number_of(world, statement.thing) == 0
    if isinstance(statement, Count):
        return number_of(world, statement.thing) == statement.number
    if isinstance(statement, More):
        return number_of(world, statement.thing) > number_of(world, statement.other)
    for one in world:
        for other in world:
            if is_such(one, statement.thing) and is_such(other, statement.other):
                (row, column), (other_row, other_column) = divmod(one[0], 3), divmod(other[0], 3)
                if {
                    "left": column < other_column,
                    "right": column > other_column,
                    "above": row < other_row,
                    "below": row > other_row,
                }[statement.relation]:
                    return True
    return False


def slow_label(statement: Statement, scene: Scene) -> str:
    truths = {is_true(statement, world) for world in worlds(scene)}
    return {(True,): "entailment", (False,): "contradiction"}.get(tuple(truths), "neutral")


def fast_label(statement: Statement, scene: Scene) -> str:
    return LABELS[Labels([scene])(statement)[0]]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_every_label_made_is_the_one_all_worlds_agree_on(split: str) -> None:
    world = scenes(split, 150, seed=7)
    made = draw(world, Random("x"))
    assert len(made) > 300
    for scene, statement, label in made:
        assert slow_label(statement, world[scene]) == LABELS[label], (statement, world[scene])


def test_statements_nobody_chose_are_right_too() -> None:
    world = scenes("train", 40, seed=1)
    labels = Labels(world)
    random = Random("y")
    everything = [statement for form in forms() for statement in random.sample(form, 15)]
    for statement in everything:
        fast = labels(statement)
        for row in random.sample(range(len(world)), 4):
            assert slow_label(statement, world[row]) == LABELS[fast[row]], (statement, world[row])


STAR, HEART = Thing(kind="star"), Thing(kind="heart")
RED_STAR = Thing(colour="red", kind="star")
SHADED = (Item(0, "big", None, "star"), Item(4, "small", "blue", "heart"))
FROSTED = (Item(0, "big", "red", None), Item(4, "small", "blue", "heart"))
BOXED = (Item(0, "big", "red", "star"), Item(8, None, None, None, box=True))


@pytest.mark.parametrize(
    ("scene", "statement", "label"),
    [
        (SHADED, Exists(STAR), "entailment"),
        (SHADED, Exists(RED_STAR), "neutral"),
        (SHADED, Absent(RED_STAR), "neutral"),
        (SHADED, Exists(Thing("small", "red", "star")), "contradiction"),
        (SHADED, Exists(Thing(colour="red", kind="heart")), "contradiction"),
        (SHADED, Beside(STAR, "left", HEART), "entailment"),
        (SHADED, Beside(RED_STAR, "above", HEART), "neutral"),
        (SHADED, Beside(STAR, "right", HEART), "contradiction"),
        (SHADED, More(Thing(colour="blue"), Thing(colour="red")), "neutral"),
        (SHADED, More(Thing(colour="red"), Thing(colour="blue")), "contradiction"),
        (FROSTED, Exists(RED_STAR), "neutral"),
        (FROSTED, Count(1, Thing(colour="red")), "entailment"),
        (FROSTED, Count(2, HEART), "neutral"),
        (FROSTED, Count(3, HEART), "contradiction"),
        (FROSTED, More(HEART, STAR), "neutral"),
        (BOXED, Exists(HEART), "neutral"),
        (BOXED, Exists(STAR), "entailment"),
        (BOXED, Absent(STAR), "contradiction"),
        (BOXED, Count(1, STAR), "neutral"),
        (BOXED, Beside(STAR, "left", HEART), "neutral"),
        (BOXED, Beside(HEART, "left", STAR), "contradiction"),
        (BOXED, More(STAR, HEART), "neutral"),
        (BOXED, More(HEART, STAR), "contradiction"),
    ],
)
def test_labels_worked_out_by_hand(scene: Scene, statement: Statement, label: str) -> None:
    assert fast_label(statement, scene) == label
    assert slow_label(statement, scene) == label


def test_things_in_one_column_are_neither_left_nor_right() -> None:
    scene = (Item(1, "big", "red", "star"), Item(7, "big", "blue", "heart"))
    for relation, label in {"left": 0, "right": 0, "above": 2, "below": 0}.items():
        assert Labels([scene])(Beside(STAR, relation, HEART))[0] == label
