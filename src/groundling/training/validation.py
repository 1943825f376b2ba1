"""The score that early stopping looks at: the six recalls on dev pictures, or how well dev statements are judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from groundling.batches import TrainingData
from groundling.batches.distillation import DistillationData
from groundling.batches.ragged import Ragged
from groundling.corpus import Corpus
from groundling.devices import autocast, pick_precision
from groundling.errors import UserError, did_you_mean
from groundling.evaluation.entailment_scores import measure_entailment
from groundling.evaluation.metrics import METRICS, Metric, find
from groundling.evaluation.ranks import ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.results import EntailmentResult
from groundling.evaluation.scores import SCORES
from groundling.model.encoding import encode_captions, encode_pictures, judge, spell_words
from groundling.systems import Context, Encoders, JudgingEncoders, Plan
from groundling.training.agreement import Agreement
from groundling.training.validated import Validated


class Validate(Protocol):
    """Attributes:
    name: what its score is, in a word.
    """

    @property
    def name(self) -> str: ...

    def __call__(self, encoders: Encoders) -> Validated: ...


def validation(plan: Plan, context: Context) -> Validate:
    """How a training is validated on its dev split, as its plan says."""
    return KINDS[plan.validation](plan, context, pick_precision(context.recipe.training.precision, context.device))


def _agreement(plan: Plan, context: Context, precision: str) -> Validate:
    language, source, start = context.recipe.training.validation_language, context.dev.pairs, context.start
    assert source is not None and start is not None  # noqa: S101 (of a student)
    check_language(language, source.new)
    pairs, tokeniser = source.split("dev"), plan.encoders.text.learner().tokeniser
    tokens = Ragged.cut(tokeniser, pairs.new, pairs.languages, None)
    held_out = DistillationData.of(pairs, tokens, plan.system.targets(start, pairs), context.device)
    return Agreement(held_out, precision, language, plan.system.aligns_unscaled)


def _entailment(plan: Plan, context: Context, precision: str) -> Validate:
    dev, settings = context.dev, context.recipe.training
    data = TrainingData.build(dev.corpus, dev.features, plan.tokeniser, context.device, dev.corpus.classes())
    metric = find_metric(settings.validation_metric, "accuracy", "judge statements")
    learned = plan.data  # as many of the statements that it is trained on, so that both are as quick and as certain
    drawn = np.random.default_rng(0).permutation(len(learned.lengths))[: len(data.lengths)]
    return EntailmentValidation(data, precision, settings.validation_language, metric, learned.part(np.sort(drawn)))


def _retrieval(plan: Plan, context: Context, precision: str) -> Validate:
    settings = context.recipe.training
    metric = find_metric(settings.validation_metric, "rsum", "find pictures and captions")
    queries = context.dev.corpus.queries(context.recipe.evaluation.captions)
    data = TrainingData.build(queries, context.dev.features, plan.tokeniser, context.device)
    language, similarity = settings.validation_language, plan.system.similarity
    return RetrievalValidation(data, precision, language, metric, similarity, plan.dev_features)


def find_metric(name: str, usual: str, what: str) -> Metric:
    """The metric that validation compares by; an error where it is not one of systems that do `what`."""
    metric = find({"usual": usual, "loss": "log_loss"}.get(name, name))
    if metric.task != METRICS[usual].task:
        raise UserError(f"training.validation_metric: {name} is no metric of systems that {what}; leave it out")
    if metric.asks_training:
        raise UserError(f"training.validation_metric: {name} is for evaluations; validation has no training statements")
    return metric


def score_name(metric: Metric) -> str:
    """What the score is, of which more is better."""
    return metric.name if metric.sign > 0 else f"minus the {metric.heading}"


KINDS: dict[str, Callable[[Plan, Context, str], Validate]] = {
    "retrieval": _retrieval,
    "entailment": _entailment,
    "agreement": _agreement,
}


@dataclass(frozen=True)
class DevSplit:
    """The dev split on the device.

    Attributes:
        language: "all" for all languages together, or the code of the one language that counts.
        metric: what is compared.
    """

    data: TrainingData
    precision: str
    language: str
    metric: Metric

    @property
    def name(self) -> str:
        return score_name(self.metric)

    def __post_init__(self) -> None:
        check_language(self.language, self.data.codes)


@dataclass(frozen=True)
class EntailmentValidation(DevSplit):
    """How well dev statements are judged; of all languages together, each counts the same.

    Attributes:
        learned: statements that training is on, whose accuracy is told beside.
    """

    metric: Metric = METRICS["accuracy"]
    learned: TrainingData | None = None

    def __call__(self, encoders: Encoders) -> Validated:
        found = judged(self.data, encoders, self.precision)
        accuracies = {code: part.accuracy for code, part in found.languages.items()}
        counted = {code: self.metric.sign * part.value(self.metric.name) for code, part in found.languages.items()}
        score = sum(counted.values()) / len(counted) if self.language == "all" else counted[self.language]
        mean = found.mean
        also = {"accuracy": mean["accuracy"], "validation_loss": mean["log_loss"]}
        if self.learned is not None:
            also["training_accuracy"] = judged(self.learned, encoders, self.precision).mean["accuracy"]
        return Validated(score, accuracies, also)


def judged(data: TrainingData, encoders: Encoders, precision: str) -> EntailmentResult:
    """How well statements are judged. What stands in several languages or about several pictures is read once."""
    classes, device = data.classes, data.features.device
    assert isinstance(encoders, JudgingEncoders) and classes is not None  # noqa: S101 (by the system's task)
    was_training = encoders.training
    _, first, rows = np.unique(data.ids.cpu().numpy(), axis=0, return_index=True, return_inverse=True)
    chosen = torch.from_numpy(first).to(device)
    pictures = encode_pictures(encoders.picture, data.features, device, precision=precision)
    words = None if data.spellings is None else spell_words(encoders.text, data.spellings, device, precision)
    ids, lengths = data.ids[chosen], data.device_lengths[chosen]
    sentences = encode_captions(encoders.text, ids, lengths, device, precision, batch_size=1024, words=words)
    logits = judge(encoders, sentences, torch.from_numpy(rows.reshape(-1)), pictures, data.owners)
    encoders.train(was_training)
    codes = np.array(data.codes)[data.languages]
    return measure_entailment(classes.cpu().numpy(), logits.double().softmax(dim=1).cpu().numpy(), codes)


@dataclass(frozen=True)
class RetrievalValidation(DevSplit):
    """How well captions and pictures find each other; of all languages together, the sum.

    Attributes:
        similarity: how the system compares captions and pictures.
        features: those of the pictures now, where the encoders have a picture network that changes.
    """

    metric: Metric = METRICS["rsum"]
    similarity: str = "cosine"
    features: Callable[[Encoders], torch.Tensor] | None = None

    def __call__(self, encoders: Encoders) -> Validated:
        device = self.data.features.device
        was_training = encoders.training
        seen = self.data.features
        if self.features is not None:
            encoders.eval()
            with autocast(device, self.precision):
                seen = self.features(encoders)
        pictures = encode_pictures(encoders.picture, seen, device, precision=self.precision)
        data, words = self.data, None
        if data.spellings is not None:  # each word once
            words = spell_words(encoders.text, data.spellings, device, self.precision)
        captions = encode_captions(
            encoders.text, data.ids, data.device_lengths, device, self.precision, batch_size=1024, words=words
        )
        by_language, mean_recalls = {}, []
        for number, code in enumerate(self.data.codes):
            rows = np.flatnonzero(self.data.languages == number)
            chosen, owners = captions[torch.from_numpy(rows).to(device)], self.data.owners[rows]
            found = recalls(ranks(pictures, chosen, owners, score=SCORES[self.similarity]))
            by_language[code] = found.value(self.metric.name)
            mean_recalls.append(found.value("mR"))
        encoders.train(was_training)
        score = sum(by_language.values()) if self.language == "all" else by_language[self.language]
        mean = sum(mean_recalls) / len(mean_recalls)
        return Validated(self.metric.sign * score, by_language, {"mR": mean})


def check_language(language: str, codes: Sequence[str]) -> None:
    if language != "all" and language not in codes:
        raise UserError(f'training.validation_language: no dev captions in "{language}"{did_you_mean(language, codes)}')


def check_languages(train: Corpus, dev: Corpus, what: str = "captions") -> None:
    """Every language must be there to train on and to validate on."""
    if not len(train):
        raise UserError(f"corpus {train.name} has no training {what}")
    if not len(dev):
        raise UserError(f"corpus {train.name} has no dev {what}; early stopping needs a dev split")
    missing = sorted(set(train.all_languages()) - set(dev.all_languages()))
    if missing:
        raise UserError(f"corpus {train.name} has training but no dev {what} in {', '.join(missing)}")
