"""What a person should know of sentence pairs before a lesson begins: bad lines, columns that seem to be swapped."""

from collections.abc import Sequence

import numpy as np

from groundling.corpus.pairs import SentencePairs
from groundling.corpus.pairs.source import PairSource
from groundling.text.language_detection import base_language, detect_language

SHOWN = 20  # bad lines that are listed
LOOKED_AT = 200  # sentences whose language is detected
MOST = 0.6  # of them must be in the other language


def sentences(pairs: PairSource) -> list[str]:
    """One for each thing that is worth saying; most files have none."""
    problems: Sequence[str] = getattr(pairs, "problems", ())
    said = list(problems[:SHOWN])
    if problems:
        more = f" ({len(problems) - SHOWN:,} more not shown)" if len(problems) > SHOWN else ""
        said.append(f"{len(problems):,} bad lines, left out{more}")
    twice = getattr(pairs, "duplicates", 0)
    if twice:
        said.append(f"{twice:,} pairs are there more than once; each is learned once")
    swapped = swapped_columns(pairs.split("train"))
    return [*said, swapped] if swapped else said


def swapped_columns(pairs: SentencePairs) -> str:
    """A sentence that says so where the new sentences look like the known language, and the known ones like the new;
    nothing where the detector knows neither, or is not installed."""
    rows = np.linspace(0, len(pairs) - 1, min(LOOKED_AT, len(pairs))).astype(np.int64)
    beside = pairs.partner(rows)
    new, known = pairs.languages[int(rows[0])], pairs.known_languages[int(beside[0])]
    of_new = _share([pairs.new[row] for row in rows.tolist()], known, new)
    of_known = _share([pairs.known[row] for row in beside.tolist()], new, known)
    if of_new < MOST or of_known < MOST:
        return ""
    return (
        f"{pairs.name}: the columns seem to be swapped: {of_new:.0%} of the sentences given as {new} look like "
        f"{known}, and {of_known:.0%} of those given as {known} like {new}"
    )


def _share(texts: Sequence[str], code: str, other: str) -> float:
    """How many of these texts look like one language rather than the other."""
    found = [detect_language(text, [code, other]) for text in texts]
    return sum(base_language(one) == base_language(code) for one in found) / max(1, len(found))
