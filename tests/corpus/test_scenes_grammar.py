"""Sentences as people write them, language by language, and English read back into what it says."""

import re

import pytest

from groundling.corpus.builtin.grammars import GRAMMARS
from groundling.corpus.builtin.scenes_sampling import scenes
from groundling.corpus.builtin.scenes_statements import forms
from groundling.corpus.builtin.scenes_world import (
    COLOURS,
    KINDS,
    SIZES,
    Absent,
    Beside,
    Count,
    Exists,
    Item,
    More,
    Statement,
    Thing,
)

EVERYTHING: list[Statement] = [statement for form in forms() for statement in form]


def thing(words: str) -> Thing:
    """ "big red star", "red object", "star"."""
    parts = words.split()
    size, colour, kind = (next((part for part in parts if part in known), None) for known in (SIZES, COLOURS, KINDS))
    assert words == " ".join(part for part in (size, colour, kind or "object") if part), words
    return Thing(size, colour, kind)


# Each line: what is said, in the words of the world, and the sentence as a native writes it.
SENTENCES: dict[str, list[tuple[Statement, str]]] = {
    "en": [
        (Exists(thing("big red star")), "There is a big red star in the picture."),
        (Absent(thing("fish")), "There is no fish in the picture."),
        (Count(1, thing("blue heart")), "There is exactly one blue heart in the picture."),
        (Count(2, thing("small fish")), "There are exactly two small fish in the picture."),
        (Count(3, thing("green object")), "There are exactly three green objects in the picture."),
        (Beside(thing("red ball"), "left", thing("house")), "There is a red ball to the left of a house."),
        (Beside(thing("tree"), "below", thing("white object")), "There is a tree below a white object."),
        (More(thing("house"), thing("flower")), "There are more houses than flowers in the picture."),
    ],
    "de": [
        (Exists(thing("big red star")), "Auf dem Bild ist ein großer roter Stern."),
        (Exists(thing("small yellow flower")), "Auf dem Bild ist eine kleine gelbe Blume."),
        (Exists(thing("big white house")), "Auf dem Bild ist ein großes weißes Haus."),
        (Absent(thing("black tree")), "Auf dem Bild ist kein schwarzer Baum."),
        (Absent(thing("flower")), "Auf dem Bild ist keine Blume."),
        (Absent(thing("green triangle")), "Auf dem Bild ist kein grünes Dreieck."),
        (Count(1, thing("blue flower")), "Auf dem Bild ist genau eine blaue Blume."),
        (Count(2, thing("small ball")), "Auf dem Bild sind genau zwei kleine Bälle."),
        (Count(3, thing("red house")), "Auf dem Bild sind genau drei rote Häuser."),
        (
            Beside(thing("star"), "left", thing("blue heart")),
            "Auf dem Bild ist ein Stern links von einem blauen Herzen.",
        ),
        (
            Beside(thing("red fish"), "above", thing("flower")),
            "Auf dem Bild ist ein roter Fisch über einer Blume.",
        ),
        (
            Beside(thing("triangle"), "below", thing("green tree")),
            "Auf dem Bild ist ein Dreieck unter einem grünen Baum.",
        ),
        (More(thing("heart"), thing("tree")), "Auf dem Bild sind mehr Herzen als Bäume."),
        (More(thing("red object"), thing("blue object")), "Auf dem Bild sind mehr rote Objekte als blaue Objekte."),
    ],
    "nl": [
        (Exists(thing("big red star")), "Er staat een grote rode ster op de afbeelding."),
        (Exists(thing("big red heart")), "Er staat een groot rood hart op de afbeelding."),
        (Absent(thing("yellow house")), "Er staat geen geel huis op de afbeelding."),
        (Absent(thing("white tree")), "Er staat geen witte boom op de afbeelding."),
        (Count(1, thing("black object")), "Er staat precies één zwart voorwerp op de afbeelding."),
        (Count(2, thing("yellow house")), "Er staan precies twee gele huizen op de afbeelding."),
        (Count(3, thing("small fish")), "Er staan precies drie kleine vissen op de afbeelding."),
        (Beside(thing("ball"), "right", thing("green heart")), "Er staat een bal rechts van een groen hart."),
        (Beside(thing("blue flower"), "above", thing("triangle")), "Er staat een blauwe bloem boven een driehoek."),
        (More(thing("tree"), thing("star")), "Er staan meer bomen dan sterren op de afbeelding."),
    ],
    "fr": [
        (Exists(thing("big green star")), "Il y a une grande étoile verte sur l'image."),
        (Exists(thing("small white house")), "Il y a une petite maison blanche sur l'image."),
        (Exists(thing("red object")), "Il y a un objet rouge sur l'image."),
        (Absent(thing("star")), "Il n'y a pas d'étoile sur l'image."),
        (Absent(thing("big star")), "Il n'y a pas de grande étoile sur l'image."),
        (Absent(thing("black tree")), "Il n'y a pas d'arbre noir sur l'image."),
        (Absent(thing("blue heart")), "Il n'y a pas de cœur bleu sur l'image."),
        (Count(1, thing("black flower")), "Il y a exactement une fleur noire sur l'image."),
        (Count(2, thing("white heart")), "Il y a exactement deux cœurs blancs sur l'image."),
        (Count(3, thing("blue house")), "Il y a exactement trois maisons bleues sur l'image."),
        (Count(2, thing("small tree")), "Il y a exactement deux petits arbres sur l'image."),
        (Beside(thing("fish"), "left", thing("star")), "Il y a un poisson à gauche d'une étoile."),
        (Beside(thing("yellow ball"), "below", thing("tree")), "Il y a un ballon jaune au-dessous d'un arbre."),
        (More(thing("star"), thing("heart")), "Il y a plus d'étoiles que de cœurs sur l'image."),
        (More(thing("house"), thing("tree")), "Il y a plus de maisons que d'arbres sur l'image."),
    ],
    "cs": [
        (Exists(thing("big red star")), "Na obrázku je velká červená hvězda."),
        (Exists(thing("small white heart")), "Na obrázku je malé bílé srdce."),
        (Absent(thing("blue ball")), "Na obrázku není žádný modrý míč."),
        (Absent(thing("fish")), "Na obrázku není žádná ryba."),
        (Absent(thing("heart")), "Na obrázku není žádné srdce."),
        (Count(1, thing("green tree")), "Na obrázku je právě jeden zelený strom."),
        (Count(1, thing("heart")), "Na obrázku je právě jedno srdce."),
        (Count(2, thing("yellow house")), "Na obrázku jsou právě dva žluté domy."),
        (Count(2, thing("black fish")), "Na obrázku jsou právě dvě černé ryby."),
        (Count(2, thing("white heart")), "Na obrázku jsou právě dvě bílá srdce."),
        (Count(3, thing("red heart")), "Na obrázku jsou právě tři červená srdce."),
        (Beside(thing("star"), "left", thing("blue ball")), "Na obrázku je hvězda nalevo od modrého míče."),
        (
            Beside(thing("red fish"), "right", thing("green flower")),
            "Na obrázku je červená ryba napravo od zelené květiny.",
        ),
        (Beside(thing("heart"), "above", thing("white star")), "Na obrázku je srdce nad bílou hvězdou."),
        (Beside(thing("triangle"), "below", thing("black house")), "Na obrázku je trojúhelník pod černým domem."),
        (More(thing("star"), thing("heart")), "Na obrázku je více hvězd než srdcí."),
        (
            More(thing("red object"), thing("blue object")),
            "Na obrázku je více červených předmětů než modrých předmětů.",
        ),
    ],
    "ru": [
        (Exists(thing("big blue star")), "На картинке есть большая синяя звезда."),
        (Exists(thing("small green tree")), "На картинке есть маленькое зелёное дерево."),
        (Exists(thing("big blue house")), "На картинке есть большой синий дом."),
        (Absent(thing("red star")), "На картинке нет красной звезды."),
        (Absent(thing("blue ball")), "На картинке нет синего мяча."),
        (Absent(thing("big flower")), "На картинке нет большого цветка."),
        (Count(1, thing("white heart")), "На картинке ровно одно белое сердце."),
        (Count(1, thing("blue fish")), "На картинке ровно одна синяя рыба."),
        (Count(2, thing("red star")), "На картинке ровно две красные звезды."),
        (Count(2, thing("red ball")), "На картинке ровно два красных мяча."),
        (Count(3, thing("blue tree")), "На картинке ровно три синих дерева."),
        (Count(3, thing("small fish")), "На картинке ровно три маленькие рыбы."),
        (Beside(thing("ball"), "left", thing("blue star")), "На картинке есть мяч слева от синей звезды."),
        (Beside(thing("black fish"), "right", thing("house")), "На картинке есть чёрная рыба справа от дома."),
        (Beside(thing("heart"), "above", thing("yellow tree")), "На картинке есть сердце над жёлтым деревом."),
        (Beside(thing("flower"), "below", thing("white star")), "На картинке есть цветок под белой звездой."),
        (More(thing("star"), thing("heart")), "На картинке звёзд больше, чем сердец."),
        (
            More(thing("red object"), thing("blue object")),
            "На картинке красных предметов больше, чем синих предметов.",
        ),
    ],
    "zh": [
        (Exists(thing("big red star")), "图中有一颗红色的大星星。"),
        (Exists(thing("small fish")), "图中有一条小鱼。"),
        (Absent(thing("green tree")), "图中没有绿色的树。"),
        (Count(1, thing("house")), "图中正好有一座房子。"),
        (Count(2, thing("white flower")), "图中正好有两朵白色的花。"),
        (Count(3, thing("black object")), "图中正好有三个黑色的物体。"),
        (Beside(thing("blue ball"), "left", thing("tree")), "图中有一个蓝色的球在一棵树左边。"),
        (Beside(thing("fish"), "above", thing("yellow heart")), "图中有一条鱼在一颗黄色的爱心上方。"),
        (More(thing("star"), thing("triangle")), "图中星星比三角形多。"),
    ],
    "ja": [
        (Exists(thing("big red star")), "絵の中に大きな赤い星がある。"),
        (Exists(thing("yellow fish")), "絵の中に黄色い魚がいる。"),
        (Absent(thing("green tree")), "絵の中に緑色の木はない。"),
        (Absent(thing("fish")), "絵の中に魚はいない。"),
        (Count(1, thing("white house")), "絵の中に白い家がちょうど1軒ある。"),
        (Count(2, thing("small fish")), "絵の中に小さな魚がちょうど2匹いる。"),
        (Count(3, thing("tree")), "絵の中に木がちょうど3本ある。"),
        (Beside(thing("black ball"), "left", thing("blue heart")), "絵の中で、青いハートの左に黒いボールがある。"),
        (Beside(thing("fish"), "below", thing("star")), "絵の中で、星の下に魚がいる。"),
        (More(thing("flower"), thing("house")), "絵の中では、花のほうが家より多い。"),
    ],
    "ko": [
        (Exists(thing("big red star")), "그림에 큰 빨간 별이 있다."),
        (Exists(thing("blue heart")), "그림에 파란 하트가 있다."),
        (Absent(thing("white flower")), "그림에 하얀 꽃이 없다."),
        (Absent(thing("fish")), "그림에 물고기가 없다."),
        (Count(1, thing("green tree")), "그림에 초록색 나무가 정확히 한 그루 있다."),
        (Count(2, thing("black fish")), "그림에 검은 물고기가 정확히 두 마리 있다."),
        (Count(3, thing("house")), "그림에 집이 정확히 세 채 있다."),
        (Beside(thing("yellow ball"), "left", thing("tree")), "그림에서 나무 왼쪽에 노란 공이 있다."),
        (Beside(thing("triangle"), "below", thing("red object")), "그림에서 빨간 물체 아래에 삼각형이 있다."),
        (More(thing("star"), thing("heart")), "그림에는 별이 하트보다 더 많다."),
    ],
    "ar": [
        (Exists(thing("big red star")), "توجد في الصورة نجمة حمراء كبيرة."),
        (Exists(thing("small blue house")), "يوجد في الصورة بيت أزرق صغير."),
        (Absent(thing("green tree")), "لا توجد في الصورة شجرة خضراء."),
        (Absent(thing("white heart")), "لا يوجد في الصورة قلب أبيض."),
        (Count(1, thing("yellow fish")), "توجد في الصورة سمكة صفراء واحدة فقط."),
        (Count(1, thing("triangle")), "يوجد في الصورة مثلث واحد فقط."),
        (Count(2, thing("red star")), "توجد في الصورة نجمتان حمراوان فقط."),
        (Count(2, thing("white heart")), "يوجد في الصورة قلبان أبيضان فقط."),
        (Count(2, thing("big ball")), "توجد في الصورة كرتان كبيرتان فقط."),
        (Count(3, thing("black ball")), "توجد في الصورة ثلاث كرات سوداء فقط."),
        (Count(3, thing("green heart")), "توجد في الصورة ثلاثة قلوب خضراء فقط."),
        (Beside(thing("flower"), "left", thing("blue heart")), "توجد في الصورة زهرة إلى يسار قلب أزرق."),
        (Beside(thing("black house"), "below", thing("star")), "يوجد في الصورة بيت أسود تحت نجمة."),
        (More(thing("star"), thing("fish")), "عدد النجوم في الصورة أكبر من عدد الأسماك."),
        (
            More(thing("red object"), thing("blue object")),
            "عدد الأشياء الحمراء في الصورة أكبر من عدد الأشياء الزرقاء.",
        ),
    ],
}


@pytest.mark.parametrize("language", GRAMMARS)
def test_sentences_are_those_a_native_writes(language: str) -> None:
    for statement, sentence in SENTENCES[language]:
        assert GRAMMARS[language].say(statement) == sentence


@pytest.mark.parametrize("language", GRAMMARS)
def test_different_statements_are_different_sentences(language: str) -> None:
    """Else one text would have two meanings, and labels that are wrong for one of them."""
    said = {GRAMMARS[language].say(statement) for statement in EVERYTHING}
    assert len(said) == len(EVERYTHING)


@pytest.mark.parametrize("language", GRAMMARS)
def test_different_scenes_have_different_captions(language: str) -> None:
    drawn = [scene for split in ("train", "dev", "test") for scene in scenes(split, 300, seed=3)]
    assert len({GRAMMARS[language].describe(scene) for scene in drawn}) == len(drawn)


SCENE = (
    Item(0, "big", "red", "star"),
    Item(1, "small", None, "heart"),
    Item(5, "big", "white", None),
    Item(7, None, None, None, box=True),
)
CAPTIONS = {
    "en": "Top left: a big red star; top centre: a small heart; middle right: a big white object; "
    "bottom centre: a closed box.",
    "de": "Oben links: ein großer roter Stern; oben in der Mitte: ein kleines Herz; rechts in der Mitte: ein großes "
    "weißes Objekt; unten in der Mitte: eine geschlossene Kiste.",
    "nl": "Linksboven: een grote rode ster; middenboven: een klein hart; rechts in het midden: een groot wit voorwerp; "
    "middenonder: een gesloten doos.",
    "fr": "En haut à gauche : une grande étoile rouge ; en haut au centre : un petit cœur ; au milieu à droite : un "
    "grand objet blanc ; en bas au centre : une boîte fermée.",
    "cs": "Vlevo nahoře: velká červená hvězda; nahoře uprostřed: malé srdce; vpravo uprostřed: velký bílý předmět; "
    "dole uprostřed: zavřená krabice.",
    "ru": "Вверху слева: большая красная звезда; вверху посередине: маленькое сердце; посередине справа: большой белый "
    "предмет; внизу посередине: закрытая коробка.",
    "zh": "左上角：一颗红色的大星星；上方中间：一颗小爱心；右侧中间：一个白色的大物体；下方中间：一个关着的箱子。",
    "ja": "左上：大きな赤い星、中央上：小さなハート、右中央：大きな白い物体、中央下：閉じた箱。",
    "ko": "왼쪽 위: 큰 빨간 별; 위쪽 가운데: 작은 하트; 오른쪽 가운데: 큰 하얀 물체; 아래쪽 가운데: 닫힌 상자.",
    "ar": "في أعلى اليسار: نجمة حمراء كبيرة؛ في أعلى الوسط: قلب صغير؛ في وسط اليمين: شيء أبيض كبير؛ "
    "في أسفل الوسط: صندوق مغلق.",
}


@pytest.mark.parametrize("language", GRAMMARS)
def test_captions_tell_all_that_is_seen_and_no_more(language: str) -> None:
    assert GRAMMARS[language].describe(SCENE) == CAPTIONS[language]


# ---- English read back


def singular(words: str) -> str:
    plurals = {"fish": "fish", "objects": "object"} | {f"{kind}s": kind for kind in KINDS if kind != "fish"}
    *rest, last = words.split()
    return " ".join([*rest, plurals[last]])


def parse(sentence: str) -> Statement:
    if found := re.fullmatch(r"There is a (.+) (to the left of|to the right of|above|below) a (.+)\.", sentence):
        one, where, other = found.groups()
        return Beside(thing(one), where.removeprefix("to the ").removesuffix(" of"), thing(other))
    if found := re.fullmatch(r"There are more (.+) than (.+) in the picture\.", sentence):
        return More(*(thing(singular(words)) for words in found.groups()))
    if found := re.fullmatch(r"There is exactly one (.+) in the picture\.", sentence):
        return Count(1, thing(found[1]))
    if found := re.fullmatch(r"There are exactly (two|three) (.+) in the picture\.", sentence):
        return Count({"two": 2, "three": 3}[found[1]], thing(singular(found[2])))
    found = re.fullmatch(r"There is (a|no) (.+) in the picture\.", sentence)
    assert found, sentence
    return Exists(thing(found[2])) if found[1] == "a" else Absent(thing(found[2]))


def test_english_says_what_was_meant() -> None:
    for statement in EVERYTHING:
        assert parse(GRAMMARS["en"].say(statement)) == statement


def test_english_captions_can_be_drawn_again() -> None:
    rows, columns = ("top", "middle", "bottom"), ("left", "centre", "right")
    cells = {f"{row} {column}": 3 * at + place for at, row in enumerate(rows) for place, column in enumerate(columns)}
    cells["centre"] = cells.pop("middle centre")
    for scene in scenes("test", 200, seed=5):
        items = []
        for part in GRAMMARS["en"].describe(scene).removesuffix(".").split("; "):
            place, words = part.split(": ")
            if words == "a closed box":
                items.append(Item(cells[place.lower()], None, None, None, box=True))
            else:
                seen = thing(words.removeprefix("a "))
                items.append(Item(cells[place.lower()], seen.size, seen.colour, seen.kind))
        assert tuple(items) == scene


# ---- agreement, checked from the other side: by the noun that a word stands beside


def test_german_endings_follow_the_article() -> None:
    for kind in KINDS:
        said = GRAMMARS["de"].say(Exists(Thing("big", "red", kind)))
        article, big, red = said.removeprefix("Auf dem Bild ist ").split()[:3]
        noun = said.split()[-1].removesuffix(".")
        feminine, neuter = noun == "Blume", noun in ("Dreieck", "Herz", "Haus")
        assert (article == "eine") == feminine
        assert (big, red) == ("große", "rote") if feminine else (big[-2:] == red[-2:] == ("es" if neuter else "er"))


def test_arabic_numerals_take_the_other_gender() -> None:
    for kind in KINDS:
        one = GRAMMARS["ar"].say(Count(1, Thing(kind=kind)))
        three = GRAMMARS["ar"].say(Count(3, Thing(kind=kind)))
        assert ("واحدة" in one) == ("ثلاثة" not in three)
