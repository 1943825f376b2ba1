"""What each emoji is called: short names and keywords from Unicode CLDR, in fifteen languages.

The extract in `cldr/` is made by `scripts/extract_cldr.py`; which emoji there are is decided there, once, so that the
corpus is the same for everybody.
"""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "de", "fr", "cs", "zh", "ja", "ar", "af", "ko", "ru", "nl", "es", "pt", "it", "tr")
EXTRACT = Path(__file__).parent / "cldr" / "annotations.jsonl.gz"

VARIATION = 0xFE0F  # asks for the coloured form; artists and CLDR disagree on where to write it, so nobody's counts


@dataclass(frozen=True)
class Concept:
    """One emoji, whoever draws it.

    Attributes:
        key: its code points in hexadecimal, joined by hyphens, without U+FE0F: "1f436".
        captions: language → its short name, then its keywords.
    """

    key: str
    captions: dict[str, list[str]]


def key_of(emoji: str) -> str:
    """ "🐶" → "1f436"."""
    return "-".join(f"{ord(character):x}" for character in emoji if ord(character) != VARIATION)


def without_repeats(name: str, keywords: list[str]) -> list[str]:
    """The name, then the keywords that say something else."""
    return [name, *(word for word in keywords if word.strip() and word.casefold() != name.casefold())]


def read_concepts(extract: Path = EXTRACT) -> list[Concept]:
    """Every concept, in CLDR's order, faces first."""
    concepts = []
    with gzip.open(extract, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            captions = {language: without_repeats(*entry[language]) for language in LANGUAGES}
            concepts.append(Concept(key_of(entry["emoji"]), captions))
    return concepts
