"""The word pieces of a pretrained encoder by its rules as data: what an exported model reads with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, Tokens, pad


@dataclass(frozen=True)
class PieceTokeniser(Tokeniser):
    """The encoder's folder is not needed; the package `tokenizers`, which comes with the extra `hub`, is.

    Attributes:
        pieces: a `tokenizers.Tokenizer` that cuts at `longest`.
    """

    kind: ClassVar[str] = "pieces"
    pretrained: ClassVar[bool] = True
    rules: str
    longest: int
    pieces: Any
    settings: TextSettings = field(default=TextSettings(), init=False, compare=False)

    @property
    def size(self) -> int:
        return int(self.pieces.get_vocab_size())

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        return pad([line.ids for line in self.pieces.encode_batch(list(texts))])

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "longest": self.longest, "rules": self.rules}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise UserError("this model reads word pieces, which needs: pip install 'groundling[hub]'") from None
        try:
            pieces = Tokenizer.from_str(value["rules"])
        except Exception as error:  # the library raises bare exceptions
            raise ValueError(str(error)) from None
        pieces.no_padding()
        pieces.enable_truncation(max_length=int(value["longest"]))
        return cls(value["rules"], int(value["longest"]), pieces)
