"""English."""

from groundling.corpus.builtin.grammars.grammar import OBJECT, Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import KINDS, Thing

PLURALS = {**{kind: f"{kind}s" for kind in (*KINDS, OBJECT)}, "fish": "fish"}
NUMBERS = {1: "one", 2: "two", 3: "three"}
WHERE = {"left": "to the left of", "right": "to the right of", "above": "above", "below": "below"}


class English(Grammar):
    places = (
        *("top left", "top centre", "top right"),
        *("middle left", "centre", "middle right"),
        *("bottom left", "bottom centre", "bottom right"),
    )
    box = "a closed box"

    def one(self, thing: Thing) -> str:
        words = _singular(thing)
        return f"an {words}" if words[0] in "aeiou" else f"a {words}"

    def exists(self, thing: Thing) -> str:
        return f"There is {self.one(thing)} in the picture."

    def absent(self, thing: Thing) -> str:
        return f"There is no {_singular(thing)} in the picture."

    def count(self, number: int, thing: Thing) -> str:
        are, words = ("is", _singular(thing)) if number == 1 else ("are", _plural(thing))
        return f"There {are} exactly {NUMBERS[number]} {words} in the picture."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"There is {self.one(thing)} {WHERE[relation]} {self.one(other)}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"There are more {_plural(thing)} than {_plural(other)} in the picture."


def _singular(thing: Thing) -> str:
    return " ".join([*adjectives(thing), noun(thing)])


def _plural(thing: Thing) -> str:
    return " ".join([*adjectives(thing), PLURALS[noun(thing)]])
