"""The files of a pretrained model: a folder, or a copy from the hub; JSON, vocabularies and safetensors only."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling import hub
from groundling.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

PATTERNS = ("*config*.json", "modules.json", *hub.WEIGHTS, *hub.TOKENISER)
FILES = (*PATTERNS, *(f"*/{pattern}" for pattern in PATTERNS))  # sentence-transformers has a folder for each part
WHAT = "pretrained model"
CARD = "README.md"  # says under which licence a model is, and what it reads; it decides no vector
VOCABULARIES = ("tokenizer.json", "vocab.json", "vocab.txt", "*.model")  # one of them is in every tokeniser
# Weights in PyTorch's own format, which may only be read as tensors; and the models that are published with them alone.
TENSORS = ("open_clip_pytorch_model.bin", "pytorch_model.bin")
HAS_TENSORS = ("open_clip_config.json", "config.json")


def model_folder(name: str) -> Path:
    """The folder of a model: `name` itself where it is one, a snapshot from the hub otherwise."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists() or name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise UserError(
            f"{name}: neither the folder of a run or of a pretrained model, nor a name on the hub (OWNER/MODEL)"
        )
    found = hub.download(name, (*FILES, CARD), WHAT)
    if not any(found.rglob("*.safetensors")) and any((found / file).exists() for file in HAS_TENSORS):
        found = hub.download(name, (*FILES, CARD, *TENSORS), WHAT)
    return found


def check_weights(folder: Path, name: str) -> None:
    """An error where a folder has no weights that are read here."""
    if not (folder / "config.json").exists():
        raise UserError(f"{name}: no model is there (neither a run with recipe.json nor a folder with config.json)")
    if not any(folder.glob("*.safetensors")):
        raise UserError(f"{name}: has no weights in safetensors, and other formats are not read; choose another model")


def read_tokeniser(library: Any, folder: Path, name: str) -> Any:
    """That of a folder, which must be there: of nothing, transformers makes one that knows no word."""
    if not any(found for pattern in VOCABULARIES for found in folder.glob(pattern)):
        raise UserError(f"{name}: has no tokeniser ({', '.join(VOCABULARIES)}); fetch all of its files")
    return read(library.AutoTokenizer, folder, name)


def read(kind: Any, folder: Path, name: str, **options: Any) -> Any:
    """`kind.from_pretrained`, offline, without code of others; what cannot be read is the user's to know."""
    try:
        return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:  # a damaged folder makes every layer below raise something of its own
        what = kind.__name__.removeprefix("Auto").lower()
        raise UserError(f"{name}: its {what} cannot be read ({hub.first_line(error)})") from None


def tensors(
    folder: Path, name: str, files: Sequence[str] = ("model.safetensors", "pytorch_model.bin")
) -> "Mapping[str, Tensor]":
    """The weights in the first of these files that is there. Of PyTorch's own format nothing is read but tensors."""
    import torch
    from safetensors.torch import load_file

    path = next((folder / file for file in files if (folder / file).exists()), None)
    if path is None:
        raise UserError(f"{name}: has no weights that are read here ({' or '.join(files)})")
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # whatever a damaged file, or one with code in it, leads the two readers into
        raise UserError(
            f"{name}: {path.name} is damaged, or holds more than tensors ({hub.first_line(error)})"
        ) from None
    if isinstance(found, dict) and isinstance(found.get("state_dict"), dict):
        found = found["state_dict"]
    if not isinstance(found, dict) or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise UserError(f"{name}: {path.name} holds other things than weights by name")
    return found


def fingerprint(*folders: Path) -> str:
    """SHA-256 over the names and contents of the files that make up a model of one or two folders."""
    return hashlib.sha256(
        "".join(hub.fingerprint(folder, _decisive(folder)) for folder in folders).encode()
    ).hexdigest()


def _decisive(folder: Path) -> Sequence[str]:
    """PyTorch's own files count where there are no others: beside safetensors they are not read."""
    return FILES if any(folder.rglob("*.safetensors")) else (*FILES, *TENSORS)
