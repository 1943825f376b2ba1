"""A dictionary between two languages through a third: German–French from English–German and English–French.

It is noisy. An English word with several meanings ties German words for one of them to French words for another
(Bank–bank–rive), and every synonym on one side to every synonym on the other. For each word we keep the translations
that most words of the language between agree on: that takes away most of the first kind, which rarely has a second word
in its favour, and leaves ties in.
"""

from collections import Counter
from collections.abc import Iterable

from groundling.errors import UserError
from groundling.words.dictionary import Pair


def compose(first: Iterable[Pair], second: Iterable[Pair]) -> list[Pair]:
    """Pairs of a word of each dictionary that share a word of the language between, each once.

    Which side of a dictionary that language stands on is found out: the one where the two share most words.

    >>> compose([("dog", "hund"), ("bank", "bank"), ("shore", "ufer")], [("dog", "chien"), ("bank", "banque")])
    [('hund', 'chien'), ('bank', 'banque')]
    """
    sides = [(list(pairs), [(other, one) for one, other in pairs]) for pairs in (list(first), list(second))]
    shared = {
        (one, other): len({pair[0] for pair in sides[0][one]} & {pair[0] for pair in sides[1][other]})
        for one in (0, 1)
        for other in (0, 1)
    }
    best = max(shared, key=lambda key: shared[key])
    if not shared[best]:
        raise UserError("two dictionaries can be joined through the language they share, and these share no word")
    through: dict[str, list[str]] = {}
    for between, word in sides[1][best[1]]:
        through.setdefault(between, []).append(word)
    agreed: dict[str, Counter[str]] = {}
    for between, word in sides[0][best[0]]:
        agreed.setdefault(word, Counter()).update(through.get(between, ()))
    return [
        (word, other)
        for word, counts in agreed.items()
        for other, count in counts.items()
        if count == max(counts.values())
    ]
