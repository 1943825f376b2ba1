"""A frozen encoder's sentence vector through one layer, and words with their n-grams beside it. Needs the extra `use`.

The Universal Sentence Encoder (Yang et al. 2020, https://arxiv.org/abs/1907.04307) knows what words of 15 languages
mean, far beyond the captions of a training; words and n-grams (fastText: Bojanowski et al. 2017,
https://arxiv.org/abs/1607.04606) learn from the captions what it does not know, and read languages that it cannot.

    caption  =  A · sentence vector  +  B · mean of the vectors of its words and n-grams + b,  as a unit vector

>>> settings = UseNgramSettings(word_dimensions=4, buckets=32)
>>> encoder = UseNgramEncoder.build(["a dog"], ["en"], TextSettings(), 8, settings)     # doctest: +SKIP
>>> encoder.encode(["ein Hund", "pes"], ["de", "cs"]).shape                             # doctest: +SKIP
torch.Size([2, 8])
"""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, normalize

from groundling.encoders.onnx_parts import Spelled
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, SpellingEncoder
from groundling.encoders.text.sentence_map import FirstWordGraph, sentence_vectors
from groundling.encoders.tokenisers.use import LETTERS
from groundling.encoders.tokenisers.use_ngrams import UseNgramTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokeniser

# Adam moves every weight by about the learning rate, whatever it is for. A word or n-gram is met in few captions and
# must move far each time, so that its vector is this many times the row that is learned.
GAIN = 10.0


class UseNgramSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(128, description="of a word or an n-gram")
    buckets: PositiveInt = Field(2**15, description="rows for hashed character n-grams")
    dropout: float = Field(0.3, ge=0, lt=1, description="of the mean of words and n-grams")
    sentence_dropout: float = Field(0.1, ge=0, lt=1, description="of the sentence vector")


@TEXT_ENCODERS.register("use_ngrams")
class UseNgramEncoder(SpellingEncoder):
    """Both parts of a caption, each through a linear layer, added."""

    tokeniser_class: ClassVar = UseNgramTokeniser
    Settings: ClassVar = UseNgramSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: UseNgramSettings) -> None:
        super().__init__(tokeniser)
        rows = cast(UseNgramTokeniser, tokeniser).ngrams.size
        self.sentence = nn.Linear(
            LETTERS, dimensions, bias=False
        )  # where there is no sentence vector, nothing is added
        self.pieces = nn.Embedding(rows, settings.word_dimensions, padding_idx=0)
        self.project = nn.Linear(settings.word_dimensions, dimensions)
        self.sentence_dropout, self.dropout = nn.Dropout(settings.sentence_dropout), nn.Dropout(settings.dropout)
        nn.init.normal_(self.pieces.weight, std=0.1 / GAIN)

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return UseNgramTokeniser.build(texts, languages, text, settings.buckets)

    def spell(self, spellings: Tensor) -> Tensor:
        """[words, letters] → [words, dimensions], where a word is a whole caption."""
        mean = embedding_bag(spellings[:, LETTERS:].long(), self.pieces.weight, mode="mean", padding_idx=0)
        return self.add(spellings[:, :LETTERS], mean)

    def add(self, sentence: Tensor, mean: Tensor) -> Tensor:
        """[words, 512] spelled sentence vectors and [words, word dimensions] means of rows → [words, dimensions]"""
        standard = LETTERS**0.5 * sentence_vectors(sentence)  # unit vectors, made such that each number is about 1
        return cast(Tensor, self.sentence(self.sentence_dropout(standard)) + self.project(self.dropout(GAIN * mean)))

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, 1 or more, dimensions]: the first word is the caption → [captions, dimensions]"""
        return normalize(words[:, 0].float(), dim=-1)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.spell(spellings[:, 0]).float(), dim=-1)

    def export_graph(self) -> nn.Module:
        return Spelled(SpellGraph(self), FirstWordGraph(nn.Identity()))


class SpellGraph(nn.Module):
    """`UseNgramEncoder.spell` as it traces to ONNX."""

    def __init__(self, encoder: UseNgramEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, spellings: Tensor) -> Tensor:
        pieces = spellings[:, LETTERS:]
        real = (pieces > 0).unsqueeze(-1).float()
        mean = (self.encoder.pieces(pieces) * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
        return self.encoder.add(spellings[:, :LETTERS], mean)
