"""A sentence as the last state of a GRU over its words.

VSE++: Faghri et al. 2018, https://arxiv.org/abs/1707.05612; for many languages at once: Kádár et al. 2018, "Lessons
learned in multilingual grounded language learning", section 3, https://arxiv.org/abs/1809.07615

>>> from groundling.settings import TextSettings
>>> texts, languages = ["a dog", "ein Hund"], ["en", "de"]
>>> text = TextSettings(minimum_count=1)
>>> encoder = RecurrentEncoder.build(texts, languages, text, 8, RecurrentSettings(word_dimensions=4))
>>> encoder.encode(["a dog", "a Hund"], "en").shape
torch.Size([2, 8])
"""

from typing import ClassVar

from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.onnx_parts import Listed
from groundling.encoders.padding import last
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, TextEncoder
from groundling.encoders.text.readers import RecurrentSentence
from groundling.text import Tokeniser


class RecurrentSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(300, description="of a word vector")


@TEXT_ENCODERS.register("recurrent")
class RecurrentEncoder(TextEncoder):
    """Word table → forward GRU → state at the last real word → unit vector; see `RecurrentSentence`."""

    Settings: ClassVar = RecurrentSettings
    table: ClassVar = "words.weight"

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: RecurrentSettings) -> None:
        super().__init__(tokeniser)
        self.words = nn.Embedding(tokeniser.size, settings.word_dimensions)
        self.recurrent = nn.GRU(settings.word_dimensions, dimensions, batch_first=True)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.finish(self.pool(self.states(ids, lengths), lengths))

    def reader(self) -> RecurrentSentence:
        return RecurrentSentence.around(self.recurrent)

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.words(entries)
        return vectors

    def states(self, entries: Tensor, lengths: Tensor) -> Tensor:
        states: Tensor = self.recurrent(self.words(entries))[0]
        return states

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return last(states, lengths)

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(pooled.float(), dim=-1)

    def export_graph(self) -> nn.Module:
        return Listed(self.words, self.reader().export_graph())
