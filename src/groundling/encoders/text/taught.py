"""A text encoder that was taught further languages: the teacher's as it was, and a student's beside it.

Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden).
"""

from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

from groundling.encoders.text.base import TextEncoder
from groundling.encoders.text.readers import SentenceReader
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.errors import UserError


class TaughtEncoder(TextEncoder):
    """Captions of old languages go through the teacher, which never changes, those of taught ones through the student.

    A caption's first entry tells who reads it (see `tokenisers.taught`).
    """

    tokeniser_class: ClassVar = TaughtTokeniser
    tokeniser: TaughtTokeniser

    def __init__(self, tokeniser: TaughtTokeniser, teacher: TextEncoder, student: TextEncoder) -> None:
        super().__init__(tokeniser)
        self.teacher: TextEncoder = teacher.requires_grad_(False)
        self.student: TextEncoder = student
        self.train(self.training)

    def train(self, mode: bool = True) -> "TaughtEncoder":
        """The teacher stays as it is when it answers: no dropout, no new statistics.

        Its recurrent layers have neither; they do as the student does, for only so a GPU lets gradients through them.
        """
        super().train(mode)
        self.teacher.eval()
        for part in self.teacher.modules():
            if isinstance(part, nn.RNNBase):
                part.training = mode
        return self

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] or, spelled out, [captions, longest, letters], and [captions] → [captions, dimensions]"""
        taught = entries.flatten(1)[:, 0] >= self.tokeniser.offset
        old, new = (~taught).nonzero().flatten(), taught.nonzero().flatten()
        if not len(new):
            return self.known(entries, lengths)
        if not len(old):
            return self.taught(entries, lengths)
        first = self.known(entries[old], lengths[old])
        vectors = first.new_empty(len(entries), first.shape[1])
        vectors[old] = first
        widest = int(lengths[new].max())  # the teacher's captions may be longer than the student has places for
        vectors[new] = self.taught(entries[new, :widest], lengths[new]).to(first.dtype)
        return vectors

    def known(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """Captions that the teacher reads, all of them."""
        vectors: Tensor = self.teacher(self.for_teacher(entries), lengths)
        return vectors

    def taught(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """Captions that the student reads, all of them."""
        vectors: Tensor = self.student(self.for_student(entries), lengths)
        return vectors

    def known_states(self, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Captions that the teacher reads → states of their words, and what of them stands for the sentence."""
        return _states(self.teacher, self.for_teacher(entries), lengths)

    def taught_states(self, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The same for captions that the student reads."""
        return _states(self.student, self.for_student(entries), lengths)

    def for_teacher(self, entries: Tensor) -> Tensor:
        """Entries as the teacher wants them."""
        return _spelled(entries, self.teacher.tokeniser.letters)

    def for_student(self, entries: Tensor) -> Tensor:
        """Entries as the student wants them; padding, which is 0, stays 0."""
        return _spelled((entries - self.tokeniser.offset).clamp(min=0), self.student.tokeniser.letters)

    def readers(self) -> list[TextEncoder]:
        return [*self.teacher.readers(), self.student]

    def learner(self) -> TextEncoder:
        return self.student

    def reader(self) -> SentenceReader | None:
        return self.teacher.reader()

    @property
    def has_states(self) -> bool:
        """Those of teacher and student need not have the same dimensions."""
        return False

    def keep_files(self, run: Path) -> None:
        self.teacher.keep_files(run)
        self.student.keep_files(run)

    def export_graph(self) -> nn.Module:
        raise UserError("a model that was taught further languages is exported reader by reader")


def _states(encoder: TextEncoder, entries: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    states = encoder.states(entries, lengths)
    return states, encoder.pool(states, lengths)


def _spelled(entries: Tensor, letters: int | None) -> Tensor:
    """Entries as their reader wants them: whole words, or words of so many letters."""
    if entries.dim() == 2:
        return entries
    if letters is None:
        return entries[..., 0]
    return entries[..., :letters] if letters else entries
