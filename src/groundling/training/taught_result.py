"""What a model could do with new languages before and after it was taught them: taught.json of its run."""

from dataclasses import asdict, dataclass
from typing import Any

from groundling.evaluation.results import EntailmentScores, RetrievalScores
from groundling.evaluation.translation_retrieval import Matching


@dataclass(frozen=True)
class Abilities:
    """What a model can do with one language.

    Attributes:
        matching: with the known sentences of held-out pairs; None where it does not read the language.
        test: on the test split of a corpus; None where there is none, or it does not read the language.
        corpus: the name of that corpus.
    """

    matching: Matching | None
    test: RetrievalScores | EntailmentScores | None = None
    corpus: str = ""

    def to_json(self) -> dict[str, object]:
        tested = {} if self.test is None else {"test": {**self.test.to_json(), "corpus": self.corpus}}
        return {"matching": self.matching and asdict(self.matching), **tested}


@dataclass(frozen=True)
class TaughtResult:
    """
    Attributes:
        run: the folder of the new run.
        teacher: what its teacher was loaded by.
        taught: the new languages.
        languages: all that the new run reads.
        student: who reads the new ones.
        pairs: of each split, how many sentences were there.
        task: "retrieval" or "entailment".
        corpus: what the teacher was trained on; None where that is not known.
        before, after: by language, what the teacher and the new run can do.
        old_cosine: the mean cosine of known sentences as they were and as they are; None where they are the same, bit
            for bit.
        not_tested: why there was no test, where there was none.
    """

    run: str
    teacher: str
    taught: tuple[str, ...]
    languages: list[str]
    student: str
    pairs: dict[str, int]
    task: str
    corpus: str | None
    before: dict[str, Abilities]
    after: dict[str, Abilities]
    old_cosine: float | None = None
    not_tested: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "run": self.run,
            "teacher": self.teacher,
            "language": ",".join(self.taught),
            "languages": self.languages,
            "student": self.student,
            "pairs": self.pairs,
            "task": self.task,
            "corpus": self.corpus,
            "before": self._by_language(self.before),
            "after": self._by_language(self.after),
            "old_languages_unchanged": self.old_cosine is None,
            **({} if self.old_cosine is None else {"old_languages_cosine": self.old_cosine}),
            **({"not_tested": self.not_tested} if self.not_tested else {}),
        }

    def _by_language(self, found: dict[str, Abilities]) -> dict[str, Any]:
        """Of the one language that was taught, or of each under its code."""
        parts = {code: found[code].to_json() for code in self.taught}
        return parts if len(parts) > 1 else parts[self.taught[0]]
