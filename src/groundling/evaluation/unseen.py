"""A model on languages that it was never trained on, and what it can know of them.

Nothing teaches such a language, so that all a model has is what it shares with the trained ones: their script, words
that are spelled alike, pieces of words. How much that is can be counted before anything is scored.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from groundling.corpus import Corpus
from groundling.errors import UserError
from groundling.evaluation.request import EvaluationRequest, requested_corpus
from groundling.evaluation.results import Result
from groundling.evaluation.results.values import Json
from groundling.evaluation.split import evaluate_split
from groundling.model.trained import TrainedModel
from groundling.text import Tokeniser
from groundling.text.segmentation import words

SAME, NEW = 90.0, 10.0  # percent of letters known from which, and below which, a script counts as known or new

EXPECT = {
    "unknown": "anything, for its encoder does not say what it knows",
    "known script": "better than chance, the more words or parts of words it shares with the trained languages",
    "partly known script": "better than chance by what is written in the known part, if anything",
    "new script": "chance, for hardly a letter of it was met in training",
    "pretrained encoder": "anything, for it may have met this language before this training",
}


@dataclass(frozen=True)
class Knowledge:
    """How much of a language's captions a model can know, in percent of their running letters and words.

    Attributes:
        scripts: the share of each script among the letters.
        letters_known: of letters that the model has met, in its alphabet or in the words of its vocabulary; None for a
            pretrained encoder.
        words_known: of words in its vocabulary, or (pretrained) of words spelled without an unknown piece; None where a
            model has no vocabulary.
        kind, expect: what follows.
    """

    scripts: dict[str, float]
    letters_known: float | None
    words_known: float | None
    kind: str
    expect: str


@dataclass(frozen=True)
class UnseenResult:
    """An evaluation, and by language what is known of it."""

    result: Result
    trained_languages: list[str]
    known: dict[str, Knowledge]

    def to_json(self) -> Json:
        more = {"skipped": list(self.result.skipped), "trained_languages": self.trained_languages}
        return {**self.result.to_json(), **more, "known": {code: asdict(found) for code, found in self.known.items()}}


def evaluate_unseen(
    folder: Path,
    languages: Sequence[str],
    split: str = "test",
    captions: str | None = None,
    corpus: str | None = None,
    data: Path | None = None,
    device: str = "auto",
    folds: int | None = None,
) -> UnseenResult:
    """An evaluation in languages that the run was not trained on. The run's folder is left as it is."""
    model = TrainedModel.load(folder, device)
    wanted, trained = sorted(set(languages)), model.languages
    if not trained:
        raise UserError(f"{folder}: finish this run before it is asked about other languages than its own")
    for code in wanted:
        if code in trained:
            raise UserError(f'{folder} was trained on "{code}"; unseen are languages other than {", ".join(trained)}')
    own = model.corpus or EvaluationRequest(corpus).corpus_for(model)  # a pretrained pair that was taught has none
    settings = requested_corpus(own, corpus, wanted)
    dataset = model.dataset(settings, data, (split,))
    what, read = ("statements", dataset.judged()) if model.judges else ("captions", dataset)
    part = read.split(split).corpus
    for code in wanted:
        if code not in part.languages:
            raise UserError(f'corpus {part.name} has no {what} in "{code}" in split "{split}"')
    evaluated = evaluate_split(model, dataset, EvaluationRequest(settings, split, captions, folds))
    known = {code: knowledge(model.tokeniser, evaluated.corpus, code) for code in wanted}
    return UnseenResult(evaluated.result, trained, known)


def knowledge(tokeniser: Tokeniser, corpus: Corpus, language: str) -> Knowledge:
    """How much of a language's captions a model can know."""
    rows = [row for row, code in enumerate(corpus.languages.tolist()) if code == language]
    tokeniser = tokeniser.readers()[tokeniser.reader_of(language)]
    segmentation = tokeniser.settings.segmentation
    found = Counter(word for row in rows for word in words(corpus.texts[row], language, segmentation))
    letters: Counter[str] = Counter()
    for word, count in found.items():
        for letter in word:
            if unicodedata.category(letter).startswith("L"):
                letters[letter] += count
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[script(letter)] += count
    vocabulary, alphabet = tokeniser.known_words(found), tokeniser.known_letters()
    share = None if alphabet is None else _known(letters, alphabet)
    known_words = None if vocabulary is None else _known(found, vocabulary)
    if share is None:
        kind = "pretrained encoder" if tokeniser.pretrained else "unknown"
    else:
        kind = "known script" if share >= SAME else "new script" if share < NEW else "partly known script"
    shares = {name: _share(count, letters) for name, count in scripts.most_common()}
    return Knowledge(shares, share, known_words, kind, EXPECT[kind])


def script(letter: str) -> str:
    """The script of a letter, from its Unicode name: Latin, Cyrillic, Han, Hiragana …"""
    first = unicodedata.name(letter, "unknown").replace("-", " ").split()[0].title()
    return {"Cjk": "Han"}.get(first, first)


def _known(found: Counter[str], known: set[str]) -> float:
    return _share(sum(count for entry, count in found.items() if entry in known), found)


def _share(count: int, of: Counter[str]) -> float:
    return 100 * count / max(1, of.total())
