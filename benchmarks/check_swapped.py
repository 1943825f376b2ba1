"""Does `check` find captions that were swapped? Test photos of F8K-7, half of whose captions belong to another photo.

For each language and each of some draws: 200 test photos with one caption each, of which 100 are handed on to the next
of these photos. Every caption is then asked about as `groundling check` does, by comparison (any retrieval model), and
by a judge of English statements where one is given. Measured: the area under the ROC curve (how often a swapped caption
is before one that is not), and the share of swapped ones among the first tenth of the list.

    python benchmarks/check_swapped.py RUN --data DIR [--judge RUN] [--json check.json] [--page check.md]
"""

import argparse
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from groundling.checking.checker import Checker
from groundling.checking.matcher import MISFIT, Match, Matcher
from groundling.checking.method import Question
from groundling.model import FeatureModel, Model
from groundling.training.facts import commit, device_name

LANGUAGES = ("en", "de", "fr", "cs", "zh", "ar", "pt")
PHOTOS, SWAPPED = 200, 100


@dataclass(frozen=True)
class Draw:
    """Photos, a caption for each, and which of these are of another photo."""

    questions: list[Question]
    looked: dict[str, np.ndarray]
    swapped: np.ndarray
    right: list[str]  # the photo that each caption was written for


class Photos:
    """Test photos of F8K-7 by their features, with all their captions."""

    def __init__(self, data: Path) -> None:
        lines = (data / "flickr8k" / "images.tsv").read_text(encoding="utf-8").splitlines()
        names = [line.split("\t")[0] for line in lines if ".jpg" in line.split("\t")[0]]
        features = np.load(data / "flickr8k" / "features.npy", mmap_mode="r")
        self.features = dict(zip(names, features, strict=True))
        with gzip.open(data / "f8k7" / "captions.jsonl.gz", "rt", encoding="utf-8") as file:
            self.rows = [row for row in map(json.loads, file) if row["split"] == "test"]

    def draw(self, seed: int, language: str, model: FeatureModel, read: Callable[..., Any]) -> Draw:
        random = np.random.default_rng(seed)
        rows = [self.rows[place] for place in random.choice(len(self.rows), PHOTOS, replace=False)]
        texts = [random.choice(row["captions"][language]) for row in rows]
        owner, moved = np.arange(PHOTOS), random.permutation(PHOTOS)[:SWAPPED]
        owner[moved] = np.roll(moved, 1)
        names = [row["image"] for row in rows]
        seen = {name: np.asarray(self.features[name], dtype=np.float32) for name in names}
        questions = [
            Question(str(texts[owner[row]]), read(str(texts[owner[row]]), language), names[row], row + 2)
            for row in range(PHOTOS)
        ]
        return Draw(questions, seen, owner != np.arange(PHOTOS), [names[place] for place in owner])


def area(doubt: np.ndarray, swapped: np.ndarray) -> float:
    """How often a swapped caption is in more doubt than one that is not; a tie counts half."""
    difference = doubt[swapped][:, None] - doubt[~swapped]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


def first_tenth(doubt: np.ndarray, swapped: np.ndarray) -> float:
    return float(swapped[np.argsort(-doubt, kind="stable")[: len(doubt) // 10]].mean())


def by_comparison(matcher: Matcher, draw: Draw) -> dict[str, float]:
    model = cast(FeatureModel, matcher.model)
    vectors = model.encode_features(np.stack(list(draw.looked.values())))
    answers = matcher.answers(draw.questions, dict(zip(draw.looked, vectors, strict=True)))
    p_value, fit = (np.array([getattr(one, name) for one in answers]) for name in ("p_value", "fit"))
    doubt = np.array([1 - cast(float, one.probability) for one in answers])
    found = [one.better_picture == right for one, right in zip(answers, draw.right, strict=True)]
    return {
        "area": area(-fit, draw.swapped),
        "first_tenth": first_tenth(p_value, draw.swapped),
        "area_of_cosine": area(-np.array([one.score for one in answers]), draw.swapped),
        "area_of_ranks": area(np.array([_ranks(one) for one in answers]), draw.swapped),
        "said_to_be_wrong": float(doubt.mean()),
        "labelled_right": float(((np.array([one.label for one in answers]) == MISFIT) == draw.swapped).mean()),
        "brier": float(((doubt - draw.swapped) ** 2).mean()),
        "photo_found": float(np.mean(np.array(found)[draw.swapped])),
    }


def _ranks(one: Match) -> float:
    return float(np.log(one.picture_rank) + np.log(one.caption_rank))


def by_judge(checker: Checker, draw: Draw) -> dict[str, float]:
    answers = checker.answers(draw.questions, draw.looked)
    contradiction = np.array([one.shares["contradiction"] for one in answers])
    flagged = np.array([one.label == "contradiction" for one in answers])
    return {
        "area": area(contradiction, draw.swapped),
        "first_tenth": first_tenth(contradiction, draw.swapped),
        "flagged_though_right": float(flagged[~draw.swapped].mean()),
        "flagged_swapped": float(flagged[draw.swapped].mean()),
    }


def mean(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([one[name] for one in found])), 4) for name in found[0]}


def measure(run: Path, judge: Path | None, data: Path, draws: int) -> dict[str, Any]:
    photos, matcher = Photos(data), Matcher.load(run)
    model = cast(FeatureModel, matcher.model)
    result: dict[str, Any] = {"model": _about(model), "draws": draws, "photos": PHOTOS, "swapped": SWAPPED}
    result["comparison"] = {
        code: mean([by_comparison(matcher, photos.draw(seed, code, model, model.read)) for seed in range(draws)])
        for code in LANGUAGES
        if code in model.languages
    }
    if judge is not None:
        checker = Checker.load(judge)
        drawn = [photos.draw(seed, "en", checker.model, checker.model.read) for seed in range(draws)]
        result["judge"] = {"model": _about(checker.model), "en": mean([by_judge(checker, one) for one in drawn])}
    return result


def _about(model: Model) -> dict[str, Any]:
    from groundling.model.trained import TrainedModel

    if not isinstance(model, TrainedModel) or model.run is None:
        return {"name": model.name}
    facts = model.run.facts()
    return {
        "name": model.recipe.name,
        "corpus": model.recipe.corpus.name,
        "system": model.system.name,
        "features": model.backbone,
        "steps": facts.steps,
        "batch_size": model.recipe.training.batch_size,
        "languages": list(model.languages),
        "accuracy": model.accuracy,
        "words_alone": model.words_alone,
        "commit": facts.commit,
        "device": facts.device,
    }


COLUMNS = {
    "area": ("AUC", "{:.3f}", 1),
    "first_tenth": ("swapped among the first tenth", "{:.0f} %", 100),
    "area_of_cosine": ("AUC of the cosine alone", "{:.3f}", 1),
    "area_of_ranks": ("of both ranks", "{:.3f}", 1),
    "said_to_be_wrong": ("said to be wrong", "{:.0f} %", 100),
    "labelled_right": ("right label", "{:.0f} %", 100),
    "brier": ("Brier", "{:.3f}", 1),
    "photo_found": ("its photo named", "{:.0f} %", 100),
    "flagged_though_right": ("flagged though right", "{:.0f} %", 100),
    "flagged_swapped": ("swapped ones flagged", "{:.0f} %", 100),
}
EXPLAINED = """
*AUC*: how often a swapped caption is in more doubt than one that is not (0.5: by chance). *Of the cosine alone, of
both ranks*: the same for two simpler ways. *Said to be wrong*: the mean of the probabilities, which `check` tells from
the table without a label; 50 % are. *Right label*: "does not fit" for swapped captions, and for no others. *Brier*: the
mean squared error of the probabilities (0.25: a coin). *Its photo named*: the photo that a swapped caption is said to
fit best is the one that it was written for.
"""


RECIPES = (
    "groundling train f8k7/bag --data DIR --out runs/bag",
    "groundling train e-snli-ve-flickr8k/clip-ve --set training.maximum_steps=400 --data DIR --out runs/judge",
    "groundling evaluate runs/judge --data DIR",
)


def table(rows: dict[str, dict[str, float]], names: list[str]) -> list[str]:
    lines = [f"| | {' | '.join(COLUMNS[name][0] for name in names)} |", "|---" * (len(names) + 1) + "|"]
    for code, row in rows.items():
        cells = [COLUMNS[name][1].format(COLUMNS[name][2] * row[name]) if name in row else "" for name in names]
        lines.append(f"| {code} | {' | '.join(cells)} |")
    return lines


def page(result: dict[str, Any]) -> str:
    """What docs/results/check-f8k7.md says."""
    model, rows, judge, made = result["model"], result["comparison"], result.get("judge"), result["made"]
    lines = [
        "# Swapped captions of F8K-7, found by `check`",
        "",
        f"{result['photos']} test photos with one caption each, {result['swapped']} of which are of another of these",
        f"photos; means of {result['draws']} draws for each language. By comparison, with the model `{model['name']}`",
        f"(system {model['system']}, {model['steps']:,} steps of {model['batch_size']} captions of {model['corpus']}, "
        f"{model['features']} features): one small model for all",
        "languages, far from the best one can have. Made by",
        "",
        "```",
        *RECIPES,
        made["command"],
        "```",
        "",
        f"where the model was trained at commit {model['commit']} on {model['device']}. Of the last command:",
        "",
        f"- commit: {made['commit']}",
        f"- device: {made['device']}",
        "",
        *table({**rows, "mean": mean(list(rows.values()))}, list(next(iter(rows.values())))),
        *EXPLAINED.splitlines(),
    ]
    if judge:
        about, row = judge["model"], judge["en"]
        lines += [
            "",
            "## A judge of statements on the same captions",
            "",
            f"`{about['name']}` (system {about['system']}, corpus {about['corpus']}, {about['steps']:,} steps) was",
            f"right on {about['accuracy'].get('en', 0):.1f} % of its test statements, where their words alone tell "
            f"{about['words_alone'].get('en', 0):.1f} %. Asked about the same English captions:",
            "",
            *table({"comparison": rows["en"], "judge": row}, list(row)),
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    judge = f" --judge {given.judge}" if given.judge else ""
    made = {
        "command": f"python benchmarks/check_swapped.py {given.run} --data DIR{judge} --draws {given.draws}",
        "commit": str(commit()),
        "device": device_name(torch.device("cpu")),
    }
    result = {**measure(given.run, given.judge, given.data, given.draws), "made": made}
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    if given.json is None:
        print(text)
    else:
        given.json.write_text(text, encoding="utf-8")
    if given.page is not None:
        given.page.write_text(page(result), encoding="utf-8")


if __name__ == "__main__":
    main()
