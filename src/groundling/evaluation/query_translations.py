"""The versions of each caption in other languages, from the corpus itself or from a source of translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundling.corpus import Corpus
from groundling.translation import by_name
from groundling.translation.parallel import translation_rows

OWN, COMPARABLE = "own", "comparable"  # names of sources: the corpus's own translations; captions of the same picture


@dataclass(frozen=True)
class Translations:
    """`texts`: for each caption and language its version, None where there is none; its own in its own language."""

    texts: list[list[str | None]]
    source: str


def find_translations(
    corpus: Corpus, languages: Sequence[str], source: str, data: Path | None = None, device: str = "cpu"
) -> Translations:
    """`source` is "own" (translations in the corpus), "comparable" (other captions of the picture: see
    `translation.parallel`), or anything that `translation.by_name` knows."""
    if source in (OWN, COMPARABLE):
        rows = translation_rows(corpus, languages, source == COMPARABLE)
        texts = [[None if row < 0 else corpus.texts[row] for row in versions] for versions in rows.tolist()]
        name = "translations in the corpus" if source == OWN else "comparable captions of the same picture"
        return Translations(texts, name)
    translator = by_name(source, data, device)
    found: list[list[str | None]] = [[None] * len(languages) for _ in corpus.texts]
    for code in corpus.all_languages():
        chosen = np.flatnonzero(corpus.languages == code).tolist()
        own = [corpus.texts[row] for row in chosen]
        for column, target in enumerate(languages):
            answers = own if target == code else translator.translate(own, code, target)
            for row, answer in zip(chosen, answers, strict=True):
                found[row][column] = answer
    return Translations(found, translator.name)
