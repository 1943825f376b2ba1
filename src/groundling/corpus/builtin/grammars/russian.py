"""Russian: no articles; genitive after "нет", "слева от" and two or three, instrumental after "над" and "под"."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    gender: str
    nominative: str
    genitive: str
    instrumental: str
    genitive_plural: str


class Adjective(NamedTuple):
    """Forms by gender: masculine, feminine, neuter; the oblique ones of neuter are those of masculine."""

    m: str
    f: str
    n: str
    genitive: str
    oblique_feminine: str  # genitive and instrumental
    instrumental: str
    plural: str
    genitive_plural: str


NOUNS = {
    "ball": Noun("m", "мяч", "мяча", "мячом", "мячей"),
    "triangle": Noun("m", "треугольник", "треугольника", "треугольником", "треугольников"),
    "star": Noun("f", "звезда", "звезды", "звездой", "звёзд"),
    "heart": Noun("n", "сердце", "сердца", "сердцем", "сердец"),
    "house": Noun("m", "дом", "дома", "домом", "домов"),
    "tree": Noun("n", "дерево", "дерева", "деревом", "деревьев"),
    "fish": Noun("f", "рыба", "рыбы", "рыбой", "рыб"),
    "flower": Noun("m", "цветок", "цветка", "цветком", "цветов"),
    "object": Noun("m", "предмет", "предмета", "предметом", "предметов"),
}


def _hard(stem: str) -> Adjective:
    return Adjective(*(stem + ending for ending in ("ый", "ая", "ое", "ого", "ой", "ым", "ые", "ых")))


ADJECTIVES = {
    "big": Adjective(*("больш" + ending for ending in ("ой", "ая", "ое", "ого", "ой", "им", "ие", "их"))),
    "small": Adjective(*("маленьк" + ending for ending in ("ий", "ая", "ое", "ого", "ой", "им", "ие", "их"))),
    "red": _hard("красн"),
    "blue": Adjective(*("син" + ending for ending in ("ий", "яя", "ее", "его", "ей", "им", "ие", "их"))),
    "green": _hard("зелён"),
    "yellow": _hard("жёлт"),
    "black": _hard("чёрн"),
    "white": _hard("бел"),
}
ONE = {"m": "один", "f": "одна", "n": "одно"}
TWO = {"m": "два", "f": "две", "n": "два"}


class Russian(Grammar):
    places = (
        *("вверху слева", "вверху посередине", "вверху справа"),
        *("посередине слева", "в центре", "посередине справа"),
        *("внизу слева", "внизу посередине", "внизу справа"),
    )
    box = "закрытая коробка"

    def one(self, thing: Thing) -> str:
        word = NOUNS[noun(thing)]
        return " ".join([*(getattr(ADJECTIVES[each], word.gender) for each in adjectives(thing)), word.nominative])

    def exists(self, thing: Thing) -> str:
        return f"На картинке есть {self.one(thing)}."

    def absent(self, thing: Thing) -> str:
        return f"На картинке нет {_genitive(thing)}."

    def count(self, number: int, thing: Thing) -> str:
        word = NOUNS[noun(thing)]
        if number == 1:
            return f"На картинке ровно {ONE[word.gender]} {self.one(thing)}."
        # After two and three: две красные звезды, but два красных мяча.
        forms = [ADJECTIVES[each] for each in adjectives(thing)]
        described = [form.plural if word.gender == "f" else form.genitive_plural for form in forms]
        numeral = TWO[word.gender] if number == 2 else "три"
        return f"На картинке ровно {' '.join([numeral, *described, word.genitive])}."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        if relation in ("left", "right"):
            where = f"{'слева' if relation == 'left' else 'справа'} от {_genitive(other)}"
        else:
            where = f"{'над' if relation == 'above' else 'под'} {_instrumental(other)}"
        return f"На картинке есть {self.one(thing)} {where}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"На картинке {_of_many(thing)} больше, чем {_of_many(other)}."


def _genitive(thing: Thing) -> str:
    word = NOUNS[noun(thing)]
    forms = [ADJECTIVES[each] for each in adjectives(thing)]
    return " ".join(
        [*(form.oblique_feminine if word.gender == "f" else form.genitive for form in forms), word.genitive]
    )


def _instrumental(thing: Thing) -> str:
    word = NOUNS[noun(thing)]
    forms = [ADJECTIVES[each] for each in adjectives(thing)]
    described = [form.oblique_feminine if word.gender == "f" else form.instrumental for form in forms]
    return " ".join([*described, word.instrumental])


def _of_many(thing: Thing) -> str:
    described = [ADJECTIVES[each].genitive_plural for each in adjectives(thing)]
    return " ".join([*described, NOUNS[noun(thing)].genitive_plural])
