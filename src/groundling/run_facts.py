"""run.json: what is worth knowing about a training after it has ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

LATER = (
    "splits",
    "words_cut",
    "trainable_parameters",
    "temperature",
    "temperature_from",
)  # keys that not every run has


@dataclass(frozen=True)
class RunFacts:
    """Of one training.

    Attributes:
        parameters: those that the model needs at test time; `parameters_by_part` add up to them.
        trainable_parameters: those that training changed; older runs have none noted.
        word_parameters: those of the vectors of words.
        words_cut: how words were found, where that takes a library.
        splits: how many pictures of the corpus are for training, validation and testing; older runs have none noted.
        best_score: the highest validation score, of the kind `score`, and `best_step` when it was reached.
        temperature: what the logits of a judge are divided by, and `temperature_from` what it was fitted on.
        more: what versions before and after this one note.
    """

    name: str = ""
    system: str = ""
    corpus: str = ""
    languages: list[str] = field(default_factory=list)
    splits: dict[str, int] | None = None
    seed: int = 0
    parameters: int = 0
    trainable_parameters: int | None = None
    word_parameters: int = 0
    parameters_by_part: dict[str, int] = field(default_factory=dict)
    words_cut: str | None = None
    steps: int = 0
    best_step: int = 0
    best_score: float = 0.0
    score: str = ""
    seconds: float = 0.0
    device: str = ""
    precision: str = ""
    torch: str = ""
    groundling: str = ""
    commit: str | None = None
    command: str | None = None
    temperature: float | None = None
    temperature_from: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        noted = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "more"}
        return {key: value for key, value in noted.items() if value is not None or key not in LATER} | self.more

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "RunFacts":
        own = {each.name for each in fields(RunFacts)} - {"more"}
        noted = {key: value for key, value in data.items() if key in own}
        return RunFacts(**noted, more={key: value for key, value in data.items() if key not in own})
