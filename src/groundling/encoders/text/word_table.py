"""Encoders that are a table of words and a reader of word vectors: all that follows from these two parts."""

from typing import ClassVar

from torch import Tensor, nn

from groundling.encoders.onnx_parts import Listed
from groundling.encoders.text.base import TextEncoder
from groundling.encoders.text.readers import SentenceReader


class TableEncoder(TextEncoder):
    """Word table → sentence. A subclass makes the two parts, `words` and `sentence`."""

    table: ClassVar = "words.weight"
    words: nn.Embedding
    sentence: SentenceReader

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.reader()(self.word_vectors(ids, lengths), lengths)
        return vectors

    def reader(self) -> SentenceReader:
        return self.sentence

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.words(entries)
        return vectors

    def export_graph(self) -> nn.Module:
        return Listed(self.words, self.reader().export_graph())
