"""Which emoji are held out for dev and test, and which artist's drawing of them is shown.

Some concepts are never held out: flags, keycaps and letters, because no likeness explains them, and concepts that an
artist draws exactly like another one, because then neither a name nor a picture would have one right answer.
"""

import hashlib
from dataclasses import dataclass

HELD_OUT = 250  # concepts in dev, and in the test of split "concept"
NEW_ARTIST_TEST = 500  # concepts in the test of split "artist"

KEYCAP = 0x20E3
TAGS = range(0xE0020, 0xE0080)  # spell a region: the flags of England, Scotland and Wales
ENCLOSED = range(0x1F100, 0x1F300)  # 🅰 🆗 🈁 and so on; also the regional indicators, pairs of which are flags
LETTER_SIGNS = frozenset(map(ord, "©®™ℹⓂ㊗㊙🔟🔠🔡🔢🔣🔤"))

CHILDREN = {"1f466", "1f467", "1f9d2"}
FAMILY = "1f46a"
# OpenMoji draws these exactly like the form without a gender ("man student" like "student"), which may be held out.
SAME_DRAWING = frozenset(
    (
        "1f468-200d-1f393",  # man student
        "1f468-200d-1f33e",  # man farmer
        "1f468-200d-1f373",  # man cook
        "1f468-200d-1f527",  # man mechanic
        "1f468-200d-1f3ed",  # man factory worker
        "1f468-200d-1f3a8",  # man artist
        "1f468-200d-2708",  # man pilot
        "1f468-200d-1f680",  # man astronaut
        "1f468-200d-1f692",  # man firefighter
        "1f473-200d-2640",  # woman wearing turban
        "1f6b6-200d-2642",  # man walking
        "1f9cd-200d-2642",  # man standing
        "1f9ce-200d-2642",  # man kneeling
        "1f468-200d-1f9af",  # man with white cane
        "1f468-200d-1f9bc",  # man in motorized wheelchair
        "1f468-200d-1f9bd",  # man in manual wheelchair
        "1f93c-200d-2642",  # men wrestling
        "1f468-200d-1f9b1",  # man: curly hair
        "1f468-200d-1f9b2",  # man: bald
        "1f6b6-200d-2642-200d-27a1",  # man walking: facing right
        "1f9ce-200d-2642-200d-27a1",  # man kneeling: facing right
        "1f468-200d-1f9af-200d-27a1",  # man with white cane: facing right
        "1f468-200d-1f9bc-200d-27a1",  # man in motorized wheelchair: facing right
        "1f468-200d-1f9bd-200d-27a1",  # man in manual wheelchair: facing right
        "1f469-200d-2764-200d-1f48b-200d-1f468",  # kiss: woman, man
        "1f469-200d-2764-200d-1f468",  # couple with heart: woman, man
    )
)


@dataclass(frozen=True)
class Placed:
    """One picture of the corpus: whose drawing of which concept, in which split."""

    artist: str
    key: str
    split: str


def is_spelled(key: str) -> bool:
    """Flags of countries and regions, keycaps and letters: signs one has to have learnt."""
    points = [int(point, 16) for point in key.split("-")]
    return any(point == KEYCAP or point in TAGS or point in ENCLOSED or point in LETTER_SIGNS for point in points)


def is_family(key: str) -> bool:
    """Parents with children. Twemoji has four pictures for all thirty of them."""
    *parents, last = key.split("-")
    return key == FAMILY or (bool(parents) and last in CHILDREN)


def may_be_held_out(key: str) -> bool:
    return not is_spelled(key) and not is_family(key) and key not in SAME_DRAWING


def in_seeded_order(keys: list[str], seed: int) -> list[str]:
    """Concepts that may be held out, shuffled. By hash, so that no change in a random generator moves a split."""
    free = [key for key in keys if may_be_held_out(key)]
    return sorted(free, key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).digest())


def by_concept(keys: list[str], seed: int) -> list[Placed]:
    """Dev and test show concepts that training has never seen.

    They have one picture each, so that a name has one owner; concepts in train have both artists' pictures.
    """
    order = in_seeded_order(keys, seed)
    held_out = dict.fromkeys(order[:HELD_OUT], "dev") | dict.fromkeys(order[HELD_OUT : 2 * HELD_OUT], "test")
    placed = []
    for key in keys:
        placed.append(Placed("twemoji", key, held_out.get(key, "train")))
        if key not in held_out:
            placed.append(Placed("openmoji", key, "train"))
    return placed


def by_artist(keys: list[str], seed: int) -> list[Placed]:
    """Dev and test show concepts that training knows, by an artist it has never seen.

    Dev has the concepts of `by_concept`'s dev; the first half of the test has those of its test.
    """
    order = in_seeded_order(keys, seed)
    held_out = dict.fromkeys(order[:HELD_OUT], "dev") | dict.fromkeys(order[HELD_OUT:][:NEW_ARTIST_TEST], "test")
    placed = []
    for key in keys:
        placed.append(Placed("twemoji", key, "train"))
        if key in held_out:
            placed.append(Placed("openmoji", key, held_out[key]))
    return placed
