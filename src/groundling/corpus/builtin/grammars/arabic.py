"""Arabic: two genders, a dual, numerals of the other gender, and plurals of things that agree as feminine singular."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    feminine: bool
    singular: str
    dual: str
    plural: str


class Adjective(NamedTuple):
    masculine: str
    feminine: str
    dual: str
    feminine_dual: str


NOUNS = {
    "ball": Noun(True, "كرة", "كرتان", "كرات"),
    "triangle": Noun(False, "مثلث", "مثلثان", "مثلثات"),
    "star": Noun(True, "نجمة", "نجمتان", "نجوم"),
    "heart": Noun(False, "قلب", "قلبان", "قلوب"),
    "house": Noun(False, "بيت", "بيتان", "بيوت"),
    "tree": Noun(True, "شجرة", "شجرتان", "أشجار"),
    "fish": Noun(True, "سمكة", "سمكتان", "أسماك"),
    "flower": Noun(True, "زهرة", "زهرتان", "أزهار"),
    "object": Noun(False, "شيء", "شيئان", "أشياء"),
}
ADJECTIVES = {
    "big": Adjective("كبير", "كبيرة", "كبيران", "كبيرتان"),
    "small": Adjective("صغير", "صغيرة", "صغيران", "صغيرتان"),
    "red": Adjective("أحمر", "حمراء", "أحمران", "حمراوان"),
    "blue": Adjective("أزرق", "زرقاء", "أزرقان", "زرقاوان"),
    "green": Adjective("أخضر", "خضراء", "أخضران", "خضراوان"),
    "yellow": Adjective("أصفر", "صفراء", "أصفران", "صفراوان"),
    "black": Adjective("أسود", "سوداء", "أسودان", "سوداوان"),
    "white": Adjective("أبيض", "بيضاء", "أبيضان", "بيضاوان"),
}
WHERE = {"left": "إلى يسار", "right": "إلى يمين", "above": "فوق", "below": "تحت"}


class Arabic(Grammar):
    places = (
        *("في أعلى اليسار", "في أعلى الوسط", "في أعلى اليمين"),
        *("في وسط اليسار", "في الوسط", "في وسط اليمين"),
        *("في أسفل اليسار", "في أسفل الوسط", "في أسفل اليمين"),
    )
    box = "صندوق مغلق"
    semicolon = "؛ "

    def one(self, thing: Thing) -> str:
        word = NOUNS[noun(thing)]
        forms = [ADJECTIVES[each] for each in _described(thing)]
        return " ".join([word.singular, *(form.feminine if word.feminine else form.masculine for form in forms)])

    def exists(self, thing: Thing) -> str:
        return f"{_is(thing)} في الصورة {self.one(thing)}."

    def absent(self, thing: Thing) -> str:
        return f"لا {_is(thing)} في الصورة {self.one(thing)}."

    def count(self, number: int, thing: Thing) -> str:
        word = NOUNS[noun(thing)]
        forms = [ADJECTIVES[each] for each in _described(thing)]
        if number == 1:
            return f"{_is(thing)} في الصورة {self.one(thing)} {'واحدة' if word.feminine else 'واحد'} فقط."
        if number == 2:
            described = [form.feminine_dual if word.feminine else form.dual for form in forms]
            return f"{_is(thing)} في الصورة {' '.join([word.dual, *described])} فقط."
        numeral = "ثلاث" if word.feminine else "ثلاثة"
        words = " ".join([numeral, word.plural, *(form.feminine for form in forms)])
        return f"توجد في الصورة {words} فقط."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"{_is(thing)} في الصورة {self.one(thing)} {WHERE[relation]} {self.one(other)}."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"عدد {_the_many(thing)} في الصورة أكبر من عدد {_the_many(other)}."


def _described(thing: Thing) -> list[str]:
    """Colour first, then size, after the noun."""
    return [value for value in (thing.colour, thing.size) if value is not None]


def _is(thing: Thing) -> str:
    return "توجد" if NOUNS[noun(thing)].feminine else "يوجد"


def _the_many(thing: Thing) -> str:
    words = [NOUNS[noun(thing)].plural, *(ADJECTIVES[each].feminine for each in _described(thing))]
    return " ".join("ال" + word for word in words)
