"""The column "#Params (Reduct.)" of Wehrmann et al. 2019, supplement, Table 1: our systems at the paper's sizes.

Nothing is trained: the encoders are made, with an alphabet of 101 symbols or a vocabulary of 30,000 words, and counted.
"""

from typing import Any

import torch

from groundling import systems
from groundling.encoders.tokenisers.characters import SPECIAL as SPECIAL_CHARACTERS
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.evaluation.parameters import WORD_DIMENSIONS, count, totals
from groundling.settings import TextSettings
from groundling.text import Tokeniser
from groundling.text.vocabulary import SPECIAL, Vocabulary

ALPHABET, VOCABULARY, FEATURES = 101, 30_000, 2048
WORD_TABLE = VOCABULARY * WORD_DIMENSIONS

#: The rows of the table: our settings, then millions and reduction as printed.
PUBLISHED: list[tuple[str, dict[str, Any], float, float]] = [
    ("BERT+GRU (12 layers)", {"name": "bert_gru"}, 110.0, 0.08),
    ("CLMR-GRU", {"name": "clmr"}, 9.0, 1),
    ("LIWE-GRU (charGRU)", {"name": "liwe", "words": "charGRU"}, 0.3, 30),
    ("LIWE-GRU (128, 256)", {"name": "liwe", "layers": [128, 256]}, 0.2, 46),
    ("LIWE-GRU (128, 384)", {"name": "liwe", "layers": [128, 384]}, 0.2, 36),
    ("LIWE-GRU (256, 256)", {"name": "liwe", "layers": [256, 256]}, 0.3, 29),
    ("LIWE-GRU (128, 512)", {"name": "liwe", "layers": [128, 512]}, 0.3, 29),
    ("LIWE-GRU (384, 384)", {"name": "liwe", "layers": [384, 384]}, 0.5, 18),
    ("LIWE-GRU (512, 512)", {"name": "liwe", "layers": [512, 512]}, 0.7, 12),
    ("LIWE-GRU (1024, 512)", {"name": "liwe", "layers": [1024, 512]}, 1.3, 7),
]

NOTES = (
    "Counted is what makes the vectors of words; the sentence GRU and the pictures come on top of it in every row.",
    "The paper counts everything: the character table (101 × 24) and, in each layer up to the one of 300 dimensions, "
    "weights, biases, weight-norm gains, and scale and shift of the batch normalisation. Without the biases, or the "
    "gains, or the normalisation of any one layer, (128, 512), which is 29.49× with all of them, would print 30×. Ours "
    "have no biases: the normalisation takes them away again.",
    "The printed factors are 9,000,000 over exact counts, not over the printed millions (9.0 / 0.2 is 45). Any "
    "alphabet of 97 to 234 symbols would print the same.",
    "The attention block of 585,001 parameters in the released code, which is never called, is not in the printed "
    "numbers, nor here.",
    "BERT's 110.0M is the size its authors give in round numbers: the English base model has 109.5M, 108.9M without "
    "the layer for its first symbol, which nothing reads here; the multilingual one has 177.3M.",
)


def liwe_table() -> list[dict[str, Any]]:
    """Of each row the count of what makes word vectors and the reduction, both also with the biases that the paper has
    and ours have not, and as published."""
    rows = []
    for name, settings, millions, reduction in PUBLISHED:
        ours = bert_parameters() if settings["name"] == "bert_gru" else word_parameters(settings)
        as_counted = None if ours is None else ours + idle_biases(settings)
        rows.append(
            {
                "name": name,
                "parameters": ours,
                "reduction": None if ours is None else WORD_TABLE / ours,
                "parameters_with_biases": as_counted,
                "reduction_with_biases": None if as_counted is None else WORD_TABLE / as_counted,
                "published_millions": millions,
                "published_reduction": reduction,
            }
        )
    return rows


def word_parameters(settings: dict[str, Any], alphabet: int = ALPHABET, vocabulary: int = VOCABULARY) -> int:
    """Parameters of a system's word vectors for tables of these sizes, special symbols included."""
    system = systems.make(settings)
    tokeniser: Tokeniser
    if settings["name"] == "liwe":
        letters = tuple(chr(0x4E00 + number) for number in range(alphabet - SPECIAL_CHARACTERS))
        tokeniser = CharacterTokeniser(letters, TextSettings())
    else:
        tokeniser = WordTokeniser(Vocabulary(tuple(map(str, range(vocabulary - len(SPECIAL))))), TextSettings())
    encoders = system.encoders(tokeniser, FEATURES)
    tokens = tokeniser.encode(["a"], ["en"])
    entries = torch.from_numpy(tokens.ids)
    if tokens.spellings is not None:
        entries = torch.from_numpy(tokens.spellings)[entries.long()]
    return totals(count(encoders, entries, torch.from_numpy(tokens.lengths), torch.ones(1, FEATURES)))["for_words"]


def idle_biases(settings: dict[str, Any]) -> int:
    """Of the linear maps before a batch normalisation, which takes a bias away again: ours do without (`encoders`)."""
    return sum(settings["layers"]) + WORD_DIMENSIONS if "layers" in settings else 0


def bert_parameters() -> int | None:
    """Of the English base BERT, from its published sizes; None without transformers."""
    try:
        from transformers import BertConfig, BertModel
    except ImportError:
        return None
    with torch.device("meta"):  # shapes only, no numbers
        encoder = BertModel(BertConfig(), add_pooling_layer=False)
    return sum(parameter.numel() for parameter in encoder.parameters())
