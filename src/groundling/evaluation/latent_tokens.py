"""Which words share a latent token (LA, HEM, SMALR: Burns et al. 2020, https://arxiv.org/abs/2004.04312), and how often
they translate each other by a dictionary.

A token that all languages share is worth its parameters where its words mean the same. Two shares tell: of the words
that stand together, how many are translations; and of the translations that a dictionary lists, how many stand
together. Both have beside them what words dealt out at random over the same tokens would give.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from groundling.errors import UserError
from groundling.words.dictionary import Pair, read_pairs
from groundling.words.sources import find_file

Tokens = Mapping[str, int]  # word → its token


@dataclass(frozen=True)
class Translations:
    """The words of a language that share tokens with words of the base language. Shares are in percent.

    Attributes:
        words: of the language that are latent tokens.
        pairs: of a base word that the dictionary knows and a word of the language, in one token.
        right: how many of them the dictionary lists, and `right_by_chance` of all such pairs, in a token or not.
        listed: pairs of the dictionary both words of which are latent tokens.
        together: how many of them share one, and `together_by_chance` of words dealt out at random.
    """

    words: int
    pairs: int
    right: float | None
    right_by_chance: float | None
    listed: int
    together: float | None
    together_by_chance: float | None


@dataclass(frozen=True)
class TokenQuality:
    """
    Attributes:
        tokens: that some word has; `words` of all languages that have one.
        largest: words of the token that has most.
        shared: tokens that words of two languages or more have, in percent.
        languages: other language → what it has in common with the base language.
    """

    tokens: int
    words: int
    largest: int
    shared: float
    languages: dict[str, Translations]

    @property
    def words_per_token(self) -> float:
        return self.words / max(1, self.tokens)

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "words_per_token": self.words_per_token}


def token_quality(latent: Mapping[str, Tokens], dictionaries: Mapping[str, Iterable[Pair]], base: str) -> TokenQuality:
    """
    Args:
        latent: language → word → token.
        dictionaries: other language → (base word, its word) pairs.
    """
    words: Counter[int] = Counter()
    spoken: dict[int, set[str]] = {}
    for code, tokens in latent.items():
        words.update(tokens.values())
        for token in set(tokens.values()):
            spoken.setdefault(token, set()).add(code)
    several = sum(len(codes) > 1 for codes in spoken.values())
    return TokenQuality(
        tokens=len(words),
        words=words.total(),
        largest=max(words.values(), default=0),
        shared=100 * several / max(1, len(words)),
        languages={
            code: translations(latent.get(base, {}), latent.get(code, {}), pairs)
            for code, pairs in dictionaries.items()
        },
    )


def translations(base: Tokens, other: Tokens, dictionary: Iterable[Pair]) -> Translations:
    listed = {(one, two) for one, two in dictionary if one in base and two in other}
    known = {one for one, _ in listed}
    in_token = Counter(other.values())
    pairs = sum(in_token[base[word]] for word in known)
    together = sum(base[one] == other[two] for one, two in listed)
    of_base = Counter(base.values())
    dealt = sum(of_base[token] * count for token, count in in_token.items())
    return Translations(
        words=len(other),
        pairs=pairs,
        right=_share(together, pairs),
        right_by_chance=_share(len(listed), len(known) * len(other)),
        listed=len(listed),
        together=_share(together, len(listed)),
        together_by_chance=_share(dealt, len(base) * len(other)),
    )


def read_dictionaries(files: str, base: str, languages: Iterable[str], data: Path | None) -> dict[str, list[Pair]]:
    """Other language → (base word, its word) pairs, of the languages for which there is a file."""
    found = {}
    for code in languages:
        if code == base:
            continue
        try:
            path = find_file(files.replace("{base}", base).replace("{language}", code), data)
        except UserError:
            continue
        found[code] = read_pairs(path)[0]
    if not found:
        raise UserError(f"--dictionaries {files}: no such file for any language of the run, here or below --data")
    return found


def _share(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None
