"""Results of evaluations that nobody made, from the numbers that a test is about."""

from collections.abc import Mapping
from typing import Any

from groundling.evaluation.results import RetrievalResult, RetrievalScores
from groundling.experiments.finished import EntryResult
from groundling.run_facts import RunFacts


def scores(
    both: Mapping[str, float] | None = None,
    text_to_image: Mapping[str, float] | None = None,
    image_to_text: Mapping[str, float] | None = None,
    pictures: int = 250,
    captions: int = 250,
) -> RetrievalScores:
    return RetrievalScores(dict(image_to_text or {}), dict(text_to_image or {}), dict(both or {}), pictures, captions)


def retrieval(languages: Mapping[str, RetrievalScores], **changes: Any) -> RetrievalResult:
    """A result of 250 pictures with a caption in each language."""
    parts = list(languages.values())
    mean = changes.pop("mean", parts[0] if parts else scores())
    values = {"corpus": "emoji", "split": "test", "pictures": 250, "captions": 250 * len(parts)}
    chance = {"R@1": 0.4, "R@5": 2.0, "R@10": 4.0}
    return RetrievalResult(**{**values, "languages": dict(languages), "mean": mean, "chance": chance, **changes})


def entry_result(
    languages: Mapping[str, RetrievalScores], run: dict[str, Any] | None = None, more_parameters: int = 0
) -> EntryResult:
    return EntryResult(retrieval(languages), RunFacts(**run or {}), more_parameters)
