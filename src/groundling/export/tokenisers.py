"""Tokenisers from the JSON they are saved as, found by its `kind`: an exported model has no system to ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.encoders.tokenisers.use import UseTokeniser
from groundling.encoders.tokenisers.vectors import VectorTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.text import Tokeniser, Tokens
from groundling.text.tokens import pad


@dataclass(frozen=True)
class PieceTokeniser:
    """The word pieces of a pretrained encoder, by its own rules as data (`tokenizers`, which comes with the extra
    `hub`): the encoder's folder is not needed any more.

    Attributes:
        pieces: a `tokenizers.Tokenizer` that cuts at `longest`.
    """

    rules: str
    longest: int
    pieces: Any

    @property
    def size(self) -> int:
        return int(self.pieces.get_vocab_size())

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        return pad([line.ids for line in self.pieces.encode_batch(list(texts))])

    def to_json(self) -> dict[str, Any]:
        return {"kind": "pieces", "longest": self.longest, "rules": self.rules}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "PieceTokeniser":
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
        return PieceTokeniser(value["rules"], int(value["longest"]), pieces)


KINDS: dict[str, Callable[[dict[str, Any]], Tokeniser]] = {
    "words": WordTokeniser.from_json,
    "ngrams": NgramTokeniser.from_json,
    "characters": CharacterTokeniser.from_json,
    "languages": LanguageTokeniser.from_json,
    "vectors": VectorTokeniser.from_json,
    "use": UseTokeniser.from_json,
    "pieces": PieceTokeniser.from_json,
}


def exportable(tokeniser: Tokeniser) -> dict[str, Any]:
    """What is written for a model's tokeniser: all that it knows, and nothing that lies elsewhere."""
    if isinstance(tokeniser, HubTokeniser):
        rules = getattr(tokeniser.pieces, "backend_tokenizer", None)
        if rules is None:
            raise UserError(f"{tokeniser.encoder}: its tokeniser is code, not data, so that it cannot be exported")
        longest = min(tokeniser.settings.maximum_length + 2, tokeniser.pieces.model_max_length)
        return {"kind": "pieces", "longest": longest, "rules": rules.to_str()}
    saved = tokeniser.to_json()
    if saved.get("kind") not in KINDS:
        raise UserError(f'a tokeniser of kind "{saved.get("kind")}" cannot be exported yet')
    return saved


def from_json(value: Any, where: str) -> Tokeniser:
    try:
        return KINDS[value["kind"]](value)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(f"{where}: not a tokeniser that this groundling knows; export the model again") from None
