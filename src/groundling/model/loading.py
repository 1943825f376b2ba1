"""A model found by name: a run, what was exported from one, or a pretrained model of a folder or of the hub."""

import importlib
import importlib.util
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.catalogue import known_model
from groundling.model.protocol import Model

if TYPE_CHECKING:
    import torch

    from groundling.model.pair import Pair
    from groundling.model.sides import TextSide

# Imported by name, when there is one to read: export stands on models, and a model that it wrote needs no torch.
EXPORTED = "groundling.export.onnx_model"


def load(name: str, text: str | None = None, device: str = "auto", prompt: str | None = None) -> Model:
    """A run of ours, what was exported from one, or a pretrained model by its folder or its name on the hub.

    Args:
        name: the folder of a run, or one that `groundling export` wrote; the folder or hub name of a pair of one of the
            types in `pair_types`, or of open_clip; or a short name from `catalogue`.
        text: the folder or hub name of a separate text encoder of sentence-transformers or M-CLIP.
        device: as for all commands.
        prompt: for a pretrained model, what texts are put into before they are read: "a photo of {}".
    """
    folder = Path(name).expanduser()
    if "/" not in name and not folder.is_dir():
        known = known_model(name)
        name, text = known.pictures, text or known.text
        folder = Path(name)
    if is_ours(folder):
        if is_exported(folder):
            return cast(Model, importlib.import_module(EXPORTED).OnnxModel.load(folder, device, text, prompt))
        from groundling.model.trained import TrainedModel

        return TrainedModel.load(folder, device, text, prompt)
    from groundling.devices import pick_device
    from groundling.model.pretrained import PretrainedModel

    pair = open_pair(name, pick_device(device))
    return PretrainedModel(pair.pictures, pair.text if text is None else open_text(text, pair.device), prompt)


def open_pair(name: str, device: "torch.device") -> "Pair":
    """A pair through transformers where it has a type that is known there, through open_clip otherwise."""
    from groundling.model.pair_types import PAIR_TYPES
    from groundling.model.snapshot import model_folder

    folder = model_folder(name)
    if (folder / "open_clip_config.json").exists() and _type(folder) not in PAIR_TYPES:
        from groundling.model.open_clip_pair import OpenClipPair

        return OpenClipPair(name, folder, device)
    from groundling.model.transformers_pair import TransformersPair

    return TransformersPair(name, folder, device)


def open_text(name: str, device: "torch.device") -> "TextSide":
    """A separate text encoder: of M-CLIP, or of sentence-transformers."""
    from groundling.model.multilingual_clip import MODEL_TYPE, MultilingualClip
    from groundling.model.sentence_encoder import SentenceEncoder
    from groundling.model.snapshot import model_folder

    folder = model_folder(name)
    kind = MultilingualClip if _type(folder) == MODEL_TYPE else SentenceEncoder
    return kind(folder, name, device)


def _type(folder: Path) -> str:
    config = folder / "config.json"
    return str(read_json(config).get("model_type")) if config.exists() else ""


def exported_beside(run: str, fingerprint: str) -> str | None:
    """What was exported from a run, where that lies beside it and onnxruntime is there to run it: it starts faster.

    `fingerprint` is that of the run as it is wanted; what was exported before it was trained anew has another one.
    RUN.onnx is looked at first, then RUN/onnx, then every other folder beside the run that ends in .onnx.
    """
    folder = Path(run).expanduser()
    if not (folder / "recipe.json").exists() or importlib.util.find_spec("onnxruntime") is None:
        return None
    near = [folder.with_name(f"{folder.name}.onnx"), folder / "onnx", *sorted(folder.parent.glob("*.onnx"))]
    for place in near:
        with suppress(UserError, OSError):
            manifest = read_json(place / "manifest.json")
            if isinstance(manifest, dict) and manifest.get("fingerprint") == fingerprint:
                return str(place)
    return None


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a run, or what was exported from one, be it whole or not."""
    return is_exported(folder) or any((folder / file).exists() for file in ("recipe.json", "tokeniser.json"))


def is_exported(folder: Path) -> bool:
    """Whether a folder is meant to hold an exported model, be it whole or not, rather than a run."""
    ours = (folder / "recipe.json").exists()
    return not ours and any((folder / file).exists() for file in ("manifest.json", "text.onnx"))
