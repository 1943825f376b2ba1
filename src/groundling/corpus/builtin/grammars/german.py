"""German: three genders; nominative after "ist", dative after "links von", "über" and "unter"."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    gender: str
    singular: str
    plural: str
    dative: str = ""  # where it is not the singular


NOUNS = {
    "ball": Noun("m", "Ball", "Bälle"),
    "triangle": Noun("n", "Dreieck", "Dreiecke"),
    "star": Noun("m", "Stern", "Sterne"),
    "heart": Noun("n", "Herz", "Herzen", "Herzen"),
    "house": Noun("n", "Haus", "Häuser"),
    "tree": Noun("m", "Baum", "Bäume"),
    "fish": Noun("m", "Fisch", "Fische"),
    "flower": Noun("f", "Blume", "Blumen"),
    "object": Noun("n", "Objekt", "Objekte"),
}
STEMS = {
    "big": "groß",
    "small": "klein",
    "red": "rot",
    "blue": "blau",
    "green": "grün",
    "yellow": "gelb",
    "black": "schwarz",
    "white": "weiß",
}
ENDINGS = {"m": "er", "f": "e", "n": "es"}  # nominative after "ein", "kein" and "genau ein"
ARTICLES = {"m": "ein", "f": "eine", "n": "ein"}
DATIVES = {"m": "einem", "f": "einer", "n": "einem"}
NUMBERS = {2: "zwei", 3: "drei"}
WHERE = {"left": "links von", "right": "rechts von", "above": "über", "below": "unter"}


class German(Grammar):
    places = (
        *("oben links", "oben in der Mitte", "oben rechts"),
        *("links in der Mitte", "in der Mitte", "rechts in der Mitte"),
        *("unten links", "unten in der Mitte", "unten rechts"),
    )
    box = "eine geschlossene Kiste"

    def one(self, thing: Thing) -> str:
        return f"{ARTICLES[NOUNS[noun(thing)].gender]} {_nominative(thing)}"

    def exists(self, thing: Thing) -> str:
        return f"Auf dem Bild ist {self.one(thing)}."

    def absent(self, thing: Thing) -> str:
        return f"Auf dem Bild ist k{self.one(thing)}."

    def count(self, number: int, thing: Thing) -> str:
        if number == 1:
            return f"Auf dem Bild ist genau {self.one(thing)}."
        return f"Auf dem Bild sind genau {NUMBERS[number]} {_plural(thing)}."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"Auf dem Bild ist {self.one(thing)} {WHERE[relation]} {_dative(other)}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"Auf dem Bild sind mehr {_plural(thing)} als {_plural(other)}."


def _nominative(thing: Thing) -> str:
    word = NOUNS[noun(thing)]
    return " ".join([*(STEMS[each] + ENDINGS[word.gender] for each in adjectives(thing)), word.singular])


def _dative(thing: Thing) -> str:
    word = NOUNS[noun(thing)]
    described = [STEMS[each] + "en" for each in adjectives(thing)]
    return " ".join([DATIVES[word.gender], *described, word.dative or word.singular])


def _plural(thing: Thing) -> str:
    return " ".join([*(STEMS[each] + "e" for each in adjectives(thing)), NOUNS[noun(thing)].plural])
