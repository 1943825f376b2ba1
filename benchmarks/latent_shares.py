"""How much of a corpus HEM and SMALR read as latent tokens, by the number of words with a vector of their own.

    python benchmarks/latent_shares.py --data DIR --out docs/results/smalr-f8k7/shares
    python benchmarks/latent_shares.py --corpus emoji --out docs/results/smalr-emoji/shares

Words of the training captions are counted as they occur, a word that stands there twice twice. Nothing is trained.
DIR holds f8k7/.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from groundling import corpus
from groundling.encoders.tokenisers.by_language import count_words, frequent
from groundling.report.formatted_table import Column, Table
from groundling.settings import TextSettings
from groundling.training.facts import commit, device_name
from measured_page import measured_page, write_measured

ABOUT = (
    "Percent of the words in the training captions that are not among the most frequent ones of their language, which "
    "keep a vector of their own (`own_words`): HEM and SMALR read them as latent tokens. [What it says]({})."
)


@dataclass(frozen=True)
class Counted:
    """The captions of one corpus, as its tables read them."""

    title: str
    says: str
    own_words: tuple[int, ...]  # of the tables of SMALR and of few own words
    languages: tuple[str, ...]
    text: TextSettings


CORPORA = {
    "f8k7": Counted(
        "How much of the captions latent tokens read, F8K-7",
        "../smalr-f8k7.md#claim-by-claim",
        (2000, 500, 100),
        ("en", "de", "fr", "cs", "zh", "ar", "pt"),
        TextSettings(minimum_count=1),
    ),
    "emoji": Counted(
        "How much of the captions latent tokens read, emoji",
        "../smalr-emoji.md",
        (600, 100),
        ("en", "de", "fr", "cs", "zh", "ja", "ar", "af", "ko", "ru"),
        TextSettings(minimum_count=1, maximum_length=12),
    ),
}


def share(counts: Counter[str], own_words: int) -> float:
    """Percent of all occurrences that are of words beyond the most frequent.

    >>> share(Counter("aaaabbbccd"), 2)
    30.0
    """
    rare = frequent(counts, 1)[own_words:]
    return 100 * sum(counts[word] for word in rare) / counts.total()


def measure(name: str, data: Path | None) -> list[dict[str, Any]]:
    counted = CORPORA[name]
    train = corpus.load(name, data).split("train")
    counts = count_words(train.texts, train.languages.tolist(), counted.text)
    rows = []
    for own_words in counted.own_words:
        found = {code: share(counts[code], own_words) for code in counted.languages}
        cells = {code: {"values": [value], "mean": value, "deviation": None} for code, value in found.items()}
        rows.append({"name": f"{own_words:,} own words", "columns": cells})
    return rows


def page(rows: list[dict[str, Any]], made: Mapping[str, str | int]) -> str:
    counted = CORPORA[str(made.get("corpus", "f8k7"))]
    columns = [Column("", text=True), *(Column(code) for code in counted.languages)]
    cells = [[row["name"], *(f"{row['columns'][code]['mean']:.1f}" for code in counted.languages)] for row in rows]
    return measured_page(counted.title, ABOUT.format(counted.says), Table("", columns, cells), made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=CORPORA, default="f8k7")
    parser.add_argument("--data", type=Path, help="folder of published data sets")
    parser.add_argument("--out", type=Path, required=True, help="name of page and JSON, without an ending")
    options = parser.parse_args()
    rows = measure(options.corpus, options.data)
    named = "--data DIR" if options.corpus == "f8k7" else f"--corpus {options.corpus}"
    made: dict[str, str | int] = {
        "command": f"python benchmarks/latent_shares.py {named} --out OUT",
        "corpus": options.corpus,
        "commit": str(commit()),
        "device": device_name(torch.device("cpu")),
    }
    write_measured(options.out, CORPORA[options.corpus].title, rows, made, page(rows, made))


if __name__ == "__main__":
    main()
