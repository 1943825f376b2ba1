"""What cuts captions into the numbers that text encoders read, found again by the `kind` of its JSON. No torch here."""

from typing import Any

from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.encoders.tokenisers.pieces import PieceTokeniser
from groundling.encoders.tokenisers.side import SideTokeniser
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.encoders.tokenisers.use import UseTokeniser
from groundling.encoders.tokenisers.use_ngrams import UseNgramTokeniser
from groundling.encoders.tokenisers.vectors import VectorTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.text.tokens import Tokeniser

OURS: dict[str, type[Tokeniser]] = {
    tokeniser.kind: tokeniser
    for tokeniser in (
        WordTokeniser,
        NgramTokeniser,
        CharacterTokeniser,
        LanguageTokeniser,
        VectorTokeniser,
        HubTokeniser,
        PieceTokeniser,
        SideTokeniser,
        UseTokeniser,
        UseNgramTokeniser,
        TaughtTokeniser,
    )
}


def from_json(value: dict[str, Any]) -> Tokeniser:
    """A tokeniser from what its `to_json` or `exported` gave. ValueError where it is of a kind that nobody knows."""
    return _of_kind(value["kind"]).from_json(value)


def _of_kind(kind: str) -> type[Tokeniser]:
    if kind in OURS:
        return OURS[kind]
    from groundling.encoders.text import TEXT_ENCODERS  # a plug-in's, which may need torch

    for encoder in TEXT_ENCODERS.values():
        if encoder.tokeniser_class.kind == kind:
            return encoder.tokeniser_class
    raise ValueError(f"no text encoder reads with a tokeniser of kind {kind!r}")


__all__ = ["OURS", "PieceTokeniser", "from_json"]
