"""How much of a corpus HEM and SMALR read as latent tokens, by the number of words with a vector of their own.

    python benchmarks/latent_shares.py --data DIR --out docs/results/smalr-f8k7/shares
    python benchmarks/latent_shares.py --corpus emoji --out docs/results/smalr-emoji/shares

Words are counted as they occur, a word that stands there twice twice: of the training captions, and of the test split,
where those that no training caption has are lost. Nothing is trained.
DIR holds f8k7/.
"""

import argparse
from collections import Counter
from collections.abc import Collection, Mapping
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
    "keep a vector of their own (`own_words`): HEM and SMALR read them as latent tokens. Below, the same of the words "
    "in the captions of the test split, and those that no training caption has, which are lost. [What it says]({})."
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
        (2000, 600, 100),
        ("en", "de", "fr", "cs", "zh", "ja", "ar", "af", "ko", "ru"),
        TextSettings(minimum_count=1, maximum_length=12),
    ),
}


def share(counts: Counter[str], rare: Collection[str]) -> float:
    """Percent of all occurrences that are of these words.

    >>> share(Counter("aaaabbbccd"), {"c", "d", "e"})
    30.0
    """
    return 100 * sum(counts[word] for word in rare) / counts.total()


def measure(name: str, data: Path | None) -> list[dict[str, Any]]:
    counted = CORPORA[name]
    captions = corpus.load(name, data)
    counts = {}
    for split in ("train", "test"):
        part = captions.split(split)
        counts[split] = count_words(part.texts, part.languages.tolist(), counted.text)
    known = {code: frequent(counts["train"][code], 1) for code in counted.languages}

    def row(named: str, split: str, words: Mapping[str, Collection[str]]) -> dict[str, Any]:
        found = {code: share(counts[split][code], words[code]) for code in counted.languages}
        cells = {code: {"values": [value], "mean": value, "deviation": None} for code, value in found.items()}
        return {"name": named, "columns": cells}

    rare = {own_words: {code: words[own_words:] for code, words in known.items()} for own_words in counted.own_words}
    lost = {code: counts["test"][code].keys() - set(words) for code, words in known.items()}
    return [
        *(row(f"{own_words:,} own words", "train", words) for own_words, words in rare.items()),
        *(row(f"{own_words:,} own words, test split", "test", words) for own_words, words in rare.items()),
        row("lost, test split", "test", lost),
    ]


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
