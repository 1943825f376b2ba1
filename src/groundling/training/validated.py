"""What a validation says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Validated:
    """What a validation found.

    Attributes:
        score: what trainings are compared by; more is better.
        languages: the usual measure of each language: rsum, or accuracy in percent.
        also: other numbers worth a curve.
    """

    score: float
    languages: dict[str, float]
    also: dict[str, float]
