"""A vector for each word of a sentence, for encoders that have one, and the sentence made of these as in the encoder.

A reader of word vectors, or a pretrained encoder, that has three methods can be looked at word by word:

    states(words, lengths)   [captions, longest, d], one for each word
    pool(states, lengths)    [captions, d]: what of them stands for the sentence
    finish(pooled)           [captions, dimensions] unit vectors

Put together they are the encoder, so that what was learned of words is read in the very way it was learned.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn

from groundling.encoders.text.autoencoder import Autoencoder
from groundling.encoders.text.characters import CharacterEncoder
from groundling.encoders.text.mapped import MappedEncoder
from groundling.encoders.text.pooled import PooledEncoder
from groundling.encoders.text.pretrained import PretrainedEncoder
from groundling.encoders.text.students import NewWords, OwnWords, reader
from groundling.encoders.text.taught import TaughtEncoder
from groundling.errors import UserError


class WordByWord:
    """A text encoder, looked at word by word; its own weights and no copy.

    Args:
        who: "teacher" or "student", for the error where this encoder has no vectors of words.
    """

    def __init__(self, encoder: nn.Module, who: str = "teacher") -> None:
        self.encoder = encoder
        sentence: Any = encoder
        if isinstance(encoder, NewWords):
            sentence = encoder._reader[0]
        elif not isinstance(encoder, PooledEncoder | BorrowedPooling):
            sentence = None if isinstance(encoder, TaughtEncoder) else reader(encoder)
        if not hasattr(sentence, "states"):
            kind = "a taught one" if isinstance(encoder, TaughtEncoder) else type(encoder).__name__
            raise UserError(
                f"token alignment needs a {who} that has a vector for each word, as recurrent encoders and transformers "
                f"encoders do, which {kind} is not; use clseave"
            )
        self.sentence: Any = sentence

    def __call__(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] or, spelled out, [captions, longest, letters] → [captions, longest, d]"""
        read = entries if self.sentence is self.encoder else word_vectors(self.encoder, entries, lengths)
        return cast(Tensor, self.sentence.states(read, lengths))

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return cast(Tensor, self.sentence.pool(states, lengths))

    def finish(self, pooled: Tensor) -> Tensor:
        return cast(Tensor, self.sentence.finish(pooled))


def word_vectors(encoder: Any, entries: Tensor, lengths: Tensor) -> Tensor:
    """What an encoder's reader reads."""
    if isinstance(encoder, CharacterEncoder):
        real = torch.arange(entries.shape[1], device=entries.device) < lengths[:, None]
        return encoder.words(entries, real)
    if isinstance(encoder, PretrainedEncoder):
        return encoder.vectors(entries, lengths)
    if isinstance(encoder, MappedEncoder):
        return encoder.mapped(encoder.vectors(entries))
    vectors: Tensor = encoder.words(entries)
    return encoder.dropout(vectors) if isinstance(encoder, NewWords | OwnWords) else vectors


class BorrowedPooling(nn.Module):
    """A student whose states are of other dimensions than the teacher's: through an autoencoder they become states of
    the teacher, and the teacher, which is not trained and not saved again, makes the sentence of them.

    Args:
        inner: the student's own encoder, of which only the states of words are used.
    """

    def __init__(self, inner: nn.Module, autoencoder: Autoencoder, teacher: WordByWord) -> None:
        super().__init__()
        self.inner, self.autoencoder = inner, autoencoder
        self._views = (WordByWord(inner, "student"), teacher)  # in a tuple they are no part of this module

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """Entries as the inner encoder reads them → [captions, dimensions]"""
        return self.finish(self.pool(self.states(entries, lengths), lengths))

    def raw(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, outer]: the states of the inner encoder as they are"""
        return self._views[0](entries, lengths)

    def states(self, entries: Tensor, lengths: Tensor) -> Tensor:
        return self.autoencoder.encode(self.raw(entries, lengths)).float()

    def reconstruction(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """The loss of the autoencoder, which changes nothing else."""
        with torch.no_grad():
            states = self.raw(entries, lengths).float()
        real = torch.arange(states.shape[1], device=states.device) < lengths[:, None]
        return self.autoencoder.loss(states, real)

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return self._views[1].pool(states, lengths)

    def finish(self, pooled: Tensor) -> Tensor:
        return self._views[1].finish(pooled)

    def spell(self, spellings: Tensor) -> Tensor:
        """Where the inner encoder reads letters (see `CharacterEncoder`)."""
        return cast(CharacterEncoder, self.inner).spell(spellings)

    def sentence(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Words that were spelled out before → [captions, dimensions]"""
        states = self.autoencoder.encode(self._views[0].sentence.states(words, lengths)).float()
        return self.finish(self.pool(states, lengths))


class WordByWordTaughtEncoder(TaughtEncoder):
    """Teacher and student beside each other, both of which can be looked at word by word."""

    def __init__(
        self, teacher: nn.Module, student: nn.Module, offset: int, letters: tuple[int | None, int | None]
    ) -> None:
        super().__init__(teacher, student, offset, letters)
        self._views = (WordByWord(teacher), WordByWord(student, "student"))

    def known_states(self, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Captions that the teacher reads → states of their words, and what of them stands for the sentence."""
        return _read(self._views[0], self.for_teacher(entries), lengths)

    def taught_states(self, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The same for captions that the student reads."""
        return _read(self._views[1], self.for_student(entries), lengths)


def _read(view: WordByWord, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states = view(entries, lengths)
    return states, view.pool(states, lengths)
