"""The card of a model that was exported to ONNX."""

from pathlib import Path

from groundling.export.card import Card
from groundling.export.manifest import Manifest
from groundling.model.trained import TrainedModel

LOAD = """pip install 'groundling[onnx,search]'
groundling index ~/Photos --model {folder} --out photos.index
groundling search photos.index "a dog on the beach"

# or, in Python
from groundling.export import OnnxModel
model = OnnxModel.load("{folder}")
texts = model.encode_text(["a dog on the beach"])
pictures = model.encode_pictures(["dog.jpg"])
print(texts @ pictures.T)"""
KEPT = {"float32": "in full precision", "half": "in half precision", "int8": "in 8 bits, with a factor for each row"}


def write_card(card: Card, folder: Path, manifest: Manifest, name: Path) -> None:
    """README.md in `folder`, of a model that will be called `name`."""
    found = manifest.agreement
    apart = max(found.text, found.picture, found.backbone or 0.0, found.verdict or 0.0)
    facts = [
        f"ONNX graphs with weights {KEPT[manifest.weights]}; at most {apart:.1e} from PyTorch in any entry of a vector."
    ]
    if manifest.recall is not None:
        kept = manifest.recall
        facts.append(
            f"Mean recall (R@1, 5 and 10, both ways) on the test split of {kept.corpus}: {kept.exported:.2f} as "
            f"exported, {kept.pytorch:.2f} in PyTorch."
        )
    card.write(folder, "groundling", manifest.dimensions, LOAD.format(folder=name.name), facts)


def started_from(model: TrainedModel) -> dict[str, Path | None]:
    """Models of others that a run began with: what looks at the pictures, and text encoders from the hub."""
    kept = model.extractor.kept
    started: dict[str, Path | None] = {} if model.feature_settings is None else {model.backbone: None}
    if kept is not None:
        started = {kept.model: kept.folder}
    for reader in model.readers:
        name = getattr(reader.tokeniser, "encoder", getattr(reader.tokeniser, "model", None))
        if isinstance(name, str):
            started[name] = getattr(reader.tokeniser, "folder", None)
    return started
