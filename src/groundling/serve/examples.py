"""Words to try that find something here: captions of the collection, or everyday words that its pictures show."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from groundling.serve.service import Service
from groundling.text.language_detection import base_language

LONGEST, SHORT = 40, 16  # characters of a caption that is an example, and of one that is a better one
SHOWN = 64  # pictures that examples are looked for among, spread over the collection
DEPTH = 50  # pictures that a word's best is compared with
TOGETHER = 16  # questions asked at a time, so that those of people are not kept waiting

# The same ten things in each language: a dog, a cat, a child, a car, a tree, a beach, a bicycle, a flower, a mountain,
# a boat.
WORDS = {
    "ar": "كلب قطة طفل سيارة شجرة شاطئ دراجة زهرة جبل قارب",
    "cs": "pes kočka dítě auto strom pláž kolo květina hora loď",
    "da": "hund kat barn bil træ strand cykel blomst bjerg båd",
    "de": "Hund Katze Kind Auto Baum Strand Fahrrad Blume Berg Boot",
    "el": "σκύλος γάτα παιδί αυτοκίνητο δέντρο παραλία ποδήλατο λουλούδι βουνό βάρκα",
    "en": "dog cat child car tree beach bicycle flower mountain boat",
    "es": "perro gato niño coche árbol playa bicicleta flor montaña barco",
    "fa": "سگ گربه کودک ماشین درخت ساحل دوچرخه گل کوه قایق",
    "fi": "koira kissa lapsi auto puu ranta polkupyörä kukka vuori vene",
    "fr": "chien chat enfant voiture arbre plage vélo fleur montagne bateau",
    "he": "כלב חתול ילד מכונית עץ חוף אופניים פרח הר סירה",
    "hi": "कुत्ता बिल्ली बच्चा कार पेड़ समुद्रतट साइकिल फूल पहाड़ नाव",
    "hu": "kutya macska gyerek autó fa strand bicikli virág hegy hajó",
    "id": "anjing kucing anak mobil pohon pantai sepeda bunga gunung perahu",
    "it": "cane gatto bambino macchina albero spiaggia bicicletta fiore montagna barca",
    "ja": "犬 猫 子供 車 木 海岸 自転車 花 山 船",
    "ko": "개 고양이 아이 자동차 나무 해변 자전거 꽃 산 배",
    "nb": "hund katt barn bil tre strand sykkel blomst fjell båt",
    "nl": "hond kat kind auto boom strand fiets bloem berg boot",
    "pl": "pies kot dziecko samochód drzewo plaża rower kwiat góra łódź",
    "pt": "cachorro gato criança carro árvore praia bicicleta flor montanha barco",
    "ro": "câine pisică copil mașină copac plajă bicicletă floare munte barcă",
    "ru": "собака кошка ребёнок машина дерево пляж велосипед цветок гора лодка",
    "sv": "hund katt barn bil träd strand cykel blomma berg båt",
    "tr": "köpek kedi çocuk araba ağaç sahil bisiklet çiçek dağ tekne",
    "uk": "собака кішка дитина автомобіль дерево пляж велосипед квітка гора човен",
    "vi": "chó mèo trẻ xe cây biển xe hoa núi thuyền",
    "zh": "狗 猫 孩子 汽车 树 海滩 自行车 花 山 船",
}
UNKNOWN = ("en",)  # for a model that does not say which languages it reads


@dataclass(frozen=True)
class Example:
    """A query in a language, and the picture that it is an example of."""

    language: str
    text: str
    row: int


def spread(count: int, k: int, start: int = 0) -> list[int]:
    """k of `count` rows, evenly spread; another start, others."""
    k = min(k, count)
    return [(start + place * count // k) % count for place in range(k)] if k else []


async def examples_of(service: Service) -> list[Example]:
    """One for each language, of different pictures."""
    languages = service.index.manifest.model.languages or UNKNOWN
    if not len(service.index):
        return []
    return await (_captions if service.captions is not None else _words)(service, languages)


async def _captions(service: Service, languages: Sequence[str]) -> list[Example]:
    """For each language a caption, short and near its picture, each of another one."""
    value = service.has_captions().entries.value
    near: dict[str, list[tuple[bool, float, Example]]] = {code: [] for code in languages}
    for row in spread(len(service.index), SHOWN):
        seen = set()
        for caption, score in await service.describe(await service.vector_of(row), 100):
            text, code = value("name", caption), value("language", caption)
            if code in near and code not in seen and len(text) <= LONGEST:
                seen.add(code)
                near[code].append((len(text) > SHORT, -score, Example(code, text, row)))
    found, used = [], set()
    for code in languages:
        fresh = [one for one in near[code] if one[2].row not in used] or near[code]
        if fresh:
            found.append(min(fresh, key=lambda one: one[:2])[2])
            used.add(found[-1].row)
    return found


async def _words(service: Service, languages: Sequence[str]) -> list[Example]:
    """For each language the word whose best picture stands out most from the next ones; other things, if possible."""
    asked = [
        (code, thing, word)
        for code in languages
        for thing, word in enumerate(WORDS.get(base_language(code), "").split())
    ]
    answers: list[tuple[float, int]] = []
    for start in range(0, len(asked), TOGETHER):
        some = (_outstanding(service, word, code) for code, _, word in asked[start : start + TOGETHER])
        answers += await asyncio.gather(*some)
    found, used = [], set()
    for code in languages:
        own = [
            (thing in used, -answer[0], thing, word, answer[1])
            for (other, thing, word), answer in zip(asked, answers, strict=True)
            if other == code
        ]
        if own:
            _, _, thing, word, row = min(own)
            used.add(thing)
            found.append(Example(code, word, row))
    return found


async def _outstanding(service: Service, word: str, language: str) -> tuple[float, int]:
    words = await service.words(word, language)
    hits = [] if words.vector is None else await service.find(words.vector, DEPTH)
    if not hits:
        return 0.0, 0
    return hits[0][1] - sum(score for _, score in hits) / len(hits), hits[0][0]
