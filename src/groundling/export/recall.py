"""What is kept of a model's recall by what was exported from it, on the test split of a corpus."""

from dataclasses import dataclass
from pathlib import Path

from groundling.errors import UserError
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.retrieval import RankedSplit, evaluate_retrieval
from groundling.export.manifest import RecallKept
from groundling.export.onnx_model import OnnxModel
from groundling.model.protocol import Model
from groundling.model.trained import TrainedModel
from groundling.settings import CorpusSettings

SPLIT = "test"


@dataclass(frozen=True)
class Asked:
    """The corpus that a model is asked about before it leaves; `data` is the folder of published ones."""

    corpus: str
    data: Path | None = None

    def ranked(self, *models: Model) -> list[RankedSplit]:
        """What each of them finds in the test split, in the languages of the first."""
        models[0].check_finds()
        request = EvaluationRequest(self.corpus).in_shared_languages(models[0], self.data)
        return ranked(request.corpus_for(models[0]), self.data, *models)


def ranked(corpus: CorpusSettings, data: Path | None, *models: Model) -> list[RankedSplit]:
    """Each looks at the pictures by itself; all are asked as the first is."""
    how = models[0].evaluation
    return [
        evaluate_retrieval(one, one.dataset(corpus, data, (SPLIT,)), SPLIT, how.captions, how.folds) for one in models
    ]


def kept(splits: list[RankedSplit]) -> RecallKept:
    """Of the model, and of what was exported from it."""
    ours, theirs = (round(float(split.result.to_json()["mean"]["mR"]), 2) for split in splits)
    return RecallKept(corpus=splits[0].corpus.name, pytorch=ours, exported=theirs)


def recall_of_run(model: TrainedModel, exported: OnnxModel) -> RecallKept | None:
    """On the corpus of a run; None where the run was not evaluated, so that its corpus may not be at hand, where it is
    not there any more, and for models that judge.

    In fewer bits, the export looks at the pictures by itself; in full precision, whose difference from PyTorch was
    measured, and where there are no picture files, it is given the features that PyTorch is given.
    """
    if model.run is None or model.judges or not model.run.evaluation_file.exists():
        return None
    try:
        if exported.manifest.weights != "float32" and exported.manifest.backbone is not None:
            return kept(ranked(model.recipe.corpus, None, model, exported))
        how, dataset = model.recipe.evaluation, model.dataset(model.recipe.corpus, None, (SPLIT,))
        both = (model, exported)
        return kept([evaluate_retrieval(one, dataset, SPLIT, how.captions, how.folds) for one in both])
    except UserError:
        return None
