"""The temperature of a run that judges (see `calibration`): fitted when training ends, or on other statements later."""

from dataclasses import dataclass, replace
from pathlib import Path

from groundling.calibration import HIGHEST
from groundling.corpus import Corpus
from groundling.corpus.formats.decisions import Decisions
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment import fitted_temperature
from groundling.evaluation.request import requested_corpus
from groundling.files import write_json
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.run_facts import RunFacts
from groundling.text.language_detection import detect_language
from groundling.vision.from_settings import corpus_features


def with_temperature(
    facts: RunFacts, run: Run, dev: Dataset, judging: bool, start: Path | None, device: str
) -> RunFacts:
    """The facts of a run that judges and whose best weights are there; the dev split also stopped its training.

    A student who learned from sentences alone (`judging` is false) has the temperature of the teacher, whose head it
    speaks through: no label has told it anything, and none need to, for its vectors are those of the teacher or nearly.
    """
    if judging:
        found = fitted_temperature(TrainedModel.load(run.folder, device), dev)
        return replace(facts, temperature=found.value, temperature_from=found.told_by)
    teacher = 1.0 if start is None else Run(start).temperature()
    return replace(facts, temperature=teacher, temperature_from="the teacher")


@dataclass(frozen=True)
class Calibrated:
    """The new temperature of a run.

    Attributes:
        run: its folder.
        temperature, told_by: the new one, and what it was fitted on.
        before: the old one.
        loss_uncalibrated, loss_calibrated: the mean log loss of these statements at temperature 1, and at the new one.
    """

    run: str
    temperature: float
    told_by: str
    before: float
    loss_uncalibrated: float
    loss_calibrated: float

    def to_json(self) -> dict[str, object]:
        return {
            "run": self.run,
            "temperature": self.temperature,
            "temperature_from": self.told_by,
            "temperature_before": self.before,
            "log_loss": {"uncalibrated": self.loss_uncalibrated, "calibrated": self.loss_calibrated},
        }


def calibrate(
    folder: Path,
    corpus: str | None = None,
    split: str = "dev",
    data: Path | None = None,
    device: str = "auto",
    decisions: Path | None = None,
    pictures: Path | None = None,
) -> Calibrated:
    """Fit the temperature of a finished run anew and put it into its run.json; nothing else of it changes.

    Statements are those of the run's own corpus, of another one that is more like what the model will be asked, or
    captions that editors have decided about, of pictures in a folder (the one that their decisions are in where None).
    """
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if not model.judges:
        raise UserError(
            f"{folder} finds pictures and captions, and gives no probabilities that could be calibrated: "
            "`groundling check` tells those of a table from the table itself"
        )
    if not run.finished:
        raise UserError(f"{folder}: this run is not finished; go on with `groundling train --resume {folder}`")
    if corpus is None and split != "dev":
        raise UserError(f"--split {split}: of the run's own corpus only dev statements are free for this; leave it out")
    if decisions is not None:
        found = fitted_temperature(model, _decided(model, decisions, pictures or decisions.parent))
    else:
        settings = requested_corpus(model.recipe.corpus, corpus)
        found = fitted_temperature(model, Dataset.load(settings, model.recipe.features, data), split)
    if found.value == 1:
        raise UserError(f"{folder}: its temperature stays what it was, {model.temperature:.3g}: {found.told_by}")
    if found.value > 0.99 * HIGHEST:
        raise UserError(
            f"{folder}: judges {found.told_by} no better than a guess would, so its temperature stays what it was, "
            f"{model.temperature:.3g}; look whether they have the right labels and pictures"
        )
    facts = replace(run.facts(), temperature=found.value, temperature_from=found.told_by)
    with run.rewriting(run.facts_file):
        write_json(run.facts_file, facts.to_json())
    return Calibrated(str(folder), found.value, found.told_by, model.temperature, found.before, found.after)


def _decided(model: TrainedModel, decisions: Path, pictures: Path) -> Dataset:
    """Captions with what editors have decided, as statements of a dev split."""
    rows = [
        {
            "picture": one.picture,
            "text": text,
            "language": one.language or detect_language(text, model.languages),
            "label": label,
            "split": "dev",
        }
        for one in Decisions.read(decisions)
        for text, label in one.statements()
    ]
    corpus = Corpus.of(rows, pictures, decisions.name)
    vectors, usable = corpus_features(corpus, model.recipe.features)
    seen = vectors[usable]
    return Dataset(corpus.keep_pictures(usable), seen.mean(axis=1) if seen.ndim == 3 else seen)
