"""A student with a table of new words before a reader of word vectors: the teacher's as it is, or one of its own.

What a recurrent teacher has learned about sentences is in its reader (see `readers`), so that a student that knows
other words needs little more than these. The sentence vectors are learned as in CLSEAVE: Ziyi Xu 2024, "CLSEAVE: A
method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden).

>>> from groundling.encoders.text.recurrent import RecurrentEncoder, RecurrentSettings
>>> from groundling.settings import TextSettings
>>> text = TextSettings(minimum_count=1)
>>> teacher = RecurrentEncoder.build(["a dog"], ["en"], text, 8, RecurrentSettings(word_dimensions=4))
>>> settings = NewWordsSettings(reader="teacher")
>>> german = NewWordsEncoder.learn_tokeniser(["ein Hund"], ["de"], text, settings)
>>> NewWordsEncoder.as_student(german, teacher, settings).encode(["Hund"], "de").shape
torch.Size([1, 8])
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt
from torch import Tensor, nn

from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, TextEncoder
from groundling.encoders.text.readers import SentenceReader, own_reader
from groundling.encoders.text.word_table import TableEncoder
from groundling.errors import UserError
from groundling.text import Tokeniser


class NewWordsSettings(EncoderSettings):
    reader: Literal["own", "teacher"] = Field(
        "own", description="own: a reader that begins as the teacher's and learns; teacher: the teacher's as it is"
    )
    word_dimensions: PositiveInt = Field(300, description="where there is no teacher's reader to fit")
    dropout: float = Field(0.1, ge=0, lt=1, description="of the word vectors")


@TEXT_ENCODERS.register("new_words")
class NewWordsEncoder(TableEncoder):
    """Word table → dropout → reader → unit vector.

    Args:
        sentence: the reader; a new GRU when left out.
    """

    Settings: ClassVar = NewWordsSettings
    copies_reader: ClassVar = True

    def __init__(
        self,
        tokeniser: Tokeniser,
        dimensions: int,
        settings: NewWordsSettings,
        sentence: SentenceReader | None = None,
    ) -> None:
        super().__init__(tokeniser)
        if settings.reader == "teacher" and sentence is None:
            raise UserError("an encoder of new words with reader teacher has no teacher here; say reader: own")
        read = own_reader(None, dimensions, settings.word_dimensions) if sentence is None else sentence
        self.words = nn.Embedding(tokeniser.size, read.word_dimensions)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
        if settings.reader == "teacher":
            self._shared = (read,)  # in a tuple it is no part of this module: not trained, and not saved again
        else:
            self.sentence = read
        self.shares = settings.reader == "teacher"
        self.dropout = nn.Dropout(settings.dropout)

    @classmethod
    def as_student(cls, tokeniser: Tokeniser, teacher: TextEncoder, settings: Any) -> "NewWordsEncoder":
        dimensions, found = teacher.dimensions, teacher.reader()
        if settings.reader == "teacher":
            if found is None:
                raise UserError("student words needs a teacher with a recurrent encoder; choose the student encoder")
            return cls(tokeniser, dimensions, settings, found)
        return cls(tokeniser, dimensions, settings, own_reader(found, dimensions, settings.word_dimensions))

    def reader(self) -> SentenceReader:
        return self._shared[0] if self.shares else self.sentence

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.dropout(self.words(entries))
        return vectors
