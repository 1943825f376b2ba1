"""A text encoder that was taught further languages: the teacher's as it was, and a student's beside it (seed 003)."""

from torch import Tensor, nn


class TaughtEncoder(nn.Module):
    """Captions of old languages go through the teacher, which never changes, those of taught ones through the student.

    A caption's first entry tells who reads it (see `tokenisers.taught`).

    Args:
        offset: where the student's entries begin.
        letters: of a word, for teacher and student: so many, 0 for any number, None where whole words are read.
    """

    def __init__(
        self, teacher: nn.Module, student: nn.Module, offset: int, letters: tuple[int | None, int | None]
    ) -> None:
        super().__init__()
        self.teacher = teacher.requires_grad_(False)
        self.student = student
        self.offset, self.letters = offset, letters
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
        taught = entries.flatten(1)[:, 0] >= self.offset
        old, new = (~taught).nonzero().flatten(), taught.nonzero().flatten()
        if not len(new):
            return self.known(entries, lengths)
        if not len(old):
            return self.taught(entries, lengths)
        first = self.known(entries[old], lengths[old])
        vectors = first.new_empty(len(entries), first.shape[1])
        vectors[old] = first
        vectors[new] = self.taught(entries[new], lengths[new]).to(first.dtype)
        return vectors

    def known(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """Captions that the teacher reads, all of them."""
        vectors: Tensor = self.teacher(self.for_teacher(entries), lengths)
        return vectors

    def taught(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """Captions that the student reads, all of them."""
        vectors: Tensor = self.student(self.for_student(entries), lengths)
        return vectors

    def for_teacher(self, entries: Tensor) -> Tensor:
        """Entries as the teacher's encoder wants them."""
        return _spelled(entries, self.letters[0])

    def for_student(self, entries: Tensor) -> Tensor:
        """Entries as the student's encoder wants them; padding, which is 0, stays 0."""
        return _spelled((entries - self.offset).clamp(min=0), self.letters[1])


def readers(encoder: nn.Module) -> list[nn.Module]:
    """All that read for a model, in the order of `tokenisers.taught.readers`."""
    return [*readers(encoder.teacher), encoder.student] if isinstance(encoder, TaughtEncoder) else [encoder]


def _spelled(entries: Tensor, letters: int | None) -> Tensor:
    """Entries as their reader wants them: whole words, or words of so many letters."""
    if entries.dim() == 2:
        return entries
    if letters is None:
        return entries[..., 0]
    return entries[..., :letters] if letters else entries
