"""How far the words of statements give their labels away: classifiers that never see a picture.

People write "sleeping" and "nobody" into contradictions (Gururangan et al. 2018), so a model that looks at no picture
can be right far more often than in one of three cases. Accuracy on a corpus means little without this number beside it.
"""

from collections import Counter
from functools import lru_cache

import numpy as np
import regex
import torch
from torch import Tensor

from groundling.corpus.caption_keys import normalised
from groundling.corpus.corpus import Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.evaluation.results import TextOnly
from groundling.progress import bar

LONGEST_GRAM = 2
MOST = 50_000  # training statements per language; more hardly move the number
_STEPS, _LOOK, _RATE, _PULL = 60, 4, 0.05, 1e-4  # chosen on e-SNLI-VE's dev photos

_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[^\s\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]+")


def text_only(corpus: Corpus, seed: int = 0) -> dict[str, TextOnly]:
    """Language → accuracy, from 0 to 1, on the test split (else dev) of two classifiers trained on train.

    "majority" always says the label that is most frequent in training; "words" is a logistic regression on the runs of
    one or two words (characters, where a script has no spaces) of a statement. Languages that have no statements to
    train or to test on are left out.
    """
    found: dict[str, TextOnly] = {}
    if corpus.statements is None:
        return found
    splits = corpus.splits[corpus.statements.owners]
    languages = sorted(corpus.statements.all_languages())
    with bar("Judging statements by their words alone", len(languages)) as progress:
        for language in languages:
            here = corpus.statements.languages == language
            train, dev, test = (corpus.statements.keep(here & (splits == split)) for split in ("train", "dev", "test"))
            asked = test if len(test) else dev
            if len(train) and len(asked):
                train = _some(train, seed)
                found[language] = TextOnly(
                    split="test" if len(test) else "dev",
                    train=len(train),
                    asked=len(asked),
                    majority=majority(train, asked),
                    words=bag_of_words(train, dev, asked),
                )
            progress.advance()
    return found


def majority(train: Entailments, asked: Entailments) -> float:
    most = Counter(train.labels.tolist()).most_common(1)[0][0]
    return float((asked.labels == most).mean())


def bag_of_words(train: Entailments, dev: Entailments, asked: Entailments) -> float:
    """Accuracy of logistic regression on word n-grams, after the step that is best on dev (the last, without dev)."""
    numbers = {"": 0}  # the constant
    rows: dict[tuple[int, ...], int] = {}  # statements of the same words are one row with the labels of all
    place = []
    for text in train.texts:
        grams = tuple(numbers.setdefault(gram, len(numbers)) for gram in _grams(text))
        place.append(rows.setdefault((0, *grams), len(rows)))
    labels = torch.zeros(len(rows), len(LABELS), dtype=torch.float64)
    labels.index_put_((torch.tensor(place), torch.from_numpy(train.classes())), labels.new_ones(()), accumulate=True)
    bags = _Bags(list(rows))
    dev_bags, asked_bags = (_Bags([_known(text, numbers) for text in part.texts]) for part in (dev, asked))
    weights = torch.zeros(len(numbers), len(LABELS), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([weights], lr=_RATE, weight_decay=_PULL)
    best, answer = -1.0, 0.0
    for step in range(1, _STEPS + 1):
        optimiser.zero_grad()
        loss = -(labels * bags.scores(weights).log_softmax(dim=1)).sum() / len(train)
        loss.backward()
        optimiser.step()
        if step % _LOOK == 0:
            score = dev_bags.accuracy(weights, dev) if len(dev) else step
            if score > best:
                best, answer = score, asked_bags.accuracy(weights, asked)
    return answer


class _Bags:
    """Rows of n-gram numbers, one after the other; none is empty, as each has the constant."""

    def __init__(self, rows: list[tuple[int, ...]]) -> None:
        self.starts = torch.tensor([0, *(len(row) for row in rows)]).cumsum(0)[:-1]
        self.flat = torch.tensor([number for row in rows for number in row], dtype=torch.int64)

    def scores(self, weights: Tensor) -> Tensor:
        return torch.nn.functional.embedding_bag(self.flat, weights, self.starts, mode="sum")

    @torch.no_grad()
    def accuracy(self, weights: Tensor, of: Entailments) -> float:
        return float((self.scores(weights).argmax(dim=1).numpy() == of.classes()).mean())


@lru_cache(maxsize=10_000)  # made-up statements are made many times
def _grams(text: str) -> tuple[str, ...]:
    words = _WORD.findall(normalised(text))
    return tuple(
        " ".join(words[start : start + length])
        for length in range(1, LONGEST_GRAM + 1)
        for start in range(len(words) - length + 1)
    )


def _known(text: str, numbers: dict[str, int]) -> tuple[int, ...]:
    """What training has never seen says nothing."""
    return (0, *(numbers[gram] for gram in _grams(text) if gram in numbers))


def _some(train: Entailments, seed: int) -> Entailments:
    if len(train) <= MOST:
        return train
    keep = np.zeros(len(train), dtype=bool)
    keep[np.random.default_rng(seed).choice(len(train), MOST, replace=False)] = True
    return train.keep(keep)
