"""A language added from sentence pairs alone: French and Czech for a model of F8K-7 that reads five other languages.

    python benchmarks/teaching_f8k7.py --data DIR --runs RUNS --out docs/results/teach-f8k7/table [--jobs 3]

DIR holds f8k7/, flickr8k/ and multi30k/. For each seed `groundling train f8k7/lessons` makes a teacher without French
and Czech; `groundling teach` adds each of them from English captions and their translations (`f8k7-translations`,
train), all of them or some that are drawn once. The test are the 929 test photos with their French or Czech captions.
Written are OUT.json, whose numbers pages name, and OUT.md. What is in RUNS is not done again.
"""

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from groundling.corpus.catalogue import load
from groundling.evaluation.significance import mean_interval
from groundling.files import write_json, write_text
from groundling.report.formatted_table import Column, Table
from groundling.run import Run
from measured_page import measured_page, write_measured

KNOWN = "[en,de,zh,ar,pt]"
SIZES = {"fr": (500, 1000, 2000, 5527), "cs": (5527,)}
NAMES = {"fr": "French", "cs": "Czech"}
SCORES = {"mR": "mR", "text → image R@10": "text_to_image.R@10"}


def command(*words: object) -> str:
    """What a groundling command prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "groundling", *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
    )
    return ended.stdout


def write_pairs(data: Path, runs: Path) -> None:
    """A file for each language and size: English captions of training photos, and the same in the new language."""
    corpus = load("f8k7-translations", data)
    for language, sizes in SIZES.items():
        texts: dict[str, dict[int, str]] = {"en": {}, language: {}}
        for owner, code, text in zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.texts, strict=True):
            if code in texts and corpus.splits[owner] == "train":
                texts[code][owner] = " ".join(text.split())
        both = sorted(texts["en"].keys() & texts[language].keys())
        random.Random(0).shuffle(both)
        for size in sizes:
            lines = [f"{texts['en'][owner]}\t{texts[language][owner]}" for owner in both[:size]]
            write_text(runs / f"{language}-{size}.tsv", "\n".join([f"en\t{language}", *lines]) + "\n")


def one_seed(seed: int, runs: Path, common: Sequence[object], recipe: str, settings: list[str], steps: int) -> None:
    """A teacher and its students, one after the other."""
    teacher = runs / f"five-{seed}"
    if not Run(teacher).finished:
        told = [f"corpus.languages={KNOWN}", f"training.seed={seed}", *settings]
        go_on = ["--resume"] if teacher.exists() else []
        changes = [part for change in told for part in ("--set", change)]
        command("train", recipe, *changes, *go_on, "--out", teacher, *common)
    for language, sizes in SIZES.items():
        for size in sizes:
            student = runs / f"five-{seed}+{language}-{size}"
            if student.with_suffix(".json").exists():
                continue
            go_on = ["--resume"] if student.exists() else []
            given = [
                "--language",
                language,
                "--pairs",
                runs / f"{language}-{size}.tsv",
                "--steps",
                steps,
                "--seed",
                seed,
            ]
            text = command("teach", teacher, *given, "--test", "f8k7", "--out", student, *go_on, "--json", *common)
            write_json(student.with_suffix(".json"), json.loads(text))
            print(f"seed {seed}: {NAMES[language]} from {size:,} pairs", flush=True)


def cell(values: list[float]) -> dict[str, Any]:
    mean, deviation = mean_interval(values)[:2]
    return {"values": values, "mean": mean, "deviation": deviation}


def collect(runs: Path, seeds: list[int]) -> list[dict[str, Any]]:
    """A row for each language and size, of the seeds that are there."""
    rows = []
    for language, sizes in SIZES.items():
        for size in sizes:
            files = [runs / f"five-{seed}+{language}-{size}.json" for seed in seeds]
            found = [json.loads(file.read_text()) for file in files if file.exists()]
            if not found:
                continue
            numbers = {"learned from": [float(one["pairs"]["train"]) for one in found]}
            for name, metric in SCORES.items():
                for when in ("before", "after"):
                    numbers[f"{name} {when}"] = [_score(one[when]["test"], metric) for one in found]
            columns = {name: cell(values) for name, values in numbers.items()}
            unchanged = all(one["old_languages_unchanged"] for one in found)
            rows.append(
                {"name": f"{NAMES[language]}, {size:,} pairs", "columns": columns, "old_languages_unchanged": unchanged}
            )
    return rows


def _score(test: dict[str, Any], metric: str) -> float:
    found: Any = test
    for part in metric.split("."):
        found = found[part]
    return float(found)


def shown(name: str, found: dict[str, Any]) -> str:
    if name == "learned from":
        return f"{found['mean']:,.0f}"
    return f"{found['mean']:.1f}" + ("" if found["deviation"] is None else f" ± {found['deviation']:.1f}")


def page(rows: list[dict[str, Any]], made: dict[str, str | int]) -> str:
    names = list(rows[0]["columns"])
    cells = [[row["name"], *(shown(name, row["columns"][name]) for name in names)] for row in rows]
    table = Table("", [Column("pairs given", text=True), *(Column(name) for name in names)], cells)
    about = (
        "Of the pairs given a tenth stops the training in time and a tenth is held out. "
        "Mean ± deviation over seeds of teacher and student. [What it says](../teach-f8k7.md)."
    )
    return measured_page("French and Czech from sentence pairs alone, F8K-7", about, table, made)


def how_it_was_made(runs: Path, seeds: list[int], recipe: str) -> dict[str, str | int]:
    facts = [Run(runs / f"five-{seed}").facts() for seed in seeds]
    return {
        "command": f"python benchmarks/teaching_f8k7.py --data DIR --runs RUNS --recipe {recipe}",
        "commit": ", ".join(sorted({str(one.commit) for one in facts})),
        "device": ", ".join(sorted({one.device for one in facts})),
        "seeds": ", ".join(map(str, seeds)),
        "steps of the teachers": sum(one.steps for one in facts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="where runs go")
    parser.add_argument("--out", type=Path, help="name of page and JSON, without an ending; none: nothing is written")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="seeds at the same time")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--recipe", default="f8k7/lessons", help="of the teacher")
    parser.add_argument("--set", action="append", default=[], help="a setting of the teacher, training.length_pool=1")
    parser.add_argument("--steps", type=int, default=3000, help="of a student, at most")
    parser.add_argument("--only-collect", action="store_true", help="train nothing: write what is in RUNS")
    options = parser.parse_args()
    if not options.only_collect:
        options.runs.mkdir(parents=True, exist_ok=True)
        write_pairs(options.data, options.runs)
        common = ["--data", options.data, "--device", options.device]
        with ThreadPoolExecutor(options.jobs) as pool:
            rest = options.runs, common, options.recipe, options.set, options.steps
            list(pool.map(lambda seed: one_seed(seed, *rest), options.seeds))
    if options.out is None:
        return
    seeds = [seed for seed in options.seeds if Run(options.runs / f"five-{seed}").finished]
    rows = collect(options.runs, seeds)
    if not rows:
        sys.exit(f"{options.runs}: no language has been taught here yet")
    made = how_it_was_made(options.runs, seeds, options.recipe)
    write_measured(options.out, "Languages from sentence pairs", rows, made, page(rows, made))


if __name__ == "__main__":
    main()
