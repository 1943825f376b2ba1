"""A student whose states have other dimensions than the teacher's: an autoencoder stands between the two.

CLTEAVE: Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis,
Leiden), section 3.2.
"""

from pathlib import Path
from typing import cast

import torch
from torch import Tensor, nn

from groundling.encoders.padding import real
from groundling.encoders.text.autoencoder import Autoencoder
from groundling.encoders.text.base import SpellingEncoder, TextEncoder


class AutoencodedPooling(SpellingEncoder):
    """Through an autoencoder the states of `inner` become states of the teacher, and the teacher, which is not trained
    and not saved again, makes the sentence of them.

    Args:
        inner: the student's own encoder, of which only the states of words are used.
    """

    def __init__(self, inner: TextEncoder, autoencoder: Autoencoder, teacher: TextEncoder) -> None:
        super().__init__(inner.tokeniser)
        self.inner: TextEncoder = inner
        self.autoencoder = autoencoder
        self._teacher = (teacher,)  # in a tuple it is no part of this module

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """Entries as the inner encoder reads them → [captions, dimensions]"""
        return self.finish(self.pool(self.states(entries, lengths), lengths))

    @property
    def has_states(self) -> bool:
        return True

    def states(self, entries: Tensor, lengths: Tensor) -> Tensor:
        return self.autoencoder.encode(self.inner.states(entries, lengths)).float()

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return self._teacher[0].pool(states, lengths)

    def finish(self, pooled: Tensor) -> Tensor:
        return self._teacher[0].finish(pooled)

    def reconstruction(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """The loss of the autoencoder, which changes nothing else."""
        with torch.no_grad():
            states = self.inner.states(entries, lengths).float()
        return self.autoencoder.loss(states, real(lengths, states.shape[1]))

    def keep_files(self, run: Path) -> None:
        self.inner.keep_files(run)

    def spell(self, spellings: Tensor) -> Tensor:
        """Where the inner encoder reads letters."""
        return cast(SpellingEncoder, self.inner).spell(spellings)

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        reader = self.inner.reader()
        assert reader is not None  # noqa: S101 (for the type checker: words are spelled for a reader)
        states = self.autoencoder.encode(reader.states(words, lengths)).float()
        return self.finish(self.pool(states, lengths))

    def export_graph(self) -> nn.Module:
        return AutoencodedGraph(self)


class AutoencodedGraph(nn.Module):
    """`AutoencodedPooling` as it traces to ONNX."""

    def __init__(self, encoder: AutoencodedPooling) -> None:
        super().__init__()
        self.states, self.autoencoder = encoder.inner.states_graph(), encoder.autoencoder
        self.teacher = encoder._teacher[0]

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        states = self.autoencoder.encode(self.states(ids, lengths))
        return self.teacher.finish(self.teacher.pool(states, lengths))
