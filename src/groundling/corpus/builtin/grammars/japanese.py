"""Japanese: counters by noun, and "いる" instead of "ある" for what is alive."""

from typing import NamedTuple

from groundling.corpus.builtin.grammars.grammar import Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import Thing


class Noun(NamedTuple):
    word: str
    counter: str
    alive: bool = False


NOUNS = {
    "ball": Noun("ボール", "個"),
    "triangle": Noun("三角形", "個"),
    "star": Noun("星", "個"),
    "heart": Noun("ハート", "個"),
    "house": Noun("家", "軒"),
    "tree": Noun("木", "本"),
    "fish": Noun("魚", "匹", alive=True),
    "flower": Noun("花", "輪"),
    "object": Noun("物体", "個"),
}
ADJECTIVES = {
    "big": "大きな",
    "small": "小さな",
    "red": "赤い",
    "blue": "青い",
    "green": "緑色の",
    "yellow": "黄色い",
    "black": "黒い",
    "white": "白い",
}
WHERE = {"left": "左", "right": "右", "above": "上", "below": "下"}


class Japanese(Grammar):
    places = ("左上", "中央上", "右上", "左中央", "中央", "右中央", "左下", "中央下", "右下")
    box = "閉じた箱"
    colon = "："
    semicolon = "、"
    stop = "。"

    def one(self, thing: Thing) -> str:
        return "".join([*(ADJECTIVES[each] for each in adjectives(thing)), NOUNS[noun(thing)].word])

    def exists(self, thing: Thing) -> str:
        return f"絵の中に{self.one(thing)}が{_is(thing)}。"

    def absent(self, thing: Thing) -> str:
        return f"絵の中に{self.one(thing)}は{'いない' if NOUNS[noun(thing)].alive else 'ない'}。"

    def count(self, number: int, thing: Thing) -> str:
        return f"絵の中に{self.one(thing)}がちょうど{number}{NOUNS[noun(thing)].counter}{_is(thing)}。"

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"絵の中で、{self.one(other)}の{WHERE[relation]}に{self.one(thing)}が{_is(thing)}。"

    def more(self, thing: Thing, other: Thing) -> str:
        return f"絵の中では、{self.one(thing)}のほうが{self.one(other)}より多い。"


def _is(thing: Thing) -> str:
    return "いる" if NOUNS[noun(thing)].alive else "ある"
