"""A model that judges statements, on one split of a corpus, and beside it what is right without any picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from groundling.calibration import fit_temperature, log_loss, probabilities, why_not
from groundling.corpus import Corpus
from groundling.corpus.entailment import LABELS
from groundling.corpus.text_only import text_only
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment_scores import EntailmentScores, judge
from groundling.files import atomic_path
from groundling.model.trained import TrainedModel


@dataclass(frozen=True)
class JudgedSplit:
    """Results with what they were made from: statement by statement, in the order of `corpus.statements`.

    Attributes:
        result: for evaluation.json: what `evaluation.entailment` measures, and under `text_only` by language what the
            label that is most frequent in training and the words of statements get right, in percent. Where the model
            has a temperature, `uncalibrated` has the loss and calibration error that it would have without.
        corpus: the split, statements in the place of captions.
        probabilities: [statements, 3].
    """

    result: dict[str, Any]
    corpus: Corpus
    probabilities: npt.NDArray[np.float32]

    def save(self, path: Path) -> None:
        """Every verdict, for paired comparisons: by language, classes, probabilities and pictures."""
        arrays: dict[str, npt.NDArray[Any]] = {}
        classes = statement_classes(self.corpus)
        for code in self.corpus.all_languages():
            rows = self.corpus.languages == code
            arrays[f"{code}.classes"] = np.ascontiguousarray(classes[rows])
            arrays[f"{code}.probabilities"] = np.ascontiguousarray(self.probabilities[rows])
            arrays[f"{code}.owners"] = np.ascontiguousarray(self.corpus.owners[rows])
        with atomic_path(path) as temporary:
            save_file(arrays, temporary)


def evaluate_entailment(model: TrainedModel, dataset: Dataset, split: str = "test") -> JudgedSplit:
    """Every statement of a split, by language. The baseline is trained on the same corpus's training statements."""
    part = dataset.judged().split(split)
    corpus = check_statements(part.corpus, split)
    languages, classes = corpus.languages.tolist(), statement_classes(corpus)
    logits = model.entailment_logits(corpus.texts, part.features, languages, corpus.owners)
    shares = probabilities(logits, model.temperature)
    frequent = most_frequent(dataset.corpus)
    found = judge(classes, shares, languages, corpus.owners, frequent)
    result = {
        "corpus": corpus.name,
        "split": split,
        "pictures": len(np.unique(corpus.owners)),
        **found.as_json(),
        "text_only": words_alone(dataset.corpus, split),
        "temperature": model.temperature,
    }
    if model.temperature != 1:
        result["uncalibrated"] = uncalibrated(judge(classes, probabilities(logits), languages))
    return JudgedSplit(result, corpus, shares)


def uncalibrated(found: EntailmentScores) -> dict[str, Any]:
    """What a temperature changes."""
    keys = ("log_loss", "calibration_error", "bins")
    data = found.as_json()
    return {
        "overall": {key: data["overall"][key] for key in keys},
        "languages": {code: {key: part[key] for key in keys} for code, part in data["languages"].items()},
        "mean": {key: data["mean"][key] for key in keys[:2]},
    }


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


def fitted_temperature(model: TrainedModel, dataset: Dataset, split: str = "dev") -> Fitted:
    """The temperature of a model's verdicts, from the statements of a split that it was not trained on."""
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


def words_alone(corpus: Corpus, split: str) -> dict[str, dict[str, Any]]:
    """`corpus.text_only` on the same split, in percent; nothing for what classifiers were trained on."""
    if split == "train":
        return {}
    if split == "dev":  # it asks the test split where there is one
        corpus = corpus.keep_pictures(corpus.splits != "test")
    shares = ("majority", "words")
    return {
        code: {key: 100 * value if key in shares else value for key, value in found.items()}
        for code, found in text_only(corpus).items()
        if found["split"] == split
    }
