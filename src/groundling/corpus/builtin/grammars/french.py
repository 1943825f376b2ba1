"""French: two genders, size before the noun and colour after it, "de" shortened before a vowel."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    feminine: bool
    singular: str


NOUNS = {  # all plurals end in -s
    "ball": Noun(False, "ballon"),
    "triangle": Noun(False, "triangle"),
    "star": Noun(True, "étoile"),
    "heart": Noun(False, "cœur"),
    "house": Noun(True, "maison"),
    "tree": Noun(False, "arbre"),
    "fish": Noun(False, "poisson"),
    "flower": Noun(True, "fleur"),
    "object": Noun(False, "objet"),
}
ADJECTIVES = {  # masculine, feminine
    "big": ("grand", "grande"),
    "small": ("petit", "petite"),
    "red": ("rouge", "rouge"),
    "blue": ("bleu", "bleue"),
    "green": ("vert", "verte"),
    "yellow": ("jaune", "jaune"),
    "black": ("noir", "noire"),
    "white": ("blanc", "blanche"),
}
NUMBERS = {2: "deux", 3: "trois"}
WHERE = {"left": "à gauche", "right": "à droite", "above": "au-dessus", "below": "au-dessous"}


class French(Grammar):
    places = (
        *("en haut à gauche", "en haut au centre", "en haut à droite"),
        *("au milieu à gauche", "au centre", "au milieu à droite"),
        *("en bas à gauche", "en bas au centre", "en bas à droite"),
    )
    box = "une boîte fermée"
    colon = " : "
    semicolon = " ; "

    def one(self, thing: Thing) -> str:
        return f"{'une' if NOUNS[noun(thing)].feminine else 'un'} {_words(thing, '')}"

    def exists(self, thing: Thing) -> str:
        return f"Il y a {self.one(thing)} sur l'image."

    def absent(self, thing: Thing) -> str:
        return f"Il n'y a pas {_of(_words(thing, ''))} sur l'image."

    def count(self, number: int, thing: Thing) -> str:
        words = self.one(thing) if number == 1 else f"{NUMBERS[number]} {_words(thing, 's')}"
        return f"Il y a exactement {words} sur l'image."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"Il y a {self.one(thing)} {WHERE[relation]} {_of(self.one(other))}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"Il y a plus {_of(_words(thing, 's'))} que {_of(_words(other, 's'))} sur l'image."


def _words(thing: Thing, ending: str) -> str:
    word = NOUNS[noun(thing)]
    size = [] if thing.size is None else [ADJECTIVES[thing.size][word.feminine] + ending]
    colour = [] if thing.colour is None else [ADJECTIVES[thing.colour][word.feminine] + ending]
    return " ".join([*size, word.singular + ending, *colour])


def _of(words: str) -> str:
    return f"d'{words}" if words[0] in "aeiouéœ" else f"de {words}"
