"""Which captions of a corpus are translations of each other.

A corpus does not say which sentence was translated from which, so this is told from what it does say. In each language
a picture has at most one *parallel* caption: the only one that is marked as a translation; else its only caption. These
are translations of each other if at least one of them is no human's own words. So the four captions of a photo in
Multi30K's task 1 are, and the French and Czech ones in F8K-7, but never five captions that five people wrote of one
photo. A corpus may also vouch that the first captions of each picture are (`info["parallel"] = "first"`), as emoji
names are.

*Comparable* captions, the k-th of each language, are no translations: each tells something new about the very picture
that is looked for, which nobody who searches knows. They are offered as an upper bound, under that name.
"""

from collections.abc import Sequence

import numpy as np

from groundling.corpus.corpus import Corpus, Integers
from groundling.translation.translation_table import Line, Table


def translation_rows(corpus: Corpus, languages: Sequence[str], comparable: bool = False) -> Integers:
    """[captions, languages]: the row of each caption's translation, −1 where there is none; its own in its language."""
    place = {code: column for column, code in enumerate(languages)}
    found = np.full((len(corpus), len(languages)), -1, dtype=np.int64)
    for captions in _by_picture(corpus).values():
        for group in _kth(captions) if comparable else _parallel(corpus, captions):
            for row in group.values():
                for code, other in group.items():
                    if code in place:
                        found[row, place[code]] = other
    for row, code in enumerate(corpus.languages.tolist()):
        if code in place:
            found[row, place[code]] = row
    return found


class ParallelCaptions:
    """The parallel captions of a corpus as a table: what is found there word for word can be translated.

    They are people's work, unless a machine had a hand in any of them: then all pass for a machine's.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.name = f"corpus:{corpus.name}"
        self.origin = "translation"
        lines: list[Line] = []
        for captions in _by_picture(corpus).values():
            for group in _parallel(corpus, captions):
                if len(group) > 1 and any(corpus.origins[row] == "machine" for row in group.values()):
                    self.origin = "machine"
                for source, row in group.items():
                    pairs = [(target, other) for target, other in group.items() if target != source]
                    lines += [(source, target, corpus.texts[row], corpus.texts[other]) for target, other in pairs]
        self.table = Table.of(self.name, lines)

    def translate(self, texts: Sequence[str], source: str, target: str) -> list[str | None]:
        return self.table.translate(texts, source, target)


def _by_picture(corpus: Corpus) -> dict[int, dict[str, list[int]]]:
    """Picture → language → rows of its captions, in order."""
    found: dict[int, dict[str, list[int]]] = {}
    for row, (owner, code) in enumerate(zip(corpus.owners.tolist(), corpus.languages.tolist(), strict=True)):
        found.setdefault(owner, {}).setdefault(code, []).append(row)
    return found


def _parallel(corpus: Corpus, captions: dict[str, list[int]]) -> list[dict[str, int]]:
    """The parallel captions of one picture, by language; nothing where they are all people's own words."""
    if corpus.info.parallel == "first":
        return [{code: rows[0] for code, rows in captions.items()}]
    chosen = {}
    for code, rows in captions.items():
        marked = [row for row in rows if corpus.origins[row] == "translation"]
        if len(marked) == 1 or len(rows) == 1:
            chosen[code] = (marked if len(marked) == 1 else rows)[0]
    return [chosen] if any(corpus.origins[row] != "human" for row in chosen.values()) else []


def _kth(captions: dict[str, list[int]]) -> list[dict[str, int]]:
    longest = max(len(rows) for rows in captions.values())
    return [{code: rows[k] for code, rows in captions.items() if k < len(rows)} for k in range(longest)]
