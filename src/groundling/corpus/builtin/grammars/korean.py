"""Korean: counters by noun, and a subject particle that depends on the noun's last sound (별이, 하트가)."""

from groundling.corpus.builtin.grammars.grammar import Grammar, adjectives, noun
from groundling.corpus.builtin.scenes_world import Thing

NOUNS = {  # noun, counter
    "ball": ("공", "개"),
    "triangle": ("삼각형", "개"),
    "star": ("별", "개"),
    "heart": ("하트", "개"),
    "house": ("집", "채"),
    "tree": ("나무", "그루"),
    "fish": ("물고기", "마리"),
    "flower": ("꽃", "송이"),
    "object": ("물체", "개"),
}
ADJECTIVES = {
    "big": "큰",
    "small": "작은",
    "red": "빨간",
    "blue": "파란",
    "green": "초록색",
    "yellow": "노란",
    "black": "검은",
    "white": "하얀",
}
NUMBERS = {1: "한", 2: "두", 3: "세"}
WHERE = {"left": "왼쪽", "right": "오른쪽", "above": "위", "below": "아래"}
_FIRST_SYLLABLE, _FINALS = 0xAC00, 28  # Hangul syllables lie in Unicode in the order of their final consonants


class Korean(Grammar):
    places = (
        *("왼쪽 위", "위쪽 가운데", "오른쪽 위"),
        *("왼쪽 가운데", "가운데", "오른쪽 가운데"),
        *("왼쪽 아래", "아래쪽 가운데", "오른쪽 아래"),
    )
    box = "닫힌 상자"

    def one(self, thing: Thing) -> str:
        return " ".join([*(ADJECTIVES[each] for each in adjectives(thing)), NOUNS[noun(thing)][0]])

    def exists(self, thing: Thing) -> str:
        return f"그림에 {self._subject(thing)} 있다."

    def absent(self, thing: Thing) -> str:
        return f"그림에 {self._subject(thing)} 없다."

    def count(self, number: int, thing: Thing) -> str:
        return f"그림에 {self._subject(thing)} 정확히 {NUMBERS[number]} {NOUNS[noun(thing)][1]} 있다."

    def beside(self, thing: Thing, relation: str, other: Thing) -> str:
        return f"그림에서 {self.one(other)} {WHERE[relation]}에 {self._subject(thing)} 있다."

    def more(self, thing: Thing, other: Thing) -> str:
        return f"그림에는 {self._subject(thing)} {self.one(other)}보다 더 많다."

    def _subject(self, thing: Thing) -> str:
        words = self.one(thing)
        return words + ("이" if (ord(words[-1]) - _FIRST_SYLLABLE) % _FINALS else "가")
