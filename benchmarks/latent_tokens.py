"""Which words share latent tokens on F8K-7, by the number of tokens: words per token, and how often they translate.

    python benchmarks/latent_tokens.py --data DIR --out docs/results/smalr-f8k7/tokens

Tokens are learned before LA, HEM or SMALR are trained, from captions alone: no picture is looked at. On two cores it
takes about four minutes for a row and seed. What was learned is kept in the cache folder, so that a second call goes on
from there.
DIR holds f8k7/, flickr8k/ and dictionaries/.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from groundling import systems
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.evaluation.latent_tokens import TokenQuality, read_dictionaries, token_quality
from groundling.evaluation.significance import mean_interval
from groundling.experiments.entry_data import entry_dataset
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.recipes import read_table
from groundling.report.formatted_table import Column, Table
from groundling.settings import check
from groundling.training.facts import commit, device_name
from groundling.training.planned import context_of
from measured_page import measured_page, write_measured

TITLE = "Which words share latent tokens, F8K-7"
ROWS: dict[str, dict[str, Any]] = {
    f"{tokens:,} tokens{more}": {"latent": {"tokens": tokens, **latent}}
    for more, latent in (("", {}), (", no exploration", {"exploration": 0.0}))
    for tokens in (250, 1000, 4000)
}
DICTIONARIES = "dictionaries/{base}-{language}.dict.gz"
ABOUT = (
    "Each word of seven languages is one latent token, learned from the captions (LA). Pairs: an English word that the "
    "MUSE dictionary knows and a word of another language. Translations: how many pairs that share a token the "
    "dictionary lists; in one token: how many of the pairs that it lists share one; in percent, mean of six "
    "languages, beside what words dealt out at random over the same tokens would give. Rare: words beyond the 100 most "
    "frequent of each language, which HEM with `own_words: 100` reads as tokens. Mean ± deviation over seeds. "
    "[What it says](../smalr-f8k7.md#what-was-seen)."
)


def entry_of(seed: int) -> TableEntry:
    """LA of the table, whose corpus, text and word vectors these are."""
    table = check(TableSettings, read_table("smalr-f8k7/table"), "smalr-f8k7/table")
    return next(entry for entry in table_entries(table, [seed]) if entry.row == "LA")


def quality(entry: TableEntry, system: Mapping[str, Any], data: Path, device: torch.device) -> TokenQuality:
    """Of the words that a system reads as latent tokens, which are learned here if they are not in the cache."""
    recipe = entry.recipe.model_copy(update={"system": dict(system)})
    context = context_of(recipe, entry_dataset(entry, data).split("train"), device)
    read = systems.make(recipe.system).tokeniser(context)
    assert isinstance(read, LanguageTokeniser)
    return token_quality(read.latent, read_dictionaries(DICTIONARIES, "en", read.latent, data), "en")


def columns_of(every: TokenQuality, rare: TokenQuality) -> dict[str, float]:
    found = {"words per token": every.words_per_token, "largest": float(every.largest), "shared": every.shared}
    for name, each in (("", every), ("rare ", rare)):
        shares = each.languages.values()
        for column in ("right", "right_by_chance", "together", "together_by_chance"):
            known = [share for one in shares if (share := getattr(one, column)) is not None]
            found[name + column] = sum(known) / len(known)
    for code, one in every.languages.items():
        found |= {f"{code} right": one.right or 0.0, f"{code} together": one.together or 0.0}
    return found


SHOWN = {
    "words per token": Column("words per token"),
    "largest": Column("words of the largest"),
    "shared": Column("tokens of several languages, %"),
    "right": Column("translations among pairs in a token, %"),
    "right_by_chance": Column("by chance"),
    "together": Column("pairs of the dictionary in one token, %"),
    "together_by_chance": Column("by chance"),
    "rare right": Column("rare: translations, %"),
    "rare together": Column("rare: in one token, %"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="name of page and JSON, without an ending")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--device", type=torch.device, default="cpu")
    options = parser.parse_args()
    device, rows = options.device, []
    for name in options.rows:
        seeds = []
        for seed in options.seeds:
            entry, own = entry_of(seed), ROWS[name]
            every = quality(entry, {"name": "la", **own}, options.data, device)
            rare = quality(entry, {"name": "hem", "own_words": 100, **own}, options.data, device)
            seeds.append(columns_of(every, rare))
            print(f"{name}, seed {seed}: {every.words_per_token:.1f} words per token", flush=True)
        columns = {}
        for column in seeds[0]:
            values = [found[column] for found in seeds]
            mean, deviation, _ = mean_interval(values)
            columns[column] = {"values": values, "mean": mean, "deviation": deviation}
        rows.append({"name": name, "columns": columns})
    made: dict[str, str | int] = {
        "command": "python benchmarks/latent_tokens.py --data DIR --out docs/results/smalr-f8k7/tokens",
        "commit": str(commit()),
        "device": device_name(device),
        "seeds": ", ".join(map(str, options.seeds)),
    }
    write_measured(options.out, TITLE, rows, made, page(rows, made))


def page(rows: list[dict[str, Any]], made: Mapping[str, str | int]) -> str:
    cells = [[row["name"], *(shown(row["columns"][name]) for name in SHOWN)] for row in rows]
    return measured_page(TITLE, ABOUT, Table("", [Column("", text=True), *SHOWN.values()], cells), made)


def shown(found: Mapping[str, Any]) -> str:
    spread = "" if found["deviation"] is None else f" ± {found['deviation']:.1f}"
    return f"{found['mean']:,.1f}{spread}" if found["mean"] >= 0.05 else f"{found['mean']:.2f}{spread}"


if __name__ == "__main__":
    main()
