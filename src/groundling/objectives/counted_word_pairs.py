"""Words that belong together, found by counting in the sentence pairs themselves: no encoder is needed.

A pair of words needs both directions' softmax above a threshold (see `objectives.token_alignment`). Symbols for start
and end are no words. `contextual` has the way of the paper.
"""

import numpy as np
import torch

from groundling.batches import TrainingData
from groundling.batches.stream import Rows
from groundling.batches.translations import Translations
from groundling.corpus.columns import Mask
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.objectives.token_alignment import word_pairs
from groundling.words import lexicon

CELLS = 8_000_000  # words by words that a lexicon is counted in


class CountedPairs:
    """Entries of any tokenisers that translate each other in the training pairs."""

    def __init__(self, data: TrainingData, pairs: Translations, tokeniser: TaughtTokeniser, threshold: float) -> None:
        self.ids, self.lengths, self.threshold = data.ids.cpu().numpy().astype(np.int64), data.lengths, threshold
        self.real = real_words(data, tokeniser)
        most = max(1, CELLS // int(data.lengths.max()) ** 2)
        places = np.random.default_rng(0).permutation(len(pairs.captions))[:most]
        first, second = pairs.captions[places], pairs.partners(places)
        self.lexicon = lexicon.learn(self._entries(first), self._entries(second), self._real(first, second))

    def __call__(self, captions: Rows, partners: Rows) -> Mask:
        """[n] captions and [n] known ones → [n, entries, entries] which belong together"""
        real = self._real(captions, partners)
        forth, back = self.lexicon.similarities(self._entries(captions), self._entries(partners), real)
        one, two = (torch.from_numpy(part) for part in real)
        found = word_pairs(torch.from_numpy(forth), one, two, self.threshold, torch.from_numpy(back))
        return np.asarray(found.numpy())

    def _entries(self, rows: Rows) -> Rows:
        return np.asarray(self.ids[rows, : int(self.lengths[rows].max())])

    def _real(self, *sides: Rows) -> tuple[Mask, Mask]:
        one, two = (self.real[rows, : int(self.lengths[rows].max())] for rows in sides)
        return one, two


def real_words(data: TrainingData, tokeniser: TaughtTokeniser) -> Mask:
    """[captions, longest] which entries are words: no padding, no symbols around a sentence."""
    ids = data.ids.cpu().numpy()
    codes = ids if data.spellings is None else data.spellings[:, 0].cpu().numpy()[ids]
    symbols = [*tokeniser.teacher.symbols, *(tokeniser.offset + row for row in tokeniser.student.symbols)]
    return np.asarray((np.arange(ids.shape[1]) < data.lengths[:, None]) & ~np.isin(codes, symbols))
