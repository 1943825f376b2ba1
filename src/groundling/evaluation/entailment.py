"""A model that judges statements, on one split of a corpus, and beside it what is right without any picture."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from groundling.calibration import fit_temperature, log_loss, probabilities, why_not
from groundling.corpus import Corpus
from groundling.corpus.entailment import LABELS
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment_scores import measure_entailment
from groundling.evaluation.provenance import corpus_hashes
from groundling.evaluation.results import EntailmentResult, Seen, TextOnly, Uncalibrated
from groundling.evaluation.text_only import text_only
from groundling.files import atomic_path
from groundling.model import FeatureModel
from groundling.run import Run


@dataclass(frozen=True)
class JudgedSplit:
    """Results with what they were made from: statement by statement, in the order of `corpus.statements`.

    Attributes:
        corpus: the split, statements in the place of captions.
        probabilities: [statements, 3].
    """

    result: EntailmentResult
    corpus: Corpus
    probabilities: npt.NDArray[np.float32]

    def hashes(self) -> dict[str, str]:
        """By language, of what was asked."""
        assert self.corpus.statements is not None  # noqa: S101 (of `Corpus.judged`)
        return corpus_hashes(self.corpus, self.corpus.statements.labels)

    def save(self, run: Run) -> None:
        """Every prediction, for paired comparisons: by language, classes, probabilities and pictures."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        classes = statement_classes(self.corpus)
        for code in self.corpus.all_languages():
            rows = self.corpus.languages == code
            arrays[f"{code}.classes"] = np.ascontiguousarray(classes[rows])
            arrays[f"{code}.probabilities"] = np.ascontiguousarray(self.probabilities[rows])
            arrays[f"{code}.owners"] = np.ascontiguousarray(self.corpus.owners[rows])
        with atomic_path(run.predictions_file) as temporary:
            save_file(arrays, temporary)


def evaluate_entailment(model: FeatureModel, dataset: Dataset, split: str = "test") -> JudgedSplit:
    """Every statement of a split, by language. The baseline is trained on the same corpus's training statements."""
    part = dataset.judged().split(split)
    corpus = check_statements(part.corpus, split)
    languages, classes = corpus.languages.tolist(), statement_classes(corpus)
    logits = model.entailment_logits(corpus.texts, part.features, languages, corpus.owners)
    shares = probabilities(logits, model.temperature)
    frequent = most_frequent(dataset.corpus)
    found = measure_entailment(classes, shares, languages, corpus.owners, frequent)
    plain = None
    if model.temperature != 1:
        without = measure_entailment(classes, probabilities(logits), languages)
        parts = {code: part.calibration for code, part in without.languages.items()}
        plain = Uncalibrated(without.overall.calibration, parts)
    result = replace(
        found,
        corpus=corpus.name,
        split=split,
        pictures=len(np.unique(corpus.owners)),
        text_only=words_alone(dataset.corpus, split),
        seen={} if split == "train" else seen_apart(dataset.judged().corpus, corpus, shares.argmax(axis=1) == classes),
        temperature=model.temperature,
        uncalibrated=plain,
        skipped=dataset.skipped,
    )
    return JudgedSplit(result, corpus, shares)


@dataclass(frozen=True)
class Fitted:
    """A temperature and what it was fitted on.

    Attributes:
        value: 1 where it cannot be told.
        told_by: what it was fitted on, in words, or why it was not.
        before, after: the log loss there at temperature 1, and at this one.
    """

    value: float
    told_by: str
    before: float
    after: float


def fitted_temperature(model: FeatureModel, dataset: Dataset, split: str = "dev") -> Fitted:
    """The temperature of a model's predictions, from the statements of a split that it was not trained on."""
    part = dataset.judged().split(split)
    corpus = check_statements(part.corpus, split)
    classes = statement_classes(corpus)
    logits = model.entailment_logits(corpus.texts, part.features, corpus.languages.tolist(), corpus.owners)
    value, reason = fit_temperature(logits, classes), why_not(logits, classes)
    where = f"{len(corpus):,} {split} statements of {corpus.name}"
    told = where if reason is None else f"not fitted on {where}: {reason}"
    return Fitted(value, told, log_loss(logits, classes), log_loss(logits, classes, value))


def check_statements(corpus: Corpus, split: str) -> Corpus:
    if not len(corpus):
        raise UserError(f'corpus {corpus.name} has no statements in split "{split}"')
    return corpus


def statement_classes(corpus: Corpus) -> npt.NDArray[np.int64]:
    assert corpus.statements is not None  # noqa: S101 (of `Corpus.judged`)
    return corpus.statements.classes()


def most_frequent(corpus: Corpus) -> int | None:
    """The label that training has most of; None where there is no training split to tell."""
    train = corpus.split("train").statements
    counts = np.bincount(train.classes(), minlength=len(LABELS)) if train is not None and len(train) else None
    return None if counts is None else int(counts.argmax())


def seen_apart(whole: Corpus, asked: Corpus, right: npt.NDArray[np.bool_]) -> dict[str, Seen]:
    """By language how many of the asked statements training has word for word, and what is right of either kind."""
    train = whole.split("train")
    known = set(zip(train.languages.tolist(), train.texts, strict=True))
    if not known:
        return {}
    met = np.array([pair in known for pair in zip(asked.languages.tolist(), asked.texts, strict=True)], dtype=bool)
    found = {}
    for code in asked.all_languages():
        kinds = [(asked.languages == code) & kind for kind in (met, ~met)]
        seen, new = ((int(rows.sum()), 100 * float(right[rows].mean()) if rows.any() else None) for rows in kinds)
        found[code] = Seen(*seen, *new)
    return found


def words_alone(corpus: Corpus, split: str) -> dict[str, TextOnly]:
    """`text_only` on the same split, in percent; nothing for what classifiers were trained on."""
    if split == "train":
        return {}
    if split == "dev":  # it asks the test split where there is one
        corpus = corpus.keep_pictures(corpus.splits != "test")
    return {
        code: replace(found, majority=100 * found.majority, words=100 * found.words)
        for code, found in text_only(corpus).items()
        if found.split == split
    }
