"""Words of many languages in one universal embedding, and sentences made of them.

MULE: Kim, Saito, Saenko, Sclaroff and Plummer 2020, https://arxiv.org/abs/1909.03493; SMALR: Burns et al. 2020,
https://arxiv.org/abs/2004.04312. Every language has its own rows of the word table and its own linear map; what comes
out is the universal embedding, in which words of all languages shall lie side by side.

>>> from groundling.settings import TextSettings
>>> settings = UniversalSettings(word_dimensions=3, universal_dimensions=4, state_dimensions=5)
>>> encoder = UniversalEncoder.build(["a dog", "ein Hund"], ["en", "de"], TextSettings(minimum_count=1), 8, settings)
>>> encoder.encode(["a dog", "ein Hund"], ["en", "de"]).shape
torch.Size([2, 8])
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.batches.packing import Packing
from groundling.encoders.onnx_parts import LastState, Listed
from groundling.encoders.padding import average
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, TextEncoder
from groundling.encoders.text.hybrid import HybridWords
from groundling.encoders.text.readers import ProjectedSentence
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokeniser


class UniversalSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(300, description="of word vectors")
    universal_dimensions: PositiveInt = Field(512, description="of the embedding that each language's words map to")
    state_dimensions: PositiveInt = Field(1024, description="of the recurrent state")


class UniversalWordsEncoder(TextEncoder):
    """What `UniversalEncoder` and `ParallelEncoder` share: the words of each language, and their universal embedding.

    Args:
        words: where they are there already, smaller for example (see `compact`); else every language has a map.
    """

    tokeniser_class: ClassVar = LanguageTokeniser
    Settings: ClassVar = UniversalSettings
    tokeniser: LanguageTokeniser

    def __init__(
        self,
        tokeniser: LanguageTokeniser,
        dimensions: int,
        settings: UniversalSettings,
        words: HybridWords | None = None,
    ) -> None:
        super().__init__(tokeniser)
        self.words = HybridWords.of(tokeniser, settings.universal_dimensions) if words is None else words
        self.add_branches(settings.state_dimensions, dimensions)

    def add_branches(self, state: int, dimensions: int) -> None:
        """What reads the words of a caption, with states so large, into vectors of so many dimensions."""
        raise NotImplementedError

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return LanguageTokeniser.build(texts, languages, text, settings.word_dimensions)

    def branches(self) -> list[tuple[nn.GRU, nn.Linear]]:
        """The GRUs that read captions, one for all languages or one for each, and the layer behind each."""
        raise NotImplementedError

    def read(self, ids: Tensor, lengths: Tensor, packing: Packing = ()) -> tuple[Tensor, Tensor]:
        """[languages, captions, longest] → the mean of the universal embeddings of its words, and the vector of each
        caption, [languages, captions, …]. Languages come in the order of their rows."""
        raise NotImplementedError


@TEXT_ENCODERS.register("universal")
class UniversalEncoder(UniversalWordsEncoder):
    """Universal words → one GRU and one linear layer for all languages → unit vectors (MULE)."""

    def add_branches(self, state: int, dimensions: int) -> None:
        self.recurrent = nn.GRU(self.words.width, state, batch_first=True)
        self.project = nn.Linear(state, dimensions)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths, of any languages → [captions, dimensions]"""
        vectors: Tensor = self.reader()(self.words(ids), lengths)
        return vectors

    def reader(self) -> ProjectedSentence:
        return ProjectedSentence(self.recurrent, self.project)

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.words(entries)
        return vectors

    def branches(self) -> list[tuple[nn.GRU, nn.Linear]]:
        return [(self.recurrent, self.project)]

    def read(self, ids: Tensor, lengths: Tensor, packing: Packing = ()) -> tuple[Tensor, Tensor]:
        words = self.words(ids)
        return average(words, lengths), self.sentences(words, lengths, packing)

    def sentences(self, words: Tensor, lengths: Tensor, packing: Packing = ()) -> Tensor:
        """[…, longest, universal] and […] lengths → […, dimensions], for captions in any number of dimensions."""
        vectors = self.reader().packed(words.flatten(end_dim=-3), lengths.flatten(), packing)
        return vectors.unflatten(0, lengths.shape)

    def export_graph(self) -> nn.Module:
        """Every word as the map of its language makes it: all that is left to do is to look it up."""
        return Listed(nn.Embedding.from_pretrained(self.words.whole()), self.reader().export_graph())


@TEXT_ENCODERS.register("parallel")
class ParallelEncoder(UniversalWordsEncoder):
    """The same with a GRU and a linear layer for each language.

    PAR. EmbN: Gella et al. 2017, https://arxiv.org/abs/1707.07601, as compared with by Kim et al. 2020.
    """

    def add_branches(self, state: int, dimensions: int) -> None:
        width, count = self.words.width, len(self.words.mapped)
        self.recurrent = nn.ModuleList(nn.GRU(width, state, batch_first=True) for _ in range(count))
        self.project = nn.ModuleList(nn.Linear(state, dimensions) for _ in range(count))
        self.width = dimensions

    def branches(self) -> list[tuple[nn.GRU, nn.Linear]]:
        both = zip(self.recurrent, self.project, strict=True)
        return [(cast(nn.GRU, gru), cast(nn.Linear, layer)) for gru, layer in both]

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """As of `UniversalEncoder`. A caption's language is that of its first word."""
        words, languages = self.words(ids), self.words.languages(ids[:, 0])
        vectors = torch.empty(len(ids), self.width, device=ids.device)
        for number, branch in enumerate(self.branches()):
            rows = (languages == number).nonzero().flatten()
            vectors[rows] = ProjectedSentence(*branch)(words[rows], lengths[rows])
        return vectors

    def read(self, ids: Tensor, lengths: Tensor, packing: Packing = ()) -> tuple[Tensor, Tensor]:
        """Captions of one language are put together by length already: nothing is packed."""
        words = self.words(ids)
        branches = zip(self.branches(), words, lengths, strict=True)
        vectors = [ProjectedSentence(*branch)(read, count) for branch, read, count in branches]
        return average(words, lengths), torch.stack(vectors)

    def export_graph(self) -> nn.Module:
        return ParallelGraph(self)


class ParallelGraph(nn.Module):
    """`ParallelEncoder` as it traces to ONNX: every language's branch reads every caption, and each caption keeps what
    its own language says."""

    def __init__(self, encoder: ParallelEncoder) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(encoder.words.whole())
        self.last = nn.ModuleList(LastState(gru) for gru, _ in encoder.branches())
        self.project, self.bounds = encoder.project, encoder.words.bounds[1:-1]

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        words, first = self.words(ids), ids[:, :1]
        vectors: Tensor = self.project[0](self.last[0](words, lengths))
        for bound, last, project in zip(self.bounds, self.last[1:], self.project[1:], strict=True):
            vectors = torch.where(first >= bound, project(last(words, lengths)), vectors)
        return normalize(vectors, dim=-1)
