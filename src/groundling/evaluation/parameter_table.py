"""The parameters of our systems at a paper's sizes, beside the ones that it prints.

Nothing is trained: the encoders are made, with an alphabet or a vocabulary of the paper's size, and counted.
"""

from dataclasses import dataclass
from typing import Any

import torch

from groundling import hub, systems
from groundling.encoders.tokenisers.characters import SPECIAL as SPECIAL_CHARACTERS
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.evaluation.parameters import WORD_DIMENSIONS, count, totals
from groundling.recipes import PUBLISHED
from groundling.settings import Settings, TextSettings, check, read_yaml
from groundling.text import Tokeniser
from groundling.text.vocabulary import SPECIAL, Vocabulary


class PublishedRow(Settings):
    """A row of the paper: settings of our system, then millions and reduction as printed."""

    name: str
    system: dict[str, Any]
    millions: float
    reduction: float


class PublishedTable(Settings):
    title: str
    alphabet: int
    vocabulary: int
    features: int
    rows: list[PublishedRow]
    notes: list[str]


@dataclass(frozen=True)
class CountedRow:
    """What makes word vectors, counted, and how many times smaller it is than a table of words; both also with the
    biases that the paper has and ours have not, and as published. None: not known without transformers."""

    name: str
    parameters: int | None
    reduction: float | None
    parameters_with_biases: int | None
    reduction_with_biases: float | None
    published_millions: float
    published_reduction: float


def published_parameters(name: str = "liwe-parameters") -> PublishedTable:
    path = PUBLISHED / f"{name}.yaml"
    return check(PublishedTable, read_yaml(path), path.name)


def count_rows(table: PublishedTable) -> list[CountedRow]:
    word_table = table.vocabulary * WORD_DIMENSIONS
    rows = []
    for row in table.rows:
        ours = bert_parameters() if row.system["name"] == "bert_gru" else word_parameters(row.system, table)
        with_biases = None if ours is None else ours + idle_biases(row.system)
        reductions = (None if count is None else word_table / count for count in (ours, with_biases))
        plain, full = reductions
        rows.append(CountedRow(row.name, ours, plain, with_biases, full, row.millions, row.reduction))
    return rows


def word_parameters(settings: dict[str, Any], table: PublishedTable) -> int:
    """Parameters of a system's word vectors for tables of the paper's sizes, special symbols included."""
    system = systems.make(settings)
    tokeniser: Tokeniser
    if settings["name"] == "liwe":
        letters = tuple(chr(0x4E00 + number) for number in range(table.alphabet - SPECIAL_CHARACTERS))
        tokeniser = CharacterTokeniser(letters, TextSettings())
    else:
        tokeniser = WordTokeniser(Vocabulary(tuple(map(str, range(table.vocabulary - len(SPECIAL))))), TextSettings())
    encoders = system.encoders(tokeniser, table.features)
    tokens = tokeniser.encode(["a"], ["en"])
    entries = torch.from_numpy(tokens.ids)
    if tokens.spellings is not None:
        entries = torch.from_numpy(tokens.spellings)[entries.long()]
    return totals(count(encoders, entries, torch.from_numpy(tokens.lengths), torch.ones(1, table.features))).for_words


def idle_biases(settings: dict[str, Any]) -> int:
    """Of the linear maps before a batch normalisation, which takes a bias away again: ours do without (`encoders`)."""
    return sum(settings["layers"]) + WORD_DIMENSIONS if "layers" in settings else 0


def bert_parameters() -> int | None:
    """Of the English base BERT, from its published sizes; None without transformers."""
    try:
        library = hub.transformers("BERT")
    except UserError:
        return None
    with torch.device("meta"):  # shapes only, no numbers
        encoder = library.BertModel(library.BertConfig(), add_pooling_layer=False)
    return sum(parameter.numel() for parameter in encoder.parameters())
