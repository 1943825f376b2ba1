"""A model found by name: a run, what was exported from one, or a pretrained model of a folder or of the hub."""

import importlib
from pathlib import Path
from typing import cast

from groundling.errors import UserError, did_you_mean
from groundling.model.protocol import Model

# Names for pairs of a picture side and a text side that were made for each other.
PAIRS = {
    "clip-multilingual": (
        "sentence-transformers/clip-ViT-B-32",
        "sentence-transformers/clip-ViT-B-32-multilingual-v1",
    )
}
# Imported by name, when there is one to read: export stands on models, and a model that it wrote needs no torch.
EXPORTED = "groundling.export.onnx_model"


def load(name: str, text: str | None = None, device: str = "auto", prompt: str | None = None) -> Model:
    """A run of ours, what was exported from one, or a pretrained model by its folder or its name on the hub.

    Args:
        name: the folder of a run, or one that `groundling export` wrote; the folder or hub name of a pair of one of the
            types in `pair_types`; or a name from `PAIRS`.
        text: the folder or hub name of a separate text encoder, as of the multilingual CLIPs of sentence-transformers.
        device: as for all commands.
        prompt: for a pretrained model, what texts are put into before they are read: "a photo of {}".
    """
    if text is None and name in PAIRS and not Path(name).exists():
        name, text = PAIRS[name]
    folder = Path(name).expanduser()
    if "/" not in name and not folder.is_dir():
        raise UserError(
            f"{name}: neither the folder of a run or of a pretrained model, nor a name on the hub (OWNER/MODEL), nor "
            f"that of a pair{did_you_mean(name, PAIRS)}"
        )
    if is_ours(folder):
        if is_exported(folder):
            return cast(Model, importlib.import_module(EXPORTED).OnnxModel.load(folder, device, text, prompt))
        from groundling.model.trained import TrainedModel

        return TrainedModel.load(folder, device, text, prompt)
    from groundling.devices import pick_device
    from groundling.model.pretrained import PretrainedModel
    from groundling.model.snapshot import model_folder
    from groundling.model.transformers_pair import TransformersPair

    pair = TransformersPair(name, model_folder(name), pick_device(device))
    if text is None:
        return PretrainedModel(pair.pictures, pair.text, prompt)
    from groundling.model.sentence_encoder import SentenceEncoder

    return PretrainedModel(pair.pictures, SentenceEncoder(model_folder(text), text, pair.device), prompt)


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a run, or what was exported from one, be it whole or not."""
    return is_exported(folder) or any((folder / file).exists() for file in ("recipe.json", "tokeniser.json"))


def is_exported(folder: Path) -> bool:
    """Whether a folder is meant to hold an exported model, be it whole or not, rather than a run."""
    ours = (folder / "recipe.json").exists()
    return not ours and any((folder / file).exists() for file in ("manifest.json", "text.onnx"))
