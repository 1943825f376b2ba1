"""What every text encoder does, and where encoders are found by name.

An encoder of one's own is one class and one line, in a file anywhere:

    @TEXT_ENCODERS.register("mean")
    class MeanEncoder(TextEncoder):
        class Settings(EncoderSettings):
            word_dimensions: int = 64

        def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: Settings) -> None:
            super().__init__(tokeniser)
            self.words = nn.Embedding(tokeniser.size, settings.word_dimensions)
            self.project = nn.Linear(settings.word_dimensions, dimensions)

        def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
            return normalize(self.project(average(self.words(ids), lengths)).float(), dim=-1)

It then trains (`system: {name: vse, text: {name: mean, word_dimensions: 32}}`), teaches and is taught, is exported, and
says which words it knows. Another package declares it as an entry point of the group `groundling.text_encoders`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from groundling.encoders.settings import NONE, EncoderSettings, Named, Specials, choose, name_of
from groundling.encoders.text.readers import SentenceReader
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.registry import Registry
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, Tokens


@dataclass(frozen=True)
class PooledParts:
    """An encoder as sentence-transformers has them.

    Attributes:
        network, pieces: an encoder of transformers, and its tokeniser.
        longest: word pieces that are read of a caption.
        pooling: mean, cls or lasttoken.
        layers: linear layers and layer normalisations, in order; unit vectors come out of the last.
    """

    network: Any
    pieces: Any
    longest: int
    pooling: str
    layers: list[nn.Module]


class TextEncoder(nn.Module, ABC):
    """Captions into unit vectors; the tokeniser that cuts them belongs to it and is saved beside its weights.

    Class attributes:
        tokeniser_class: what it reads with. Its `build(texts, languages, settings)` makes one from training captions.
        Settings: its own settings.
        table: the name of the weight whose rows are the entries of the tokeniser; None where there is no such weight.
        copies_reader: whether a student of this kind begins with the reader of its teacher.
    """

    tokeniser_class: ClassVar[type[Tokeniser]] = WordTokeniser
    Settings: ClassVar[type[EncoderSettings]] = EncoderSettings
    table: ClassVar[str | None] = None
    copies_reader: ClassVar[bool] = False

    def __init__(self, tokeniser: Tokeniser) -> None:
        super().__init__()
        self.tokeniser = tokeniser

    # --- made from captions, from JSON, from a teacher

    @classmethod
    def check_languages(cls, languages: Sequence[str]) -> None:
        """An error where it cannot learn one of these."""
        return None

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        """From training captions only."""
        kind: Any = cls.tokeniser_class  # each has a `build` with arguments of its own; these are the usual ones
        made: Tokeniser = kind.build(texts, languages, text)
        return made

    @classmethod
    def build(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, dimensions: int, settings: Any
    ) -> Self:
        """A new encoder, with weights at random, for these training captions."""
        return cls.of(cls.learn_tokeniser(texts, languages, text, settings), dimensions, settings)

    @classmethod
    def of(cls, tokeniser: Tokeniser, dimensions: int, settings: Any) -> Self:
        """A new encoder that reads with this tokeniser."""
        make: Any = cls
        made: Self = make(tokeniser, dimensions, settings)
        return made

    @classmethod
    def as_student(cls, tokeniser: Tokeniser, teacher: "TextEncoder", settings: Any) -> Self:
        """A new encoder that shall learn to say what a teacher says, in the teacher's space."""
        return cls.of(tokeniser, teacher.dimensions, settings)

    def begin_as(self, teacher: "TextEncoder") -> None:
        """Take over what the teacher's reader has learned, where this student has a reader like it."""
        learned = teacher.reader()
        if self.copies_reader and learned is not None:
            self._own_reader().load_state_dict(learned.state_dict())

    # --- what it does

    @abstractmethod
    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] entries, or spelled out [captions, longest, letters], and [captions] lengths →
        [captions, dimensions] unit vectors. Padding must not change them."""

    def read_groups(self, groups: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
        """The same for groups of captions, each with a longest of its own."""
        return [self(*group) for group in groups]

    def tokenise(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        return self.tokeniser.encode(texts, languages)

    def encode(self, texts: Sequence[str], languages: str | Sequence[str]) -> Tensor:
        """[texts, dimensions] the vectors of some texts, all at once; `languages` is one code for all, or one each."""
        return self._seen(self, texts, [languages] * len(texts) if isinstance(languages, str) else languages)

    @property
    def dimensions(self) -> int:
        """Of its vectors, seen from one."""
        return self._seen(self).shape[1]

    @torch.no_grad()
    def _seen(
        self, look: Callable[[Tensor, Tensor], Tensor], texts: Sequence[str] = ("a",), codes: Sequence[str] = ()
    ) -> Tensor:
        """What the encoder, or a method of it, says outside training of some texts."""
        was_training, where = self.training, next((value.device for value in self.parameters()), None)
        entries, lengths = spelled_out(self.tokenise(texts, codes or self.tokeniser.codes[:1]))
        self.eval()
        found = look(entries.to(where), lengths.to(where))
        self.train(was_training)
        return found

    # --- word by word

    def reader(self) -> SentenceReader | None:
        """What makes a sentence of word vectors here, its own weights and no copy; None where nothing does."""
        return None

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, d], what the reader reads."""
        raise NotImplementedError(f"{type(self).__name__} has no reader of word vectors")

    @property
    def has_states(self) -> bool:
        """Whether there is a vector for each word: `states`, `pool` and `finish`, as of a `SentenceReader`."""
        return self.reader() is not None

    def states(self, entries: Tensor, lengths: Tensor) -> Tensor:
        return self._own_reader().states(self.word_vectors(entries, lengths), lengths)

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return self._own_reader().pool(states, lengths)

    def finish(self, pooled: Tensor) -> Tensor:
        return self._own_reader().finish(pooled)

    @property
    def state_dimensions(self) -> int:
        """Of its states, seen from one."""
        return self._seen(self.states).shape[-1]

    def unscaled(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, dimensions] sentences before they are brought to unit length, where there is such a step."""
        reader = self.reader()
        if reader is None:
            raise UserError(
                f"system.distance: {type(self).__name__} has no vectors but those of unit length; use share"
            )
        return reader.unscaled(self.pool(self.states(entries, lengths), lengths))

    def drop_finish(self) -> None:
        """Leave out what only makes a sentence of the states: another encoder does that."""
        return None

    def reconstruction(self, entries: Tensor, lengths: Tensor) -> Tensor | None:
        """The loss of what turns its states into a teacher's and back; None where they are used as they are."""
        return None

    def check_states(self, who: str) -> Self:
        """An error where it has no vectors of words; `who` is "teacher" or "student"."""
        if not self.has_states:
            raise UserError(
                f"token alignment needs a {who} that has a vector for each word, as recurrent encoders and "
                f"transformers do, which {type(self).__name__} is not; use clseave"
            )
        return self

    def _own_reader(self) -> SentenceReader:
        found = self.reader()
        if found is None:
            raise NotImplementedError(f"{type(self).__name__} has no vectors of words")
        return found

    # --- beside others

    def learner(self) -> "TextEncoder":
        """Who of all that read for a model is learning: the student, where there is one."""
        return self

    def readers(self) -> "list[TextEncoder]":
        """All that read for a model, in the order of `Tokeniser.readers`."""
        return [self]

    @torch.no_grad()
    def warm_start(self, other: "TextEncoder") -> None:
        """All weights of an encoder of the same kind; rows of the table by what they mean, so that its words may be
        others. What the other one has not met keeps what it has. Raises ValueError where it does not fit.

        How many `steps` a normalisation has taken matters to none but itself.
        """
        fresh = self.state_dict()
        saved = {name: value for name, value in other.state_dict().items() if not name.endswith(".steps")}
        table, wanted, known = self.table or "", self.tokeniser.row_names(), other.tokeniser.row_names()
        both = [(row, known[name]) for name, row in wanted.items() if name in known]
        same = table in saved and table in fresh and type(self.tokeniser) is type(other.tokeniser)
        if same and both and saved[table].shape[1] == fresh[table].shape[1]:
            matched = fresh[table].clone()
            to, source = torch.tensor(both, device=matched.device).T
            matched[to] = saved[table].to(matched.device)[source]
            saved[table] = matched
        try:
            self.load_state_dict(saved)
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    # --- kept in a run

    def keep_files(self, run: Path) -> None:
        """Copy into the folder of a run what it needs beside its weights and the JSON of its tokeniser."""
        return None

    # --- export

    def pooled_transformer(self) -> "PooledParts | None":
        """Its parts, where it is nothing but an encoder of transformers, a pooling and layers behind it."""
        return None

    def export_graph(self) -> nn.Module:
        """A module that traces to ONNX (see `onnx_parts`). This one does for a `forward` that traces as it is."""
        return self

    def states_graph(self) -> nn.Module:
        """The same for `states`, where these trace as they are."""
        raise UserError(f"the states of {type(self).__name__} cannot be exported to ONNX yet")


class SpellingEncoder(TextEncoder):
    """An encoder whose tokeniser spells words out: a word is made from its letters, a sentence from its words.

    Outside training a word does not depend on those beside it, so that each word is spelled once and remembered.
    """

    @abstractmethod
    def spell(self, spellings: Tensor) -> Tensor:
        """[words, letters] → [words, word dimensions], outside training; word 0 is the padding."""

    @abstractmethod
    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, word dimensions] words that were spelled before → [captions, dimensions]"""


TEXT_ENCODERS: Registry[type[TextEncoder]] = Registry("text encoder", "groundling.text_encoders")


def spelled_out(tokens: Tokens) -> tuple[Tensor, Tensor]:
    """Tokens as an encoder's `forward` reads them."""
    entries = torch.from_numpy(tokens.ids)
    if tokens.spellings is not None:
        entries = torch.from_numpy(tokens.spellings)[entries.long()]
    return entries, torch.from_numpy(tokens.lengths)


TextChoice = tuple[type[TextEncoder], EncoderSettings]


def chosen(values: Named, where: str, special: Specials = NONE, **defaults: Any) -> TextChoice:
    """The encoder that a recipe names, and its checked settings; see `encoders.settings.choose`."""
    return choose(TEXT_ENCODERS, values, where, {**defaults, **special.get(name_of(values), {})})
