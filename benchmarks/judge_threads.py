"""One judge of scenes trained on one thread and on two: the same recipe, seed and code, and what each is right in.

    python benchmarks/judge_threads.py --code CHECKOUT --threads 1 1 2 --out docs/results/scenes/threads

CHECKOUT is a clone of this repository at the commit whose code is to train (without it: the code that is installed).
Each training is a process of its own that is told its threads by OMP_NUM_THREADS; with --jobs 2 two of them run side by
side, which changes their seconds and nothing else.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from groundling.files import read_json
from groundling.report.formatted_table import Column, Table
from groundling.training.facts import commit
from measured_page import measured_page, write_measured

TITLE = "Scenes: one judge, trained on one thread and on two"
ABOUT = (
    "`groundling train scenes/clip-ve` with seed 0, English, on processor cores: accuracy on the test statements, the "
    "step that was best on dev, and the first digits of the SHA-256 of the weights that were kept. Two threads add up "
    "in another order than one. [What it says](../scenes.md#the-same-settings-twice)."
)
GROUNDLING = (sys.executable, "-m", "groundling")


def train(threads: int, code: Path, folder: Path) -> dict[str, Any]:
    """What one judge is right in, trained and asked by the code in `code`."""
    environment = {**os.environ, "PYTHONPATH": str(code / "src"), "OMP_NUM_THREADS": str(threads)}
    for arguments in (("train", "scenes/clip-ve", "--out", str(folder)), ("evaluate", str(folder))):
        command = [*GROUNDLING, *arguments, "--device", "cpu"]
        subprocess.run(command, env=environment, cwd=folder.parent, check=True, stdout=subprocess.DEVNULL)
    accuracy = read_json(folder / "evaluation.json")["overall"]["accuracy"]
    facts = read_json(folder / "run.json")
    return {
        "name": f"{threads} thread{'s' * (threads > 1)}",
        "columns": {"accuracy": {"values": [accuracy], "mean": accuracy, "deviation": None}},
        "best step": facts["best_step"],
        "trained at": facts["commit"],
        "trained on": facts["device"],
        "weights": hashlib.sha256((folder / "best.safetensors").read_bytes()).hexdigest(),
    }


def numbered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one name are told apart: "1 thread", "1 thread, again"."""
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row["name"]] += 1
        if seen[row["name"]] > 1:
            row["name"] += ", again" + f" ({seen[row['name']]})" * (seen[row["name"]] > 2)
    return rows


def page(rows: list[dict[str, Any]], made: Mapping[str, str | int]) -> str:
    columns = [Column("", text=True), Column("accuracy"), Column("best step"), Column("weights", text=True)]
    cells = [
        [row["name"], f"{row['columns']['accuracy']['mean']:.1f}", f"{row['best step']:,}", row["weights"][:12]]
        for row in rows
    ]
    return measured_page(TITLE, ABOUT, Table("", columns, cells), made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--code", type=Path, help="a checkout whose code trains")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="trainings at the same time")
    parser.add_argument("--out", type=Path, required=True, help="name of page and JSON, without an ending")
    options = parser.parse_args()
    code = (options.code or Path(__file__).parents[1]).resolve()
    with TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(train, n, code, Path(folder) / str(i)) for i, n in enumerate(options.threads)]
        rows = numbered([run.result() for run in runs])
    threads = " ".join(map(str, options.threads))
    made: dict[str, str | int] = {
        "command": f"python benchmarks/judge_threads.py --threads {threads} --out OUT"
        + " --code CHECKOUT" * bool(options.code),
        "commit": str(commit()),
        "trained at": ", ".join(sorted({row["trained at"] for row in rows})),
        "device": "; ".join(dict.fromkeys(row["trained on"] for row in rows)),
    }
    write_measured(options.out, TITLE, rows, made, page(rows, made))


if __name__ == "__main__":
    main()
