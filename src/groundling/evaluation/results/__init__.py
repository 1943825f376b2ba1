"""What evaluations find, as it stands in memory; and as JSON, in evaluation.json and in the answers of `--json`."""

from typing import Any

from groundling.errors import UserError
from groundling.evaluation.results.entailment import (
    Bin,
    Calibration,
    EntailmentResult,
    EntailmentScores,
    Seen,
    TextOnly,
    Uncalibrated,
)
from groundling.evaluation.results.retrieval import (
    ConsistencyResult,
    Learning,
    OriginsResult,
    RetrievalResult,
    RetrievalScores,
    TranslatedResult,
)

__all__ = [
    "Bin",
    "Calibration",
    "ConsistencyResult",
    "EntailmentResult",
    "EntailmentScores",
    "Learning",
    "OriginsResult",
    "Result",
    "RetrievalResult",
    "RetrievalScores",
    "Seen",
    "TextOnly",
    "TranslatedResult",
    "Uncalibrated",
    "result_from_json",
]

Result = RetrievalResult | EntailmentResult


def result_from_json(data: Any, where: str) -> Result:
    """An evaluation as `to_json` gave it; other keys may stand beside its own. `where` names the file."""
    try:
        kind = EntailmentResult if data.get("task") == EntailmentResult.task else RetrievalResult
        return kind.from_json(data)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"{where}: not an evaluation ({error!r}); evaluate the run again") from None
