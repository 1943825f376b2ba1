"""The word pieces of a pretrained encoder by its rules as data: what an exported model reads with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.cleaning import CLEANINGS, cleaned
from groundling.text.tokens import Tokeniser, Tokens, pad


@dataclass(frozen=True)
class PieceTokeniser(Tokeniser):
    """The encoder's folder is not needed; the package `tokenizers`, which comes with the extra `hub`, is.

    Attributes:
        pieces: a `tokenizers.Tokenizer` that cuts at `longest`.
        prompt: what a text is put into before it is read, at the place of {}.
        small_letters: whether it is read in small letters.
        clean: how it is mended before that (see `text.cleaning`); "": it is not.
    """

    kind: ClassVar[str] = "pieces"
    pretrained: ClassVar[bool] = True
    rules: str
    longest: int
    pieces: Any
    prompt: str = "{}"
    small_letters: bool = False
    clean: str = ""
    settings: TextSettings = field(default=TextSettings(), init=False, compare=False)

    @property
    def size(self) -> int:
        return int(self.pieces.get_vocab_size())

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        read = [self.prompt.replace("{}", text) for text in texts]
        read = [text.lower() for text in read] if self.small_letters else read
        read = [cleaned(text, self.clean) for text in read] if self.clean else read
        return pad([line.ids for line in self.pieces.encode_batch(read)])

    def to_json(self) -> dict[str, object]:
        more: dict[str, Any] = {} if self.prompt == "{}" else {"prompt": self.prompt}
        more |= {"small_letters": True} if self.small_letters else {}
        more |= {"clean": self.clean} if self.clean else {}
        return {"kind": self.kind, "longest": self.longest, "rules": self.rules, **more}

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
        prompt, small = str(value.get("prompt", "{}")), bool(value.get("small_letters", False))
        clean = str(value.get("clean", ""))
        if clean and clean not in CLEANINGS:
            raise ValueError(f"unknown way to mend texts: {clean}")
        return cls(value["rules"], int(value["longest"]), pieces, prompt, small, clean)
