"""Words that belong together by their states in a multilingual encoder; mBERT in the paper. Needs the extra `hub`.

awesome-align: Dou and Neubig 2021, "Word alignment by fine-tuning embeddings on parallel corpora",
https://arxiv.org/abs/2101.08231. Word pieces are compared by the product of their states; two words are a pair where
any of their pieces are, and the first entry of a word stands for it (as in CLTEAVE, Xu 2024, section 3.2.1).
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from groundling.batches.stream import Rows
from groundling.corpus.columns import Mask
from groundling.encoders.text.pretrained import load_encoder
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.errors import UserError
from groundling.objectives.token_alignment import word_pairs
from groundling.settings import TextSettings
from groundling.text import Tokeniser

LAYER = 8  # the one of mBERT whose states tell best which words belong together
AT_ONCE = 64
Words = list[tuple[list[str], list[int]]]  # of each sentence its words, and the first entry of each


class ContextualPairs:
    """
    Args:
        encoder: its name on the hub, or its folder.
        texts, languages: of all captions that rows speak of.
    """

    def __init__(
        self,
        encoder: str,
        texts: Sequence[str],
        languages: Sequence[str],
        tokeniser: TaughtTokeniser,
        threshold: float,
        device: torch.device,
    ) -> None:
        self.texts, self.languages, self.tokeniser, self.threshold = texts, languages, tokeniser, threshold
        found = HubTokeniser.build(encoder, TextSettings())
        if not found.pieces.is_fast:
            raise UserError(f"system.aligner: the tokeniser of {encoder} does not tell which word a piece is of")
        self.pieces, self.encoder, self.device = found.pieces, load_encoder(found.folder).to(device).eval(), device

    @torch.inference_mode()
    def __call__(self, captions: Rows, partners: Rows) -> Mask:
        """[n] captions and [n] known ones → [n, entries, entries] which belong together"""
        one, two = self._words(captions, self.tokeniser.student), self._words(partners, self.tokeniser.teacher)
        size = 1 + max((place for _, places in (*one, *two) for place in places), default=0)
        found = np.zeros((len(captions), size, size), dtype=bool)
        for start in range(0, len(captions), AT_ONCE):
            first, second = one[start : start + AT_ONCE], two[start : start + AT_ONCE]
            (states, numbers), (others, other_numbers) = self._read(first), self._read(second)
            alike = torch.matmul(states, others.transpose(1, 2))
            pairs = word_pairs(alike, numbers >= 0, other_numbers >= 0, self.threshold)
            for row, left, right in pairs.nonzero().tolist():
                place = first[row][1][int(numbers[row, left])]
                found[start + row, place, second[row][1][int(other_numbers[row, right])]] = True
        return found

    def _words(self, rows: Rows, tokeniser: Tokeniser) -> Words:
        return [tokeniser.spans(self.texts[row], self.languages[row]) for row in rows.tolist()]

    def _read(self, sentences: Words) -> tuple[Tensor, Tensor]:
        """States of the pieces, and the number of the word that each is of; −1 for symbols and padding."""
        given = self.pieces(
            [found for found, _ in sentences],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            return_tensors="pt",
        )
        read = self.encoder(
            input_ids=given["input_ids"].to(self.device),
            attention_mask=given["attention_mask"].to(self.device),
            output_hidden_states=True,
        ).hidden_states
        numbers = [[-1 if word is None else word for word in given.word_ids(row)] for row in range(len(sentences))]
        return read[min(LAYER, len(read) - 1)].float().cpu(), torch.tensor(numbers)
