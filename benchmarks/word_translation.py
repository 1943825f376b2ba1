"""Words of English mapped to six languages, with vectors trained on the captions of F8K-7 alone.

    python benchmarks/word_translation.py --data DIR --out docs/results/alignment/table

DIR holds f8k7/ and dictionaries/. Vectors are trained by `groundling words train`; maps are learned and tested by
`groundling align`, by Procrustes and by RCSLS, each with vectors as they are and with the mean of each language taken
off (`--centre`). Written are OUT.json, whose numbers pages name, and OUT.md.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from groundling.report.formatted_table import Column, Table
from groundling.training.facts import commit, device_name
from measured_page import measured_page, write_measured

TITLE = "English words mapped to six languages"
LANGUAGES = {"de": "German", "fr": "French", "cs": "Czech", "pt": "Portuguese", "ar": "Arabic", "zh": "Chinese"}
WAYS = [(method, centred) for centred in (False, True) for method in ("procrustes", "rcsls")]
SCORES = {"cosine": "nn", "CSLS": "csls"}
PLACES = ("1", "5", "10")


def command(*words: object) -> str:
    """What a groundling command prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "groundling", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
    )
    return ended.stdout


def vectors(data: Path, folder: Path, language: str) -> Path:
    """The word vectors of a language; Chinese is cut into words, not characters, as its dictionary is."""
    path = folder / f"{language}.safetensors"
    cut = ["--segmentation", "dictionary"] if language == "zh" else []
    command("words", "train", "f8k7", "--language", language, *cut, "--data", data, "--out", path)
    return path


def measure(data: Path, folder: Path) -> list[dict[str, Any]]:
    """A row for each language and way to learn the map."""
    english = vectors(data, folder, "en")
    rows = []
    for language, name in LANGUAGES.items():
        other, dictionary = vectors(data, folder, language), data / "dictionaries" / f"en-{language}.dict.gz"
        for method, centred in WAYS:
            how = ["--method", method, *(["--centre"] if centred else []), "--device", "cpu", "--json"]
            found = json.loads(command("align", english, other, "--dictionary", dictionary, *how))
            numbers = {
                f"{score} P@{place}": 100 * found["precision"][key][place]
                for score, key in SCORES.items()
                for place in PLACES
            }
            numbers |= {
                "pairs learned": found["coverage"]["train"]["pairs"],
                "words tested": found["coverage"]["tested"]["source_words"],
                "words of the language": found["words"]["target"],
            }
            cells = {column: {"values": [number], "mean": number} for column, number in numbers.items()}
            rows.append({"name": f"{name}, {method}{', centred' if centred else ''}", "columns": cells})
            print(rows[-1]["name"], numbers, flush=True)
    return rows


def page(rows: list[dict[str, Any]], made: dict[str, str | int]) -> str:
    counts = ("pairs learned", "words tested", "words of the language")
    names = [name for name in rows[0]["columns"] if name not in counts]
    columns = [Column("English to", text=True), *(Column(name) for name in names), *(Column(name) for name in counts)]
    table = Table(
        "",
        columns,
        [
            [row["name"], *(row["columns"][name]["mean"] for name in names)]
            + [f"{row['columns'][name]['mean']:,}" for name in counts]
            for row in rows
        ],
    )
    about = (
        "Percent of test words for which a right translation is the nearest word of the other language (P@1), or among "
        "the 5 or 10 nearest. [What it says](../alignment.md)."
    )
    return measured_page(TITLE, about, table, made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="name of page and JSON, without an ending")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options.data, Path(folder))
    made: dict[str, str | int] = {
        "command": "python benchmarks/word_translation.py --data DIR --out docs/results/alignment/table",
        "seeds": "0",
        "commit": str(commit()),
        "device": device_name(torch.device("cpu")),
        "seconds": round(time.monotonic() - started),
    }
    write_measured(options.out, TITLE, rows, made, page(rows, made))


if __name__ == "__main__":
    main()
