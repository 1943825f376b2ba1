"""How many words languages share (Kádár et al. 2018, Table 1 and section 4)."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

from groundling.corpus import Corpus
from groundling.text.segmentation import words


@dataclass(frozen=True)
class Overlap:
    """
    Attributes:
        words: language → how many words it has.
        sum, union: words of all languages, counted once for each language, and once.
        jaccard: pair of languages, "de-en" → |A ∩ B| / |A ∪ B|.
    """

    words: dict[str, int]
    sum: int
    union: int
    jaccard: dict[str, float]


def vocabularies(corpus: Corpus, minimum_count: int, segmentation: str) -> dict[str, set[str]]:
    """For each language the words with at least `minimum_count` occurrences in its training captions."""
    counts: dict[str, Counter[str]] = {code: Counter() for code in sorted(corpus.all_languages())}
    training = corpus.split("train")
    for text, code in zip(training.texts, training.languages.tolist(), strict=True):
        counts[code].update(words(text, code, segmentation))
    return {code: {word for word, n in found.items() if n >= minimum_count} for code, found in counts.items()}


def overlap(corpus: Corpus, minimum_count: int = 4, segmentation: str | None = None, symbols: int = 0) -> Overlap:
    """Sizes of the vocabularies, their sum and union, and the Jaccard coefficient |A ∩ B| / |A ∪ B| of each pair.

    Text that its publisher tokenised (the corpus knows) is split at spaces only, unless told otherwise. `symbols` is
    the number of special symbols (padding, unknown word, …) that count as words of every language in the coefficients.
    """
    found = vocabularies(corpus, minimum_count, segmentation or corpus.info.segmentation or "script")
    union: set[str] = set().union(*found.values())
    return Overlap(
        words={code: len(vocabulary) for code, vocabulary in found.items()},
        sum=sum(map(len, found.values())),
        union=len(union),
        jaccard={
            f"{one}-{other}": (len(found[one] & found[other]) + symbols)
            / max(1, len(found[one] | found[other]) + symbols)
            for one, other in combinations(found, 2)
        },
    )
