"""The label of a statement, for many scenes at once.

A picture leaves open what it hides, so many worlds fit it. A statement that is true in all of them is an entailment,
one that is true in none is a contradiction, and all others are neutral. Nobody has to go through the worlds for that:
each thing of a scene is, or may be, what a statement speaks of, and things hide independently of each other.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.corpus.builtin.scenes_world import (
    COLOURS,
    COLUMNS,
    KINDS,
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

CONTRADICTION, ENTAILMENT = 0, 2  # places in LABELS; 1 is neutral
_NOTHING, _HIDDEN = -2, -1
_MOST = 4  # things in a scene

SceneLabels = npt.NDArray[np.int8]  # [scenes], places in LABELS
Places = npt.NDArray[np.bool_]  # [scenes, things]
Bits = npt.NDArray[np.uint8]


class Labels:
    """Answers `labels(statement)` with one label per scene."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._known: dict[Thing, tuple[Places, Places]] = {}
        self._known_bits: dict[Thing, list[Bits]] = {}
        shape = (len(scenes), _MOST)
        self._values = {name: np.full(shape, _NOTHING, dtype=np.int8) for name in ("size", "colour", "kind")}
        cells = np.zeros(shape, dtype=np.int64)
        for row, scene in enumerate(scenes):
            for place, item in enumerate(scene):
                cells[row, place] = item.cell
                for name, value, values in _attributes(item.size, item.colour, item.kind):
                    self._values[name][row, place] = _HIDDEN if value is None else values.index(value)
        self._box = np.zeros(shape, dtype=bool)
        for row, scene in enumerate(scenes):
            self._box[row, : len(scene)] = [item.box for item in scene]
        across, down = cells % COLUMNS, cells // COLUMNS
        left, above = across[:, :, None] < across[:, None, :], down[:, :, None] < down[:, None, :]
        related = {"left": left, "right": left.transpose(0, 2, 1), "above": above, "below": above.transpose(0, 2, 1)}
        # For each thing the others it is so related to, as the bits of one number: [scenes, things]
        self._related = {name: _bits(pairs) for name, pairs in related.items()}

    def __call__(self, statement: Statement) -> SceneLabels:
        match statement:
            case Exists(thing):
                surely, perhaps = self._which(thing)
                return _label(surely.any(axis=1), perhaps.any(axis=1))
            case Absent(thing):
                surely, perhaps = self._which(thing)
                return _label(~perhaps.any(axis=1), ~surely.any(axis=1))
            case Count(number, thing):
                fewest, most = self._how_many(thing)
                return _label((fewest == number) & (most == number), (fewest <= number) & (number <= most))
            case More(thing, other):
                fewest, most = self._how_many(thing)
                fewest_others, most_others = self._how_many(other)
                return _label(fewest > most_others, most > fewest_others)
            case Beside(thing, relation, other):
                if other not in self._known_bits:
                    self._known_bits[other] = [_bits(places) for places in self._which(other)]
                surely, perhaps = (
                    (one & ((self._related[relation] & others[:, None]) != 0)).any(axis=1)
                    for one, others in zip(self._which(thing), self._known_bits[other], strict=True)
                )
                return _label(surely, perhaps)

    def _which(self, thing: Thing) -> tuple[Places, Places]:
        """The things of each scene that surely are, and that may be, what is spoken of."""
        if thing not in self._known:
            surely, perhaps = ~self._box & (self._values["kind"] != _NOTHING), self._values["kind"] != _NOTHING
            for name, value, values in _attributes(thing.size, thing.colour, thing.kind):
                if value is not None:
                    shown = self._values[name] == values.index(value)
                    surely = surely & shown
                    perhaps = perhaps & (shown | (self._values[name] == _HIDDEN))
            self._known[thing] = surely, perhaps
        return self._known[thing]

    def _how_many(self, thing: Thing) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        surely, perhaps = self._which(thing)
        return surely.sum(axis=1), perhaps.sum(axis=1)


def _attributes(
    size: str | None, colour: str | None, kind: str | None
) -> tuple[tuple[str, str | None, tuple[str, ...]], ...]:
    return ("size", size, SIZES), ("colour", colour, COLOURS), ("kind", kind, KINDS)


def _bits(places: npt.NDArray[np.bool_]) -> Bits:
    """The last axis, one truth value per thing, as the bits of one number."""
    return np.packbits(places, axis=-1)[..., 0]


def _label(surely: Any, perhaps: Any) -> SceneLabels:
    """CONTRADICTION is what cannot be, neutral what may be, ENTAILMENT what must be (and then also may)."""
    labels: SceneLabels = np.asarray(surely, dtype=np.int8) + np.asarray(perhaps, dtype=np.int8)
    return labels
