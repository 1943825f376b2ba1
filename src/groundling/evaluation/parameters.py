"""How many numbers a model has, part by part: those that are trained, and those that it needs to answer.

Only what runs counts: a module that no caption and no picture goes through is left out. Buffers, such as the statistics
of batch normalisation, are not parameters.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from groundling.dataset import Dataset, load_corpus
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.model import Model
from groundling.model.trained import TrainedModel
from groundling.systems import Encoders, JudgingEncoders
from groundling.text.vocabulary import SPECIAL

WORD_DIMENSIONS = 300  # of a word table to compare with, where a system has no size of its own

#: What people call the modules of the encoders; those that are not here go by their own names.
NAMES = {
    "text.words": "word table",
    "text.words.characters": "character table",
    "text.words.maps": "layers from characters to words",
    "text.words.norms": "layers from characters to words",
    "text.words.recurrent": "GRU over characters",
    "text.words.universal": "maps to the universal embedding",
    "text.pieces": "table of words and n-grams",
    "text.encoder": "pretrained encoder",
    "text.network": "pretrained text side",
    "text.map": "map between languages",
    "text.autoencoder": "autoencoder",
    "text.recurrent": "sentence GRU",
    "text.sentence": "sentence GRU",
    "text.sentence.weight": "layer on the frozen sentence vector",  # one matrix, where others have a network
    "text.project": "sentence projection",
    "picture.project": "picture projection",
    "picture.norm": "picture projection",
    "picture.narrow": "picture projection",
    "picture.look": "picture projection",
    "verdict": "entailment head",  # so it is called in saved weights
    "text.words.latent": "latent tokens",
    "adversary": "language classifier",
    "network": "picture network, trained along",
    "objective": "temperature",
    "mask": "masked language model",
    "complete_means": "masked language model",
    "complete_sentences": "masked language model",
}
#: The modules of a text encoder that make the vectors of words; a sentence is made from these.
WORDS = ("text.words", "text.pieces", "text.encoder", "text.network")


@dataclass(frozen=True)
class Part:
    """A part of a model.

    Attributes:
        trainable: parameters that training changes; none where an encoder is frozen.
        test_time: parameters that are needed to encode captions and pictures.
        for_words: whether the part belongs to the vectors of words, the part that papers call word embeddings.
    """

    name: str
    trainable: int
    test_time: int
    for_words: bool


@dataclass(frozen=True)
class Counts:
    """The parameters of all parts together, and those of the vectors of words among them."""

    trainable: int
    test_time: int
    for_words: int


@dataclass(frozen=True)
class WordTable:
    """A table with a vector for each word."""

    words: int
    dimensions: int

    @property
    def parameters(self) -> int:
        return self.words * self.dimensions


@dataclass(frozen=True)
class ParameterReport:
    """How many parameters a model has.

    Attributes:
        word_table: what its word vectors are compared with, a table for the words of the same captions; None where the
            captions cannot be read again, and the model has no vocabulary that tells; `problem` then says why.
    """

    system: str
    parts: list[Part]
    counts: Counts
    word_table: WordTable | None = None
    problem: str = ""

    @property
    def reduction(self) -> float | None:
        """The size of the word table over the size of what makes the model's word vectors."""
        return None if self.word_table is None else self.word_table.parameters / max(1, self.counts.for_words)

    def to_json(self) -> dict[str, object]:
        found = {"system": self.system, "parts": [asdict(part) for part in self.parts], **asdict(self.counts)}
        if self.word_table is None:
            return {**found, "problem": self.problem}
        table = {**asdict(self.word_table), "parameters": self.word_table.parameters}
        return {**found, "word_table": table, "reduction": self.reduction}


@torch.no_grad()
def count(encoders: Encoders, entries: Tensor, lengths: Tensor, features: Tensor) -> list[Part]:
    """The parts of the encoders, in their order. One caption and one picture, any at all, show what runs.

    Args:
        entries, lengths: what the text encoder reads, [captions, longest] or, spelled out, [captions, longest,
            letters].
        features: what the picture encoder reads, [pictures, features].
    """
    was_training = encoders.training
    encoders.eval()
    with _Used() as used:
        sentences, pictures = encoders.text(entries, lengths), encoders.picture(features)
        if encoders.judges:
            cast(JudgingEncoders, encoders).head(sentences[:1], pictures[:1])
    encoders.train(was_training)
    sizes: dict[tuple[str, bool], list[int]] = {}
    for path, parameter in encoders.named_parameters():
        runs = id(parameter) in used.parameters
        if not runs and path.startswith(("text.", "picture.")):
            continue
        # What belongs to neither encoder (a critic, say) is trained, and left behind when the model is used.
        plain, reader = _reader(path)
        if plain == "text.words.latent" and not _has_tokens(encoders.text):
            plain = "text.words"
        sums = sizes.setdefault((_name(plain) + reader, plain.startswith(WORDS)), [0, 0])
        sums[0] += parameter.numel() * parameter.requires_grad
        sums[1] += parameter.numel() * runs
    return [Part(name, trainable, test, words) for (name, words), (trainable, test) in sizes.items()]


def count_model(model: TrainedModel) -> list[Part]:
    languages = list(getattr(model.tokeniser, "codes", ["en"]))  # some read no other languages than their own
    tokens = model.tokeniser.encode(["a"] * len(languages), languages)
    entries = torch.from_numpy(tokens.ids)
    if tokens.spellings is not None:
        entries = torch.from_numpy(tokens.spellings)[entries.long()]
    where = model.device
    features = torch.ones(1, model.features, device=where)
    return count(model.encoders, entries.to(where), torch.from_numpy(tokens.lengths).to(where), features)


def totals(parts: Iterable[Part]) -> Counts:
    parts = list(parts)
    return Counts(
        trainable=sum(part.trainable for part in parts),
        test_time=sum(part.test_time for part in parts),
        for_words=sum(part.test_time for part in parts if part.for_words),
    )


SIDES = {"text.words.": "table of word pieces", "text.": "text encoder", "picture.": "picture encoder"}


def describe(model: Model, data: Path | None = None) -> ParameterReport:
    """The parts of a model and their sums; of a run also how its word vectors compare with a word table for the same
    captions."""
    return describe_run(cast(TrainedModel, model), data) if model.run is not None else describe_pretrained(model)


def describe_pretrained(model: Model) -> ParameterReport:
    """By side. Nothing of it is trained here, and nobody says which captions it was trained on."""
    sizes = dict.fromkeys(SIDES, 0)
    for path, size in model.parameter_sizes.items():
        sizes[next(side for side in SIDES if path.startswith(side))] += size
    parts = [Part(SIDES[side], 0, size, side == "text.words.") for side, size in sizes.items()]
    problem = "nobody says which captions this model was trained on"
    return ParameterReport(model.system_name, parts, totals(parts), problem=problem)


def describe_run(model: TrainedModel, data: Path | None = None) -> ParameterReport:
    parts = count_model(model)
    report = ParameterReport(model.system.name, parts, totals(parts))
    try:
        words = vocabulary_size(model, data)
    except UserError as error:
        return replace(report, problem=str(error))
    dimensions = int(getattr(model.system.settings, "word_dimensions", WORD_DIMENSIONS))
    return replace(report, word_table=WordTable(words, dimensions))


def vocabulary_size(model: TrainedModel, data: Path | None = None) -> int:
    """Rows of a word table for the training captions of a model: its own, or what one would have."""
    saved: Mapping[str, Any] = model.tokeniser.to_json()
    known = saved.get("words")
    if known is not None:  # words that share latent tokens would have rows of their own, too
        return len(SPECIAL) + len(known) + sum(len(words) for words in saved.get("latent", {}).values())
    settings = model.recipe.corpus
    corpus = load_corpus(settings, data)
    no_features = np.zeros((len(corpus.pictures), 0), dtype=np.float32)
    trained = Dataset(corpus, no_features).under(settings).split("train").corpus
    return WordTokeniser.build(trained.texts, trained.languages.tolist(), model.recipe.text).size


def _has_tokens(encoder: nn.Module) -> bool:
    """A folded model keeps words of a language, already mapped, where latent tokens are, which it may have none of."""
    return bool(getattr(getattr(encoder, "words", None), "tokens", 1))


def _reader(path: str) -> tuple[str, str]:
    """The path as if there were one text encoder, and whose it is where a model was taught further languages."""
    encoder, *rest = path.split(".")
    reader = ""
    while encoder == "text" and rest[0] in ("teacher", "student"):
        reader = " of a student" if rest[0] == "student" else " of the teacher"
        rest = rest[1:]
    if encoder == "text" and rest[0] == "inner":  # what stands before an autoencoder (see `encoders.text.autoencoded`)
        rest = rest[1:]
    return ".".join([encoder, *rest]), reader


def _name(path: str) -> str:
    """The name of the longest beginning of the path that has one."""
    beginning = path
    while beginning:
        if beginning in NAMES:
            return NAMES[beginning]
        beginning = beginning.rpartition(".")[0]
    return path.rpartition(".")[0] or path


class _Used(TorchFunctionMode):
    """Remembers the parameters that any function of torch is given."""

    def __init__(self) -> None:
        super().__init__()
        self.parameters: set[int] = set()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._look(args)
        self._look((kwargs or {}).values())
        return function(*args, **(kwargs or {}))

    def _look(self, values: Iterable[Any]) -> None:
        for value in values:
            if isinstance(value, nn.Parameter):
                self.parameters.add(id(value))
            elif isinstance(value, list | tuple):
                self._look(value)
