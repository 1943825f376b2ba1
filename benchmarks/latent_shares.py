"""How much of F8K-7's captions HEM and SMALR read as latent tokens, by the number of words with a vector of their own.

    python benchmarks/latent_shares.py --data DIR --out docs/results/smalr-f8k7/shares

Words of the training captions are counted as they occur, a word that stands there twice twice. Nothing is trained.
DIR holds f8k7/.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from groundling import corpus
from groundling.encoders.tokenisers.by_language import count_words, frequent
from groundling.report.formatted_table import Column, Table
from groundling.settings import TextSettings
from groundling.training.facts import commit, device_name
from measured_page import measured_page, write_measured

TITLE = "How much of the captions latent tokens read, F8K-7"
OWN_WORDS = (2000, 500, 100)  # of smalr-f8k7/table and smalr-f8k7/latent
LANGUAGES = ("en", "de", "fr", "cs", "zh", "ar", "pt")
ABOUT = (
    "Percent of the words in the training captions that are not among the most frequent ones of their language, which "
    "keep a vector of their own (`own_words`): HEM and SMALR read them as latent tokens. "
    "[What it says](../smalr-f8k7.md#claim-by-claim)."
)


def share(counts: Counter[str], own_words: int) -> float:
    """Percent of all occurrences that are of words beyond the most frequent.

    >>> share(Counter("aaaabbbccd"), 2)
    30.0
    """
    rare = frequent(counts, 1)[own_words:]
    return 100 * sum(counts[word] for word in rare) / counts.total()


def measure(data: Path) -> list[dict[str, Any]]:
    train = corpus.load("f8k7", data).split("train")
    counts = count_words(train.texts, train.languages.tolist(), TextSettings(minimum_count=1))
    rows = []
    for own_words in OWN_WORDS:
        found = {code: share(counts[code], own_words) for code in LANGUAGES}
        cells = {code: {"values": [value], "mean": value, "deviation": None} for code, value in found.items()}
        rows.append({"name": f"{own_words:,} own words", "columns": cells})
    return rows


def page(rows: list[dict[str, Any]], made: Mapping[str, str | int]) -> str:
    columns = [Column("", text=True), *(Column(code) for code in LANGUAGES)]
    cells = [[row["name"], *(f"{row['columns'][code]['mean']:.1f}" for code in LANGUAGES)] for row in rows]
    return measured_page(TITLE, ABOUT, Table("", columns, cells), made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="name of page and JSON, without an ending")
    options = parser.parse_args()
    rows = measure(options.data)
    made: dict[str, str | int] = {
        "command": "python benchmarks/latent_shares.py --data DIR --out docs/results/smalr-f8k7/shares",
        "commit": str(commit()),
        "device": device_name(torch.device("cpu")),
    }
    write_measured(options.out, TITLE, rows, made, page(rows, made))


if __name__ == "__main__":
    main()
