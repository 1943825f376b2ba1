"""Text encoders in a form that becomes an ONNX graph: the same sums, nothing that depends on how many there are.

A text graph reads `ids` [captions, longest] and `lengths` [captions], and where words are spelled out `spellings`
[words, pieces], whose rows `ids` then are (see `text.tokens.Tokens`).
"""

from copy import deepcopy
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, normalize

from groundling.encoders.text.bag import BagEncoder
from groundling.encoders.text.bidirectional import BidirectionalEncoder
from groundling.encoders.text.characters import CharacterEncoder
from groundling.encoders.text.mapped import MappedEncoder
from groundling.encoders.text.max_pooled import MaxPooledEncoder, MaxSentence
from groundling.encoders.text.pooled import PooledEncoder
from groundling.encoders.text.pretrained import PretrainedEncoder
from groundling.encoders.text.recurrent import RecurrentEncoder
from groundling.encoders.text.students import NewWords, OwnWords, SentenceMap
from groundling.encoders.text.universal import ParallelEncoder, UniversalEncoder
from groundling.encoders.text.word_by_word import BorrowedPooling
from groundling.errors import UserError
from groundling.export.recurrence import LastState, entry, sentence_graph
from groundling.export.word_graphs import MappedPieces, SentenceVector, letters_graph


def text_graph(encoder: nn.Module, system: str) -> nn.Module:
    """A module that traces to the graph of a text encoder. The encoder itself stays as it is."""
    encoder = deepcopy(encoder).float().cpu().eval().requires_grad_(False)
    match encoder:
        case RecurrentEncoder():
            return Listed(encoder.words, sentence_graph(encoder.recurrent))
        case UniversalEncoder():
            # Every word as the map of its language makes it: all that is left to do is to look it up.
            return Listed(nn.Embedding.from_pretrained(encoder.words.whole()), sentence_graph(encoder))
        case BidirectionalEncoder() | MaxPooledEncoder() | OwnWords():
            return Listed(encoder.words, sentence_graph(encoder.sentence))
        case NewWords():
            return Listed(encoder.words, sentence_graph(encoder._reader[0]))
        case CharacterEncoder():
            return Spelled(letters_graph(encoder.words), sentence_graph(encoder.sentence))
        case MappedEncoder():
            return Spelled(MappedPieces(encoder), sentence_graph(encoder.sentence))
        case SentenceMap():
            return Spelled(SentenceVector(encoder), FirstWord(encoder.map))
        case BagEncoder():
            return Bag(encoder)
        case ParallelEncoder():
            return Parallel(encoder)
        case PretrainedEncoder():
            return Pretrained(encoder)
        case PooledEncoder():
            return Pooled(encoder)
        case BorrowedPooling() if isinstance(encoder.inner, PooledEncoder):
            return Borrowed(encoder, encoder.inner)
    raise UserError(f"system {system}: its text encoder ({type(encoder).__name__}) cannot be exported to ONNX yet")


class Listed(nn.Module):
    """Words of a table, and a sentence of them."""

    def __init__(self, words: nn.Module, sentence: nn.Module) -> None:
        super().__init__()
        self.words, self.sentence = words, sentence

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(self.words(ids), lengths)
        return vectors


class Spelled(nn.Module):
    """Words from their spelling, each once, and sentences of them."""

    def __init__(self, spell: nn.Module, sentence: nn.Module) -> None:
        super().__init__()
        self.spell, self.sentence = spell, sentence

    def forward(self, ids: Tensor, lengths: Tensor, spellings: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(embedding(ids, self.spell(spellings)), lengths)
        return vectors


class FirstWord(nn.Module):
    """The one word that is a whole sentence, mapped (see `encoders.text.students.SentenceMap`)."""

    def __init__(self, map: nn.Module) -> None:
        super().__init__()
        self.map = map

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.map(entry(words, lengths - lengths)), dim=-1)


class Bag(nn.Module):
    """See `encoders.text.bag.BagEncoder`: real entries are never row 0."""

    def __init__(self, encoder: BagEncoder) -> None:
        super().__init__()
        self.pieces, self.project = encoder.pieces, encoder.project

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        real = (torch.arange(ids.shape[1]) < lengths[:, None])[:, :, None].float()
        mean = (self.pieces(ids) * real).sum(dim=1) / lengths[:, None]
        return normalize(self.project(mean), dim=-1)


class Parallel(nn.Module):
    """Every language's branch reads every caption, and each caption keeps what its own language says."""

    def __init__(self, encoder: ParallelEncoder) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(encoder.words.whole())
        self.last = nn.ModuleList(LastState(cast(nn.GRU, recurrent)) for recurrent in encoder.recurrent)
        self.project, self.bounds = encoder.project, encoder.words.bounds[1:-1]

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        words, first = self.words(ids), ids[:, :1]
        vectors: Tensor = self.project[0](self.last[0](words, lengths))
        for bound, last, project in zip(self.bounds, self.last[1:], self.project[1:], strict=True):
            vectors = torch.where(first >= bound, project(last(words, lengths)), vectors)
        return normalize(vectors, dim=-1)


class Pretrained(nn.Module):
    """See `encoders.text.pretrained.PretrainedEncoder`."""

    def __init__(self, encoder: PretrainedEncoder) -> None:
        super().__init__()
        self.encoder, self.sentence = encoder.encoder, sentence_graph(encoder.sentence)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        states = self.encoder(input_ids=ids.long(), attention_mask=_mask(ids, lengths)).last_hidden_state
        vectors: Tensor = self.sentence(states, lengths)
        return vectors


class Pooled(nn.Module):
    """See `encoders.text.pooled.PooledEncoder`."""

    def __init__(self, encoder: PooledEncoder) -> None:
        super().__init__()
        self.encoder, self.project, self.pooling, self.causal = (
            encoder.encoder,
            encoder.project,
            encoder.pooling,
            encoder.causal,
        )

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        mask = None if self.causal else _mask(ids, lengths)
        states = self.encoder(input_ids=ids.long(), attention_mask=mask).last_hidden_state
        if self.pooling == "mean":
            real = (torch.arange(ids.shape[1]) < lengths[:, None])[:, :, None].float()
            pooled = (states * real).sum(dim=1) / lengths[:, None]
        else:
            pooled = entry(states, lengths - 1) if self.pooling == "last" else states[:, 0]
        return normalize(self.project(pooled), dim=-1)


class Borrowed(nn.Module):
    """See `encoders.text.word_by_word.BorrowedPooling`: states of an encoder, made into a sentence as the teacher does it."""

    def __init__(self, encoder: BorrowedPooling, inner: PooledEncoder) -> None:
        super().__init__()
        self.inner, self.autoencoder, self.teacher = inner, encoder.autoencoder, encoder._views[1].sentence

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        states = self.autoencoder.encode(self.inner.states(ids, lengths))
        vectors: Tensor = self.teacher.finish(self._pool(states, lengths))
        return vectors

    def _pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        """As the teacher's own, whose places of states would be traced for a fixed number of captions."""
        pooling = getattr(self.teacher, "pooling", "last")
        if isinstance(self.teacher, MaxSentence) or pooling == "mean":
            pooled: Tensor = self.teacher.pool(states, lengths)
            return pooled
        last = states[:, 0] if pooling == "first" else entry(states, lengths - 1)
        half = states.shape[-1] // 2
        return (last[:, :half] + states[:, 0, half:]) / 2 if pooling == "ends" else last


def _mask(ids: Tensor, lengths: Tensor) -> Tensor:
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    return real[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
