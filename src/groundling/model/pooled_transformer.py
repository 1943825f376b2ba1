"""A text encoder of transformers whose token states are pooled to one vector, in the ways of sentence-transformers."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from groundling.model.processor_settings import rules_of
from groundling.model.sides import Inputs, TextRules, TextSide
from groundling.model.snapshot import fingerprint


def _first(states: Tensor, mask: Tensor) -> Tensor:
    return states[torch.arange(len(states), device=states.device), mask.int().argmax(dim=1)]


def _last(states: Tensor, mask: Tensor) -> Tensor:
    places = torch.arange(mask.shape[1], device=mask.device)
    return states[torch.arange(len(states), device=states.device), (places * mask).argmax(dim=1)]


def _maximum(states: Tensor, mask: Tensor) -> Tensor:
    return states.masked_fill(mask[:, :, None] == 0, -torch.inf).amax(dim=1)


def _sum(states: Tensor, weights: Tensor) -> Tensor:
    return (states * weights[:, :, None]).sum(dim=1)


def mean(states: Tensor, mask: Tensor) -> Tensor:
    return _sum(states, mask) / mask.sum(dim=1, keepdim=True)


def _mean_of_root(states: Tensor, mask: Tensor) -> Tensor:
    return _sum(states, mask) / mask.sum(dim=1, keepdim=True).sqrt()


def _weighted_mean(states: Tensor, mask: Tensor) -> Tensor:
    weights = mask.cumsum(dim=1) * mask  # the n-th token counts n times
    return mean(states, weights)


# [texts, tokens, hidden] and which of the tokens are real, as numbers → [texts, hidden]
POOLINGS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cls": _first,
    "max": _maximum,
    "mean": mean,
    "mean_sqrt_len_tokens": _mean_of_root,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}


class PooledTransformer(TextSide):
    """Encoder → states of tokens → pooled, in one way or in several that are put side by side.

    Args:
        network: an encoder of transformers.
        pieces: its tokeniser.
        poolings: names from `POOLINGS`.
        longest: word pieces that are read of a text.
        small_letters: whether texts are read in small letters.
        prefix: what every text begins with.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        network: Any,
        pieces: Any,
        poolings: Sequence[str],
        longest: int,
        small_letters: bool = False,
        prefix: str = "",
    ) -> None:
        self.name, self.folder, self.device = name, folder, next(network.parameters()).device
        self.pieces, self.poolings, self.longest = pieces, list(poolings), longest
        self.small_letters, self.prefix = small_letters, prefix
        self._network: Any = network

    @property
    def network(self) -> nn.Module:
        network: nn.Module = self._network
        return network

    @property
    def dimensions(self) -> int:
        return int(self._network.config.hidden_size) * len(self.poolings)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.folder)

    def tokens(self, texts: Sequence[str]) -> Inputs:
        read = [self.prefix + text for text in texts]
        given = self.pieces(
            [text.lower() for text in read] if self.small_letters else read,
            padding=True,
            padding_side="right",  # on the left it would move the positions of the tokens
            truncation=True,
            max_length=self.longest,
            return_attention_mask=True,
            return_tensors="pt",
        )
        return {"input_ids": given["input_ids"], "attention_mask": given["attention_mask"]}

    def text_rules(self) -> TextRules:
        rules, pad = rules_of(self.pieces, self.name), int(self.pieces.pad_token_id or 0)
        return TextRules(rules, self.longest, pad, small_letters=self.small_letters, prefix=self.prefix)

    def vectors(self, inputs: Inputs) -> Tensor:
        states: Tensor = self._network(**inputs).last_hidden_state
        mask = inputs["attention_mask"].to(states.dtype)
        return torch.cat([POOLINGS[pooling](states, mask) for pooling in self.poolings], dim=1)
