"""What is kept of a run's recall by what was exported from it, on the test split of the corpus it was trained on."""

from groundling.errors import UserError
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.export.manifest import RecallKept
from groundling.export.onnx_model import OnnxModel
from groundling.model.trained import TrainedModel

SPLIT = "test"


def recall_kept(model: TrainedModel, exported: OnnxModel) -> RecallKept | None:
    """Both measured on the same captions and features; None where the run was not evaluated, so that its corpus may not
    be at hand, where it is not there any more, and for models that judge.

    Features are those of PyTorch's backbone; how far the exported one is from it is in `Agreement.backbone`.
    """
    if model.run is None or model.judges or not model.run.evaluation_file.exists():
        return None
    asked = model.recipe.evaluation
    try:
        dataset = model.dataset(model.recipe.corpus, None, (SPLIT,))
        splits = [evaluate_retrieval(one, dataset, SPLIT, asked.captions, asked.folds) for one in (model, exported)]
    except UserError:
        return None
    ours, theirs = (round(float(split.result.to_json()["mean"]["mR"]), 2) for split in splits)
    return RecallKept(corpus=splits[0].corpus.name, pytorch=ours, exported=theirs)
