"""Chinese: every noun has its measure word, and the colour comes before the size (红色的大星星)."""

from groundling.corpus.builtin.grammars.grammar import Grammar, noun
from groundling.corpus.builtin.scenes_world import Thing

NOUNS = {  # measure word, noun
    "ball": ("个", "球"),
    "triangle": ("个", "三角形"),
    "star": ("颗", "星星"),
    "heart": ("颗", "爱心"),
    "house": ("座", "房子"),
    "tree": ("棵", "树"),
    "fish": ("条", "鱼"),
    "flower": ("朵", "花"),
    "object": ("个", "物体"),
}
COLOURS = {"red": "红色", "blue": "蓝色", "green": "绿色", "yellow": "黄色", "black": "黑色", "white": "白色"}
SIZES = {"big": "大", "small": "小"}
NUMBERS = {1: "一", 2: "两", 3: "三"}
WHERE = {"left": "左边", "right": "右边", "above": "上方", "below": "下方"}


class Chinese(Grammar):
    places = (
        *("左上角", "上方中间", "右上角"),
        *("左侧中间", "正中间", "右侧中间"),
        *("左下角", "下方中间", "右下角"),
    )
    box = "一个关着的箱子"
    colon = "："
    semicolon = "；"
    stop = "。"

    def one(self, thing: Thing) -> str:
        return _counted(1, thing)

    def exists(self, thing: Thing) -> str:
        return f"图中有{_counted(1, thing)}。"

    def absent(self, thing: Thing) -> str:
        return f"图中没有{_words(thing)}。"

    def count(self, number: int, thing: Thing) -> str:
        return f"图中正好有{_counted(number, thing)}。"

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"图中有{_counted(1, thing)}在{_counted(1, other)}{WHERE[relation]}。"

    def more(self, thing: Thing, other: Thing) -> str:
        return f"图中{_words(thing)}比{_words(other)}多。"


def _words(thing: Thing) -> str:
    colour = "" if thing.colour is None else COLOURS[thing.colour] + "的"
    return colour + ("" if thing.size is None else SIZES[thing.size]) + NOUNS[noun(thing)][1]


def _counted(number: int, thing: Thing) -> str:
    return NUMBERS[number] + NOUNS[noun(thing)][0] + _words(thing)
