"""Which statements are made of which scenes, so that neither the words nor the picture alone give the label away.

Every statement is made three times over: of a scene that it is true of, of one that it is false of, and of one that
does not tell. So whatever a classifier makes of the words, it is right in exactly one of three cases. Each scene has as
many statements of each label, too, as far as that can be filled.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import NamedTuple

import numpy as np

from groundling.corpus.builtin.scenes_labels import CONTRADICTION, ENTAILMENT, Labels
from groundling.corpus.builtin.scenes_world import (
    COLOURS,
    KINDS,
    RELATIONS,
    SIZES,
    Absent,
    Beside,
    Count,
    Exists,
    More,
    Scene,
    Statement,
    Thing,
)
from groundling.corpus.columns import Integers, Mask
from groundling.progress import bar

_CANDIDATES = 8  # scenes that are compared for one statement
EACH = 2  # statements per scene and label
_NEAR: dict[type, tuple[int, ...]] = {Absent: (ENTAILMENT,), More: (CONTRADICTION, ENTAILMENT)}  # see _Shown
_SHARES = (1, 1, 2, 3, 1)  # how often a statement of each form is wished for, in the order of `forms`


class Made(NamedTuple):
    """A statement made of a scene, and its label as a place in LABELS."""

    scene: int
    statement: Statement
    label: int


def forms() -> list[list[Statement]]:
    """All statements there are, by form."""
    kinds, colours = [Thing(kind=kind) for kind in KINDS], [Thing(colour=colour) for colour in COLOURS]
    coloured = [Thing(colour=colour, kind=kind) for colour, kind in product(COLOURS, KINDS)]
    sized = [Thing(size, None, kind) for size, kind in product(SIZES, KINDS)]
    full = [Thing(*values) for values in product(SIZES, COLOURS, KINDS)]
    pairs = [*product(kinds + colours, repeat=2), *product(coloured, kinds), *product(kinds, coloured)]
    return [
        [Exists(thing) for thing in (*kinds, *colours, *coloured, *sized, *full)],
        [Absent(thing) for thing in (*kinds, *colours, *coloured, *sized, *full)],
        [Count(number, thing) for number in (1, 2, 3) for thing in (*kinds, *colours, *coloured, *sized)],
        [Beside(one, relation, other) for relation in RELATIONS for one, other in pairs if one != other],
        [More(one, other) for alike in (kinds, colours) for one, other in product(alike, alike) if one != other],
    ]


def draw(scenes: Sequence[Scene], random: Random) -> list[Made]:
    """Statements of all scenes, in the order of the scenes."""
    labels = Labels(scenes)
    left = [form[:] for form in forms()]
    everything = [statement for form in left for statement in form]
    table = np.stack([labels(statement) for statement in everything])  # [statements, scenes]
    labels_of = dict(zip(everything, table, strict=True))
    # How much can be said of each scene with each label: those of which little can be said choose first.
    choices = np.stack([(table == label).sum(axis=0) for label in range(3)], axis=1)
    shown = _Shown(scenes)
    wanted = np.full((len(scenes), 3), EACH)
    made: list[Made] = []
    with bar("Making statements", int(wanted.sum())) as progress:
        for form in _turns(left, random):
            place = int(random.random() * len(left[form]))
            statement = left[form][place]
            free = [np.flatnonzero((labels_of[statement] == label) & (wanted[:, label] > 0)) for label in range(3)]
            if not all(len(each) for each in free):  # and never again, as `wanted` only shrinks
                left[form][place] = left[form][-1]
                left[form].pop()
                continue
            for label in range(3):
                among = free[label]
                if label in _NEAR.get(type(statement), (CONTRADICTION,)):
                    near = among[shown.all_of(statement, among)]
                    among = near if len(near) else among
                some = [int(among[int(random.random() * len(among))]) for _ in range(_CANDIDATES)]
                scene = min(some, key=lambda each: choices[each, label])
                wanted[scene, label] -= 1
                labels_of[statement][scene] = -1  # once is enough
                made.append(Made(scene, statement, label))
            progress.advance(3)
    return sorted(made, key=lambda one: one.scene)


class _Shown:
    """What can be seen somewhere in each scene, whatever belongs together.

    A statement is best denied by a scene that shows all it speaks of, only not together, not so many, or not there:
    else a list of what is to be seen would do for a look at the picture. So such scenes are preferred.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._places = {word: place for place, word in enumerate((*SIZES, *COLOURS, *KINDS))}
        self._table = np.zeros((len(scenes), len(self._places)), dtype=bool)
        for row, scene in enumerate(scenes):
            for item in scene:
                for word in (item.size, item.colour, item.kind):
                    if word is not None:
                        self._table[row, self._places[word]] = True

    def all_of(self, statement: Statement, scenes: Integers) -> Mask:
        """For each of these scenes, whether it shows every size, colour and kind that the statement names."""
        things = [statement.thing, *([statement.other] if isinstance(statement, Beside | More) else [])]
        words = [word for thing in things for word in (thing.size, thing.colour, thing.kind) if word is not None]
        columns = np.array([self._places[word] for word in words])
        seen: Mask = self._table[np.ix_(scenes, columns)].all(axis=1)
        return seen


def _turns(left: list[list[Statement]], random: Random) -> Iterator[int]:
    """The form whose turn it is, for as long as any has a statement left."""
    wheel = [form for form, share in enumerate(_SHARES) for _ in range(share)]
    while wheel := [form for form in wheel if left[form]]:
        yield wheel[int(random.random() * len(wheel))]
