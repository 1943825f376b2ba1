"""What an evaluation was made from: a record inside evaluation.json that tells whether it still holds."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from groundling.checksums import sha256
from groundling.corpus import Corpus
from groundling.corpus.columns import Strings
from groundling.errors import UserError
from groundling.evaluation.request import EvaluationRequest
from groundling.model import Model, load
from groundling.run import Run


@dataclass(frozen=True)
class Provenance:
    """The origin of an evaluation.

    Attributes:
        weights: SHA-256 of the weights of a run, or the fingerprint of another model.
        corpus: language → SHA-256 of what was asked in it, and about which pictures.
        settings: those that change what is asked or answered, as far as they differ from the defaults. Of a model that
            is not in the same folder, `model` says where it is.
    """

    weights: str
    corpus: dict[str, str]
    settings: dict[str, Any]

    @staticmethod
    def of(run: Run, hashes: dict[str, str]) -> "Provenance":
        """Of a run that was asked what it was trained for."""
        return Provenance(sha256(run.weights_file), hashes, evaluation_settings(run))

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Provenance":
        if not isinstance(data["corpus"], dict) or not isinstance(data["settings"], dict):
            raise TypeError("not a record of an evaluation")
        return Provenance(data["weights"], data["corpus"], data["settings"])

    def why_stale(self, run: Run) -> str | None:
        """In a few words why an evaluation of this run no longer holds; None where it does.

        Where the model is gone, as weights are after a table, nothing can have changed.
        """
        if self.request is not None:
            return self._why_model_is_stale()
        if not run.weights_file.exists():
            return None
        if sha256(run.weights_file) != self.weights:
            return "its weights have changed since it was evaluated"
        if evaluation_settings(run) != self.settings:
            return "its settings have changed since it was evaluated"
        return None

    @property
    def request(self) -> EvaluationRequest | None:
        """What was asked, where it was not a run's own question."""
        return EvaluationRequest.from_json(self.settings) if "model" in self.settings else None

    def model(self, device: str = "cpu") -> Model:
        """The model that was asked, where that lies in a folder of its own."""
        return load(self.settings["model"], self.settings.get("text_model"), device, self.settings.get("prompt"))

    def _why_model_is_stale(self) -> str | None:
        try:
            same = self.model().fingerprint == self.weights
        except UserError:
            return None
        return None if same else "the model has changed since it was evaluated"


def corpus_hashes(corpus: Corpus, labels: Strings | None = None) -> dict[str, str]:
    """For each language a hash of all pictures, by name, and of its captions or statements with their labels."""
    found = {}
    pictures = "\0".join(corpus.pictures.tolist())
    for code in corpus.all_languages():
        rows = (corpus.languages == code).nonzero()[0].tolist()
        lines = [f"{corpus.owners[row]} {corpus.texts[row]}" for row in rows]
        lines += [] if labels is None else [str(labels[row]) for row in rows]
        content = "\0".join([pictures, "", *lines])
        found[code] = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return found


def evaluation_settings(run: Run) -> dict[str, Any]:
    recipe = run.recipe()
    groups = {"corpus": recipe.corpus, "features": recipe.features, "evaluation": recipe.evaluation}
    values = {name: group.model_dump(mode="json", exclude_defaults=True) for name, group in groups.items()}
    return {**values, "temperature": run.temperature()}
