"""Czech: no articles; genitive after "nalevo od" and "více", instrumental after "nad" and "pod"."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    gender: str
    nominative: str
    genitive: str
    instrumental: str
    plural: str
    genitive_plural: str


NOUNS = {
    "ball": Noun("m", "míč", "míče", "míčem", "míče", "míčů"),
    "triangle": Noun("m", "trojúhelník", "trojúhelníku", "trojúhelníkem", "trojúhelníky", "trojúhelníků"),
    "star": Noun("f", "hvězda", "hvězdy", "hvězdou", "hvězdy", "hvězd"),
    "heart": Noun("n", "srdce", "srdce", "srdcem", "srdce", "srdcí"),
    "house": Noun("m", "dům", "domu", "domem", "domy", "domů"),
    "tree": Noun("m", "strom", "stromu", "stromem", "stromy", "stromů"),
    "fish": Noun("f", "ryba", "ryby", "rybou", "ryby", "ryb"),
    "flower": Noun("f", "květina", "květiny", "květinou", "květiny", "květin"),
    "object": Noun("m", "předmět", "předmětu", "předmětem", "předměty", "předmětů"),
}
STEMS = {  # hard adjectives
    "big": "velk",
    "small": "mal",
    "red": "červen",
    "blue": "modr",
    "green": "zelen",
    "yellow": "žlut",
    "black": "čern",
    "white": "bíl",
}
NOMINATIVE = {"m": "ý", "f": "á", "n": "é"}
GENITIVE = {"m": "ého", "f": "é", "n": "ého"}
INSTRUMENTAL = {"m": "ým", "f": "ou", "n": "ým"}
PLURAL = {"m": "é", "f": "é", "n": "á"}
NO = {"m": "žádný", "f": "žádná", "n": "žádné"}
NUMBERS = {
    1: {"m": "jeden", "f": "jedna", "n": "jedno"},
    2: {"m": "dva", "f": "dvě", "n": "dvě"},
    3: {"m": "tři", "f": "tři", "n": "tři"},
}


class Czech(Grammar):
    places = (
        *("vlevo nahoře", "nahoře uprostřed", "vpravo nahoře"),
        *("vlevo uprostřed", "uprostřed", "vpravo uprostřed"),
        *("vlevo dole", "dole uprostřed", "vpravo dole"),
    )
    box = "zavřená krabice"

    def one(self, thing: Thing) -> str:
        return _words(thing, NOMINATIVE, NOUNS[noun(thing)].nominative)

    def exists(self, thing: Thing) -> str:
        return f"Na obrázku je {self.one(thing)}."

    def absent(self, thing: Thing) -> str:
        return f"Na obrázku není {NO[NOUNS[noun(thing)].gender]} {self.one(thing)}."

    def count(self, number: int, thing: Thing) -> str:
        word = NOUNS[noun(thing)]
        verb, words = ("je", self.one(thing)) if number == 1 else ("jsou", _words(thing, PLURAL, word.plural))
        return f"Na obrázku {verb} právě {NUMBERS[number][word.gender]} {words}."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        word = NOUNS[noun(other)]
        if relation in ("left", "right"):
            where = "nalevo od" if relation == "left" else "napravo od"
            words = _words(other, GENITIVE, word.genitive)
        else:
            where = "nad" if relation == "above" else "pod"
            words = _words(other, INSTRUMENTAL, word.instrumental)
        return f"Na obrázku je {self.one(thing)} {where} {words}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"Na obrázku je více {_of_many(thing)} než {_of_many(other)}."


def _words(thing: Thing, endings: dict[str, str], form: str) -> str:
    ending = endings[NOUNS[noun(thing)].gender]
    return " ".join([*(STEMS[each] + ending for each in adjectives(thing)), form])


def _of_many(thing: Thing) -> str:
    return " ".join([*(STEMS[each] + "ých" for each in adjectives(thing)), NOUNS[noun(thing)].genitive_plural])
