"""Whether an exported model does what the run does, measured before anybody gets to see it."""

from pathlib import Path

import numpy as np

from groundling.errors import UserError
from groundling.export import samples
from groundling.export.manifest import Agreement
from groundling.export.onnx_model import OnnxModel
from groundling.export.picture_backbone import ExportedBackbone
from groundling.export.precision import Precision
from groundling.model.pretrained import PretrainedModel
from groundling.model.trained import TrainedModel
from groundling.model.vectors import Vectors

TOLERANCE: dict[Precision, float] = {"float32": 1e-4, "half": 1e-2, "int8": 1e-1}
PARTS = ("ids", "lengths", "spellings")
ALONE = 12  # captions that are also encoded one by one: what stands beside a caption must not matter


def measured(
    model: TrainedModel, exported: OnnxModel, backbone: ExportedBackbone | None, weights: Precision, run: Path
) -> Agreement:
    """The differences between a model and what was exported from it; more than the tolerance is an error."""
    texts, codes = _captions(model, exported, run)
    pairs = {"text": (exported.encode_text(texts, codes), model.encode_text(texts, codes))}
    alone = [exported.encode_text([text], [code]) for text, code in zip(texts[:ALONE], codes, strict=False)]
    pairs["text alone"] = np.concatenate(alone), pairs["text"][1][:ALONE]
    drawn = samples.features(model.features)
    pairs["picture"] = _unit(exported.encode_features(drawn)), _unit(model.encode_features(drawn))
    if backbone is not None:
        ours, theirs = backbone.compared(exported)
        pairs["backbone"] = _unit(ours), _unit(theirs)
    if model.judges:
        few = min(len(texts), len(drawn))
        asked = texts[:few], drawn[:few], codes[:few]
        pairs["verdict"] = exported.judge_features(*asked), model.judge_features(*asked)
    return _agreement(pairs, weights, str(run))


def measured_pretrained(model: PretrainedModel, exported: OnnxModel, weights: Precision) -> Agreement:
    """The same for a pretrained model, whose pictures go through its own processor, and exported through ours."""
    texts = samples.pieces(exported.readers[0].tokeniser)
    codes = [""] * len(texts)
    pairs = {"text": (exported.encode_text(texts, codes), model.encode_text(texts, codes))}
    alone = [exported.encode_text([text], [""]) for text in texts[:ALONE]]
    pairs["text alone"] = np.concatenate(alone), pairs["text"][1][:ALONE]
    files = samples.files()
    ours = exported.encode_prepared([exported.preparation(data) for data in files])
    pairs["picture"] = ours, model.encode_prepared([model.preparation(data) for data in files])
    return _agreement(pairs, weights, model.name)


def _agreement(pairs: dict[str, tuple[Vectors, Vectors]], weights: Precision, name: str) -> Agreement:
    apart = {part: float(np.abs(ours - theirs).max()) for part, (ours, theirs) in pairs.items()}
    cosine = min(_cosine(*pair) for pair in pairs.values())
    for part, difference in apart.items():
        if not difference <= TOLERANCE[weights]:  # so that NaN is refused, too
            raise UserError(
                f"{name}: the exported graph for {part} differs from PyTorch's by {difference:.1e}, more than "
                f"{TOLERANCE[weights]:g}; nothing was written"
            )
    return Agreement(
        tolerance=TOLERANCE[weights],
        text=max(apart["text"], apart["text alone"]),
        picture=apart["picture"],
        backbone=apart.get("backbone"),
        verdict=apart.get("verdict"),
        cosine=cosine,
    )


def _captions(model: TrainedModel, exported: OnnxModel, run: Path) -> tuple[list[str], list[str]]:
    """Some for each of the readers, who must cut them as they did in the run."""
    taught = {code for reader in exported.readers for code in reader.languages}
    others = [code for code in exported.manifest.languages if code not in taught]
    texts: list[str] = []
    codes: list[str] = []
    for ours, theirs in zip(exported.readers, model.readers, strict=True):
        some, of = samples.captions(theirs.tokeniser, sorted(ours.languages) or others)
        cut, expected = ours.tokeniser.encode(some, of), theirs.tokeniser.encode(some, of)
        same = all(np.array_equal(getattr(cut, part), getattr(expected, part)) for part in PARTS)
        if theirs.tokeniser.exports_entries and not same:
            raise UserError(f"{run}: its tokeniser reads some captions differently once exported; nothing was written")
        texts, codes = texts + some, codes + of
    return texts, codes


def _cosine(ours: Vectors, theirs: Vectors) -> float:
    """The smallest of any row; two vectors of zeros, a picture that is not looked at, agree."""
    cosines = (_unit(ours) * _unit(theirs)).sum(axis=1)
    nothing = ~ours.any(axis=1) & ~theirs.any(axis=1)
    return float(np.where(nothing, 1.0, cosines).min())


def _unit(vectors: Vectors) -> Vectors:
    wide = vectors.astype(np.float64)
    unit: Vectors = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12)
    return unit
