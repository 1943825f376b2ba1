"""How well a run judged when it was tested: who asks it later, or what was exported from it, may want to know."""

from pathlib import Path

from groundling.errors import UserError
from groundling.evaluation.entailment_scores import EntailmentScores
from groundling.files import read_json


def accuracy_of(evaluation: Path) -> dict[str, float]:
    """Language → right answers in 100 test statements; nothing where a run was not tested, or this cannot be read."""
    try:
        judgement = EntailmentScores.from_json(read_json(evaluation))
    except (UserError, ValueError):
        return {}
    return {code: part.accuracy for code, part in judgement.languages.items()}
