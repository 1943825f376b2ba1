"""Words from their characters, and sentences from such words.

LIWE: Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings", ICCV: a word is its first
26 characters side by side, through a few layers; a bidirectional GRU reads the words.

>>> from groundling.settings import TextSettings
>>> settings = CharacterSettings(word_dimensions=4, character_dimensions=3, layers=[6])
>>> encoder = CharacterEncoder.build(["a dog", "ein Hund"], ["en", "de"], TextSettings(minimum_count=1), 8, settings)
>>> encoder.encode(["Hunde"], "de").shape  # never seen, and read all the same
torch.Size([1, 8])
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, cast

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import leaky_relu
from torch.nn.utils.parametrizations import weight_norm

from groundling.encoders.onnx_parts import LastState, Spelled
from groundling.encoders.padding import real
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, SpellingEncoder, TextEncoder
from groundling.encoders.text.bidirectional import BidirectionalSentence
from groundling.encoders.text.masked_norm import MaskedBatchNorm
from groundling.encoders.text.max_pooled import MaxSentence
from groundling.encoders.text.readers import SentenceReader, own_reader
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokeniser

AT_ONCE = 4096  # words spelled out together outside training


class CharacterSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(300, description="of a word vector")
    character_dimensions: PositiveInt = Field(24, description="of a letter's vector; 24 for S-LIWE, 120 for L-LIWE")
    longest_word: PositiveInt = Field(26, le=200, description="characters of a word that are read; the rest is cut")
    words: Literal["layers", "charGRU"] = Field("layers", description="how a word comes from its characters")
    layers: list[PositiveInt] = Field([384, 384], description="sizes (f1, f2, …) of the layers before the word vector")
    boundaries: bool = Field(
        False, description="symbols for the start and the end of a caption, as in the released code"
    )
    pooling: Literal["last", "ends", "max"] = Field(
        "last", description="how words become a sentence; see the encoders bidirectional (last, ends) and max_pooled"
    )
    renormalise: bool = Field(False, description="for batches of one language each (see `masked_norm`)")


class SpelledWords(nn.Module):
    """[…, letters] rows of the character table and […] which words are real → […, word dimensions]"""

    def export_graph(self) -> nn.Module:
        """A module that traces to ONNX: [words, letters] → [words, word dimensions]"""
        raise NotImplementedError


class LayeredWords(SpelledWords):
    """Characters side by side, zeros after the last one → (f1, f2, …, word) fully connected layers.

    Each layer, the one to the word vector included, is a weight-normalised linear map, batch normalisation and a leaky
    ReLU of slope 0.1. The linear maps have no bias: normalisation would take it away again.
    `renormalise` is for batches of one language each (see `masked_norm`).
    """

    def __init__(
        self,
        alphabet: int,
        character_dimensions: int,
        layers: Sequence[int],
        word_dimensions: int,
        longest: int,
        renormalise: bool = False,
    ) -> None:
        super().__init__()
        self.characters = nn.Embedding(alphabet, character_dimensions, padding_idx=0)
        sizes = [character_dimensions * longest, *layers, word_dimensions]
        self.maps = nn.ModuleList(weight_norm(nn.Linear(a, b, bias=False)) for a, b in pairwise(sizes))
        self.norms = nn.ModuleList(MaskedBatchNorm(size, renormalise=renormalise) for size in sizes[1:])

    def forward(self, spellings: Tensor, real: Tensor) -> Tensor:
        words = self.characters(spellings).flatten(-2)
        for linear, norm in zip(self.maps, self.norms, strict=True):
            words = leaky_relu(norm(linear(words), real), 0.1)
        return words

    def export_graph(self) -> nn.Module:
        return LayeredWordsGraph(self)


class RecurrentWords(SpelledWords):
    """A GRU over the characters; its state at the last one (charGRU). There are no statistics here that padding words
    could spoil."""

    def __init__(self, alphabet: int, character_dimensions: int, word_dimensions: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(alphabet, character_dimensions, padding_idx=0)
        self.recurrent = nn.GRU(character_dimensions, word_dimensions, batch_first=True)

    def forward(self, spellings: Tensor, real: Tensor) -> Tensor:
        words = spellings.flatten(end_dim=-2)
        last = ((words != 0).sum(-1) - 1).clamp(min=0)
        states, _ = self.recurrent(self.characters(words))
        return states[torch.arange(len(words), device=words.device), last].unflatten(0, real.shape)

    def export_graph(self) -> nn.Module:
        return RecurrentWordsGraph(self)


@TEXT_ENCODERS.register("characters")
class CharacterEncoder(SpellingEncoder):
    """Spellings → word vectors → sentence (bidirectional in LIWE).

    Args:
        sentence: what reads the word vectors, where that is there already (a student takes over its teacher's).
    """

    tokeniser_class: ClassVar = CharacterTokeniser
    Settings: ClassVar = CharacterSettings
    table: ClassVar = "words.characters.weight"
    copies_reader: ClassVar = True
    tokeniser: CharacterTokeniser

    def __init__(
        self,
        tokeniser: CharacterTokeniser,
        dimensions: int,
        settings: CharacterSettings,
        sentence: SentenceReader | None = None,
    ) -> None:
        super().__init__(tokeniser)
        own, size = settings, settings.word_dimensions if sentence is None else sentence.word_dimensions
        self.words: SpelledWords = (
            RecurrentWords(tokeniser.size, own.character_dimensions, size)
            if own.words == "charGRU"
            else LayeredWords(
                tokeniser.size, own.character_dimensions, own.layers, size, tokeniser.longest, own.renormalise
            )
        )
        self.sentence = _sentence(size, dimensions, own.pooling) if sentence is None else sentence

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return CharacterTokeniser.build(texts, languages, text, settings.longest_word, settings.boundaries)

    @classmethod
    def as_student(cls, tokeniser: Tokeniser, teacher: TextEncoder, settings: Any) -> "CharacterEncoder":
        """Its reader begins as the teacher's, where the teacher has one."""
        dimensions = teacher.dimensions
        sentence = own_reader(teacher.reader(), dimensions, settings.word_dimensions)
        return cls(cast(CharacterTokeniser, tokeniser), dimensions, settings, sentence)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, characters] and [captions] lengths → [captions, dimensions]"""
        return self.sentences(self.word_vectors(spellings, lengths), lengths)

    def reader(self) -> SentenceReader:
        return self.sentence

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.words(entries, real(lengths, entries.shape[1]))
        return vectors

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(words, lengths)
        return vectors

    def spell(self, spellings: Tensor) -> Tensor:
        parts = [self.words(part, part[:, 0] != 0).float() for part in spellings.split(AT_ONCE)]
        return torch.cat(parts)

    def export_graph(self) -> nn.Module:
        return Spelled(self.words.export_graph(), self.sentence.export_graph())


def _sentence(word_dimensions: int, dimensions: int, pooling: Literal["last", "ends", "max"]) -> SentenceReader:
    if pooling == "max":
        return MaxSentence(word_dimensions, dimensions)
    return BidirectionalSentence(word_dimensions, dimensions, pooling)


class LayeredWordsGraph(nn.Module):
    """`LayeredWords` as it traces to ONNX: without the parts of weight normalisation, which training alone needs."""

    def __init__(self, words: LayeredWords) -> None:
        super().__init__()
        self.characters, self.norms = words.characters, words.norms
        self.maps = nn.ModuleList(_plain(linear) for linear in words.maps)

    def forward(self, spellings: Tensor) -> Tensor:
        words: Tensor = self.characters(spellings).flatten(-2)
        for linear, norm in zip(self.maps, self.norms, strict=True):
            words = leaky_relu(norm(linear(words), spellings[:, 0] != 0), 0.1)
        return words


def _plain(linear: nn.Module) -> nn.Linear:
    weight = cast(Tensor, linear.weight)
    plain = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    plain.weight = nn.Parameter(weight.detach().clone(), requires_grad=False)
    return plain


class RecurrentWordsGraph(nn.Module):
    """`RecurrentWords` as it traces to ONNX."""

    def __init__(self, words: RecurrentWords) -> None:
        super().__init__()
        self.characters, self.last = words.characters, LastState(words.recurrent)

    def forward(self, spellings: Tensor) -> Tensor:
        vectors: Tensor = self.last(self.characters(spellings), (spellings != 0).sum(dim=1).clamp(min=1))
        return vectors
