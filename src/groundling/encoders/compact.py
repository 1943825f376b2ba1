"""Encoders folded into fewer numbers that say the same: only what retrieval needs.

Linear maps that follow one another are one map, so each step below changes no score beyond rounding:

* A language's map is applied to its rows for good where the rows are so few that this is smaller.
* Where a GRU reads one language only (EmbN, PAR. EmbN) the map goes into the GRU's own first product.
* Batch normalisation, which outside of training is a linear map, goes into the layer before it.

Everything else that only training needs is left behind: the classifier of languages, the masked language model, the
vectors that words were pulled to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn

from groundling.encoders.picture.two_layers import TwoLayerPictureEncoder
from groundling.encoders.text.hybrid import HybridWords
from groundling.encoders.text.universal import UniversalWordsEncoder


@dataclass(frozen=True)
class Plan:
    """How words are kept: a function of sizes alone, so that a folded model is put together again from its settings.

    Attributes:
        width: of what the GRU reads.
        mapped: which languages keep word vectors and a map; rows of the others are what the GRU reads.
    """

    width: int
    mapped: tuple[bool, ...]


def plan(
    bounds: Sequence[int], word_dimensions: int, universal: int, tokens: int, state: int, branches: int, mapped: bool
) -> Plan:
    """The smallest way to keep words.

    Args:
        bounds: where the rows of each language begin, and where the last ones end.
        branches: GRUs there are, one for all languages or one for each.
        mapped: whether languages have maps; the rows of LA are universal embeddings already.
    """
    rows = [end - begin for begin, end in pairwise(bounds)]
    if not mapped:
        return Plan(universal, (False,) * len(rows))
    d, u = word_dimensions, universal
    keep = tuple(count * d + d * u + u < count * u for count in rows)
    with_maps = sum(count * d + d * u + u if kept else count * u for count, kept in zip(rows, keep, strict=True))
    if (
        branches == len(rows)
        and not tokens
        and sum(rows) * d + branches * 3 * state * d < with_maps + branches * 3 * state * u
    ):
        return Plan(d, (False,) * len(rows))
    return Plan(u, keep)


@torch.no_grad()
def fold_words(large: HybridWords, small: HybridWords) -> None:
    """Fill the small one with what the large one says."""
    if small.table is not None:
        small.table[: small.bounds[0]] = 0  # padding
    raw = small.width != large.width  # the maps go into the GRU
    for number, (has_map, begin, end) in enumerate(small.places):
        old = large.map(number)
        if has_map and old is not None:
            cast(nn.Linear, small.map(number)).load_state_dict(old.state_dict())
        table = small.table if has_map else small.latent
        if table is not None and end > begin:
            table[begin:end] = vectors(large, number) if has_map or raw else universal(large, number)


@torch.no_grad()
def fold_text(large: UniversalWordsEncoder, small: UniversalWordsEncoder) -> None:
    fold_words(large.words, small.words)
    theirs, ours = large.branches(), small.branches()
    for number, ((gru, project), (new_gru, new_project)) in enumerate(zip(theirs, ours, strict=True)):
        new_project.load_state_dict(project.state_dict())
        linear = large.words.map(number)
        weights = dict(gru.state_dict())
        if new_gru.input_size != gru.input_size and linear is not None:
            first = weights["weight_ih_l0"].double()
            weights["bias_ih_l0"] = (weights["bias_ih_l0"].double() + first @ linear.bias.double()).float()
            weights["weight_ih_l0"] = (first @ linear.weight.double()).float()
        new_gru.load_state_dict(weights)


@torch.no_grad()
def fold_picture(large: TwoLayerPictureEncoder, small: TwoLayerPictureEncoder) -> None:
    small.narrow.load_state_dict(large.narrow.state_dict())
    norm = cast(nn.BatchNorm1d, large.norm)
    mean, variance = cast(Tensor, norm.running_mean).double(), cast(Tensor, norm.running_var).double()
    scale = norm.weight.double() / (variance + norm.eps).sqrt()
    small.project.weight.copy_(large.project.weight.double() * scale[:, None])
    small.project.bias.copy_((large.project.bias.double() - mean) * scale + norm.bias.double())


def vectors(words: HybridWords, number: int) -> Tensor:
    """The rows of a language before its map."""
    has_map, begin, end = words.places[number]
    return cast(Tensor, words.table if has_map else words.latent)[begin:end]


def universal(words: HybridWords, number: int) -> Tensor:
    """The rows of a language, or of the tokens, after the map."""
    rows, linear = vectors(words, number), words.map(number)
    if linear is None:
        return rows
    return (rows.double() @ linear.weight.double().T + linear.bias.double()).float()
