"""A warm start: a text encoder that goes on where that of another run ended, with the vocabulary of its own texts."""

import torch
from torch import Tensor, nn

from groundling.encoders.tokenisers import characters as letters
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.text import Tokeniser
from groundling.text import vocabulary as words

TABLES = {WordTokeniser: "words.weight", CharacterTokeniser: "words.characters.weight"}


def take_over_text(
    encoder: nn.Module, tokeniser: Tokeniser, trained: nn.Module, trained_tokeniser: Tokeniser, system: str
) -> None:
    """All weights of a trained text encoder, in place; rows of the table of words, or of letters, by what they mean.

    What the other run has not met keeps the row that it has at random. How many `steps` its normalisation has taken
    matters to none but itself.

    Args:
        system: whose encoder the trained one is, for the error where it does not fit.
    """
    fresh = encoder.state_dict()
    saved = {name: value for name, value in trained.state_dict().items() if not name.endswith(".steps")}
    table = TABLES.get(type(tokeniser)) if type(tokeniser) is type(trained_tokeniser) else None
    if table in saved and table in fresh and saved[table].shape[1] == fresh[table].shape[1]:
        saved[table] = _matched(fresh[table], _rows(tokeniser), saved[table], _rows(trained_tokeniser))
    try:
        encoder.load_state_dict(saved)
    except RuntimeError:
        raise UserError(
            f"before: the text encoder of this {system} run is of another kind or size; dimensions, "
            "word_dimensions, text and reading must fit it"
        ) from None


def _matched(fresh: Tensor, wanted: dict[str, int], saved: Tensor, known: dict[str, int]) -> Tensor:
    matched = fresh.clone()
    both = [(row, known[name]) for name, row in wanted.items() if name in known]
    to, source = torch.tensor(both, device=fresh.device).T
    matched[to] = saved.to(fresh.device)[source]
    return matched


def _rows(tokeniser: Tokeniser) -> dict[str, int]:
    """What each row of the table stands for; special symbols by names that no text contains."""
    if isinstance(tokeniser, WordTokeniser):
        return {**tokeniser.vocabulary.rows, **{f"\0{row}": row for row in range(len(words.SPECIAL))}}
    assert isinstance(tokeniser, CharacterTokeniser)  # noqa: S101 (for the type checker: the only others)
    return {**tokeniser.rows, **{f"\0{row}": row for row in range(letters.SPECIAL)}}
