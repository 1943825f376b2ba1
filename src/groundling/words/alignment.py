"""Two languages and a dictionary in, a map and its precision out."""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import torch
from pydantic import Field, PositiveFloat, PositiveInt
from torch import Tensor

from groundling.errors import UserError
from groundling.settings import Settings
from groundling.words.dictionary import Coverage, Order, Pair, cover, rows, split_pairs
from groundling.words.procrustes import mean_squared_distance, procrustes
from groundling.words.rcsls import Criterion, rcsls
from groundling.words.retrieval import precision
from groundling.words.vectors import Matrix, WordVectors, unit
from groundling.words.word_map import WordMap


class MapSettings(Settings):
    """How a map is learned from vectors as they are."""

    method: Literal["procrustes", "rcsls"] = "rcsls"
    iterations: PositiveInt = 10
    learning_rate: PositiveFloat = 1.0
    neighbours: PositiveInt = Field(10, description="of each word, for RCSLS and CSLS")
    max_neg: PositiveInt | None = Field(None, description="search RCSLS's neighbours among the first so many words")
    spectral: bool = Field(False, description="keep RCSLS's map from making any vector longer")


class AlignSettings(MapSettings):
    """How `align` makes the vectors ready, and what it keeps for the test."""

    centre: bool = Field(
        False, description="take the mean of each language's words off all its vectors first (Artetxe et al. 2018)"
    )
    test_share: float = Field(0.2, gt=0, lt=1, description="of the source words, where there is no test dictionary")
    seed: int = Field(0, ge=0)


@dataclass(frozen=True)
class Counts:
    """Of pairs, and of the different source words among them."""

    pairs: int
    source_words: int

    @staticmethod
    def of(pairs: list[Pair]) -> "Counts":
        return Counts(len(pairs), len({word for word, _ in pairs}))


@dataclass(frozen=True)
class PairCounts:
    """How much of the dictionaries could be used.

    Attributes:
        dictionary: of the one to learn from.
        train, tested: what was used of it.
        test: of a dictionary to test on; None where a part of the first one is.
        left_out_because_tested: pairs that were not learned from; None where there is no dictionary to test on.
    """

    dictionary: Coverage
    train: Counts
    tested: Counts
    test: Coverage | None = None
    left_out_because_tested: int | None = None

    def to_json(self) -> dict[str, object]:
        return {key: value for key, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Alignment:
    """A map with what is known about it.

    Attributes:
        word_map: from the source's space into the target's.
        precision: "nn" and "csls", each at "1", "5" and "10".
        objective: after each iteration of RCSLS; for Procrustes one number, the mean squared distance of pairs.
        coverage: how much of the dictionaries could be used.
    """

    word_map: WordMap
    precision: dict[str, dict[str, float]]
    objective: list[float]
    coverage: PairCounts


@dataclass(frozen=True)
class Pairs:
    """Covered pairs to learn from and to test on; no source word is in both."""

    train: list[Pair]
    test: list[Pair]
    coverage: PairCounts


def check_sizes(source: WordVectors, target: WordVectors) -> None:
    if source.dimensions != target.dimensions:
        raise UserError(
            f"the source has {source.dimensions} dimensions, the target {target.dimensions}; "
            "bring them to one size with `groundling words reduce`"
        )


def prepare_pairs(
    dictionary: list[Pair],
    test: list[Pair] | None,
    source: WordVectors,
    target: WordVectors,
    settings: AlignSettings,
    order: Order = "auto",
) -> Pairs:
    """Use what both languages have vectors for; a word that is tested is not learned from, whoever lists it."""
    covered, coverage = cover(dictionary, source, target, order)
    test_coverage = left_out = None
    if test is None:
        train, tested = split_pairs(covered, settings.test_share, settings.seed)
    else:
        tested, test_coverage = cover(test, source, target, order)
        held_out = {word for word, _ in tested}
        train = [pair for pair in covered if pair[0] not in held_out]
        left_out = len(covered) - len(train)
    for pairs, name in ((train, "learn from"), (tested, "test on")):
        if not pairs:
            raise UserError(
                f"too few pairs to {name}: {coverage.covered:,} of the dictionary's {coverage.pairs:,} pairs have "
                "vectors in both languages (are the vectors of these languages, and in the same case?)"
            )
    counts = PairCounts(coverage, Counts.of(train), Counts.of(tested), test_coverage, left_out)
    return Pairs(train, tested, counts)


def mean_of_words(vectors: WordVectors) -> Matrix:
    mean: Matrix = vectors.matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def learn(one: Tensor, other: Tensor, pairs: Tensor, settings: MapSettings) -> tuple[Tensor, list[float]]:
    """The map M [d, d] between unit vectors whose rows `pairs` [n, 2] belong together, and its objective on the way."""
    a, b = one[pairs[:, 0]], other[pairs[:, 1]]
    matrix = procrustes(a, b)
    if settings.method == "procrustes":
        return matrix, [mean_squared_distance(matrix, a, b)]
    criterion = Criterion(pairs, one, other, settings.neighbours, settings.max_neg)
    descent = rcsls(criterion, matrix, settings.iterations, settings.learning_rate, settings.spectral)
    return descent.matrix, descent.objective


def align(
    source: WordVectors,
    target: WordVectors,
    pairs: Pairs,
    settings: AlignSettings,
    device: str | torch.device = "cpu",
    given: WordMap | None = None,
) -> Alignment:
    """Learn a map on the training pairs and test it on the others. Vectors are compared by direction only.

    A map that is `given` is tested and not learned.
    """
    check_sizes(source, target)
    centre = settings.centre if given is None else given.mean is not None
    means = [mean_of_words(vectors) if centre else None for vectors in (source, target)]
    one, other = (
        torch.from_numpy(unit(vectors.matrix if mean is None else vectors.matrix - mean)).to(device)
        for vectors, mean in zip((source, target), means, strict=True)
    )
    if given is None:
        matrix, objective = learn(one, other, torch.from_numpy(rows(pairs.train, source, target)).to(device), settings)
        word_map = WordMap(matrix.cpu().numpy(), {"method": settings.method}, means[0])
    else:
        matrix, objective, word_map = torch.from_numpy(given.matrix).to(device), [], given
    one = torch.from_numpy(unit((one @ matrix.T).cpu().numpy())).to(device)
    answers: dict[int, list[int]] = {}
    for word, answer in rows(pairs.test, source, target).tolist():
        answers.setdefault(word, []).append(answer)
    found = precision(one, other, answers, settings.neighbours)
    return Alignment(word_map, found, objective, pairs.coverage)
