"""Bilingual dictionaries: pairs of words, read from the layouts they are published in.

MUSE lines (`source target`, parted by white space), tables parted by tabs, and `target @ source` lines, also gzipped.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from groundling.errors import UserError
from groundling.words.lines import numbered_lines, open_plain
from groundling.words.problems import Problems, shown
from groundling.words.vectors import WordVectors

Pair = tuple[str, str]
Order = Literal["auto", "as-written", "swapped"]
LONGEST_WORD = 1000  # letters


def read_pairs(path: Path) -> tuple[list[Pair], Problems]:
    """(source, target) pairs in the order of the file, each once, and what was left out."""
    problems = Problems(path)
    pairs: dict[Pair, None] = {}
    with open_plain(path) as file:
        for number, raw in numbered_lines(file, path):
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError:
                problems.add(number, "not UTF-8", "the line is not UTF-8")
                continue
            if not line.strip():
                continue
            pair = parse_pair(line)
            if pair is None:
                problems.add(
                    number, "not a pair", f'"{shown(line)}" is not a pair (`source target` or `target @ source`)'
                )
            elif max(map(len, pair)) > LONGEST_WORD:
                problems.add(number, "too long", f"a word of more than {LONGEST_WORD:,} letters")
            elif pair in pairs:
                problems.add(number, "duplicate pair", f'"{shown(line)}" stands here again')
            else:
                pairs[pair] = None
    if not pairs:
        first = f"; {problems.sentences[0]}" if problems.sentences else ""
        raise UserError(f"{path}: holds no pairs of words{first}")
    return list(pairs), problems


def parse_pair(line: str) -> Pair | None:
    """One line of any of the layouts; a tab decides before ` @ `, and that before other white space.

    >>> parse_pair("dog hund"), parse_pair("hund @ dog"), parse_pair("ice cream\\teis"), parse_pair("dog")
    (('dog', 'hund'), ('dog', 'hund'), ('ice cream', 'eis'), None)
    """
    if "\t" in line:
        parts = [part.strip() for part in line.split("\t")]
        parts = [part for part in parts if part]
    elif " @ " in line:
        parts = [part.strip() for part in reversed(line.split(" @ "))]
    else:
        parts = line.split()
    return (parts[0], parts[1]) if len(parts) == 2 and all(parts) else None


def identical(source: WordVectors, target: WordVectors) -> list[Pair]:
    """Words both languages write alike: names, numbers, loanwords. A weak dictionary, for want of a better one."""
    return [(word, word) for word in source.words if word in target]


@dataclass(frozen=True)
class Coverage:
    """How much of a dictionary can be used: pairs with both words among the vectors.

    Attributes:
        pairs: pairs in the dictionary.
        covered: pairs both words of which have a vector.
        source_words: different source words of the dictionary.
        covered_source_words: those with at least one covered pair.
        swapped: whether the dictionary was turned round to fit the vectors.
    """

    pairs: int
    covered: int
    source_words: int
    covered_source_words: int
    swapped: bool = False


def cover(
    pairs: Iterable[Pair], source: WordVectors, target: WordVectors, order: Order = "auto"
) -> tuple[list[Pair], Coverage]:
    """The pairs that both languages have vectors for.

    `auto` turns the dictionary round where more of it fits that way: en–de files serve for German to English, too.
    """
    written = list(dict.fromkeys(pairs))
    turned = [(second, first) for first, second in written]
    kept, kept_turned = (
        [(one, other) for one, other in both if one in source and other in target] for both in (written, turned)
    )
    swapped = order == "swapped" or (order == "auto" and len(kept_turned) > len(kept))
    used, found = (turned, kept_turned) if swapped else (written, kept)
    sources = len({one for one, _ in used}), len({one for one, _ in found})
    return found, Coverage(len(used), len(found), *sources, swapped)


def split_pairs(pairs: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """(training, test) by source word: all translations of a word are on one side.

    Words are drawn in the order of the alphabet, so the order of the file does not matter.
    """
    sources = sorted({source for source, _ in pairs})
    drawn = np.random.default_rng(seed).permutation(len(sources))[: round(share * len(sources))]
    test = {sources[place] for place in drawn.tolist()}
    return [pair for pair in pairs if pair[0] not in test], [pair for pair in pairs if pair[0] in test]


def rows(pairs: Sequence[Pair], source: WordVectors, target: WordVectors) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Row numbers of covered pairs, shape [pairs, 2]."""
    found = [(source.rows[one], target.rows[other]) for one, other in pairs]
    return np.array(found, dtype=np.int64).reshape(-1, 2)
