"""What is there of a table: the evaluations of its entries, and the answers to its questions, that are done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from groundling.errors import UserError
from groundling.evaluation.results import result_from_json
from groundling.experiments.question import Question
from groundling.experiments.table_entries import TableEntry, builds_on
from groundling.experiments.validations import Curve, Validated, curve, validated
from groundling.files import read_json
from groundling.run import Run
from groundling.run_facts import RunFacts


class Numbers(Protocol):
    """What a table reads of an evaluation."""

    @property
    def languages(self) -> Mapping[str, Any]: ...

    def value(self, language: str, metric: str, /) -> float: ...


@dataclass(frozen=True)
class Earlier:
    """A training that another builds on: where it was trained and what it took, as far as somebody noted it."""

    commit: str | None = None
    device: str | None = None
    precision: str | None = None
    steps: int | None = None
    seconds: float | None = None

    @staticmethod
    def of(run: RunFacts) -> "Earlier":
        return Earlier(run.commit, run.device or None, run.precision or None, run.steps or None, run.seconds or None)


@dataclass(frozen=True)
class EntryResult:
    """What was found for an entry.

    Attributes:
        result: its evaluation, or the answer to its question.
        run: the facts of its training.
        more_parameters: of what learns to combine languages.
        validations: of its training, step by step.
        on_record: what is known of them where the steps are not.
        asked: language → the start of a hash of what was asked; nothing where that is not known.
        builds_on: folder → the trainings that its own builds on (see `table_entries.builds_on`), as far as they are
            there.
    """

    result: Numbers
    run: RunFacts
    more_parameters: int = 0
    validations: Curve = ()
    on_record: Validated | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    builds_on: Mapping[str, Earlier] = field(default_factory=dict)

    def sizes(self) -> dict[str, int]:
        """Parameters of a model; what learns to combine languages counts as well. Nothing where nobody noted them."""
        run, more = self.run, self.more_parameters
        if not run.parameters:
            return {}
        sizes = {"all": run.parameters + more, "words": run.word_parameters}
        return sizes if run.trainable_parameters is None else {**sizes, "trainable": run.trainable_parameters + more}

    @property
    def known(self) -> bool:
        """Whether it was read from the JSON of a table, not from its run (see `experiments.known`)."""
        return self.on_record is not None

    def validated(self, reaches: float | None) -> Validated:
        """How its training went on the dev split, for a table that times trainings by `reaches`."""
        return self.on_record or validated(self.validations, self.run.best_step, reaches)


Results = dict[str, EntryResult]  # by the key of an entry


def finished_entries(entries: Sequence[TableEntry], out: Path) -> Results:
    """Evaluations of the entries that are done; one that was made with other settings is an error."""
    from groundling.evaluation.saved_answers import completed
    from groundling.systems import meaning

    results: Results = {}
    for entry in entries:
        run = Run(out / entry.folder)
        if entry.key not in results and is_evaluated(run) and (entry.ask is None or is_answered(run, entry.ask)):
            if meaning(run.recipe()) != meaning(entry.recipe):
                raise UserError(f"{run.folder}: was made with other settings; use another --out or remove it")
            given = run.evaluation_file if entry.ask is None else run.folder / entry.ask.file
            data = read_json(given)
            learned = data.get("consistency", {}).get("parameters", 0)
            result = result_from_json(data, str(given))
            whole = result if entry.ask else completed(run, result)
            asked = shortened(data.get("made_from", {}).get("corpus", {}))
            earlier = _earlier(entry, out)
            results[entry.key] = EntryResult(whole, run.facts(), learned, curve(run), asked=asked, builds_on=earlier)
    return results


def _earlier(entry: TableEntry, out: Path) -> dict[str, Earlier]:
    """What an entry builds on, where its folder is there."""
    runs = {one.folder: Run(out / one.folder) for one in builds_on(entry)}
    return {folder: Earlier.of(run.facts()) for folder, run in runs.items() if run.finished}


def shortened(hashes: Mapping[str, str]) -> dict[str, str]:
    """Enough of each hash to tell corpora apart."""
    return {code: digest[:16] for code, digest in hashes.items()}


def is_evaluated(run: Run) -> bool:
    """Whether a training has ended and the evaluation in its folder holds for its weights, where they are there."""
    from groundling.evaluation.saved import why_stale

    return run.finished and run.evaluation_file.exists() and why_stale(run) is None


def is_answered(run: Run, question: Question) -> bool:
    """Whether an answer lies beside the evaluation, of the same weights."""
    path = run.folder / question.file
    if not path.exists():
        return False
    asked, evaluated = (read_json(file).get("made_from", {}).get("weights") for file in (path, run.evaluation_file))
    return asked is None or asked == evaluated


def folder_of(key: str) -> str:
    """The training that a result is of."""
    return key.partition("/asked-")[0]
