"""Dutch: an adjective has no ending before a singular neuter noun ("een rood hart", but "een rode ster")."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    neuter: bool
    singular: str
    plural: str


NOUNS = {
    "ball": Noun(False, "bal", "ballen"),
    "triangle": Noun(False, "driehoek", "driehoeken"),
    "star": Noun(False, "ster", "sterren"),
    "heart": Noun(True, "hart", "harten"),
    "house": Noun(True, "huis", "huizen"),
    "tree": Noun(False, "boom", "bomen"),
    "fish": Noun(False, "vis", "vissen"),
    "flower": Noun(False, "bloem", "bloemen"),
    "object": Noun(True, "voorwerp", "voorwerpen"),
}
ADJECTIVES = {  # bare, inflected
    "big": ("groot", "grote"),
    "small": ("klein", "kleine"),
    "red": ("rood", "rode"),
    "blue": ("blauw", "blauwe"),
    "green": ("groen", "groene"),
    "yellow": ("geel", "gele"),
    "black": ("zwart", "zwarte"),
    "white": ("wit", "witte"),
}
NUMBERS = {1: "één", 2: "twee", 3: "drie"}
WHERE = {"left": "links van", "right": "rechts van", "above": "boven", "below": "onder"}


class Dutch(Grammar):
    places = (
        *("linksboven", "middenboven", "rechtsboven"),
        *("links in het midden", "in het midden", "rechts in het midden"),
        *("linksonder", "middenonder", "rechtsonder"),
    )
    box = "een gesloten doos"

    def one(self, thing: Thing) -> str:
        return f"een {_singular(thing)}"

    def exists(self, thing: Thing) -> str:
        return f"Er staat {self.one(thing)} op de afbeelding."

    def absent(self, thing: Thing) -> str:
        return f"Er staat g{self.one(thing)} op de afbeelding."

    def count(self, number: int, thing: Thing) -> str:
        verb, words = ("staat", _singular(thing)) if number == 1 else ("staan", _plural(thing))
        return f"Er {verb} precies {NUMBERS[number]} {words} op de afbeelding."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"Er staat {self.one(thing)} {WHERE[relation]} {self.one(other)}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"Er staan meer {_plural(thing)} dan {_plural(other)} op de afbeelding."


def _singular(thing: Thing) -> str:
    word = NOUNS[noun(thing)]
    return " ".join([*(ADJECTIVES[each][0 if word.neuter else 1] for each in adjectives(thing)), word.singular])


def _plural(thing: Thing) -> str:
    return " ".join([*(ADJECTIVES[each][1] for each in adjectives(thing)), NOUNS[noun(thing)].plural])
