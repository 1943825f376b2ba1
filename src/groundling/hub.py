"""Models of other people: a folder, or a snapshot from the Hugging Face hub. Needs the extra `hub`.

Nothing that can run code is ever read: safetensors and JSON only, no remote code.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundling.errors import UserError

WEIGHTS = ("config.json", "*.safetensors", "*.safetensors.index.json")
TOKENISER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
)


def model_folder(name: str, files: Sequence[str], what: str, article: str = "a") -> Path:
    """The folder of a model: `name` itself where it is one, a snapshot of these files from the hub otherwise.

    `what` is the word for it in errors: encoder, translator, backbone.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = download(name, files, what, article)
    if not (folder / "config.json").exists():
        raise UserError(f"{name}: no {what} is there (a folder with config.json and model.safetensors is one)")
    if not any(folder.glob("*.safetensors")):
        raise UserError(f"{name}: has no weights in safetensors, and other formats are not read; choose another {what}")
    return folder


def needs(what: str, article: str = "a") -> UserError:
    return UserError(f"{article} {what} needs transformers: pip install 'groundling[hub]'")


def transformers(what: str, article: str = "a") -> Any:
    """The library, without its reports and progress bars; `what` needs it, where it is not installed."""
    _leave_out_broken_torchvision()
    try:
        library = importlib.import_module("transformers")
    except ImportError:
        raise needs(what, article) from None
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    return library


def _leave_out_broken_torchvision() -> None:
    """A torchvision that was built for another torch cannot be imported, and takes all of transformers with it. We do
    not need it, and transformers does without it where there seems to be none."""
    if "torchvision" in sys.modules or importlib.util.find_spec("torchvision") is None:
        return
    try:
        importlib.import_module("torchvision")
    except Exception:  # RuntimeError, OSError, ImportError: it says "operator torchvision::nms does not exist"
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules["torchvision"] = None  # type: ignore[assignment]  # how Python marks what is not there


def quiet() -> None:
    """No progress bars of transformers' own: loading takes a moment, and ours are for what takes longer."""
    from transformers.utils import logging

    logging.disable_progress_bar()


def download(name: str, files: Sequence[str], what: str, article: str = "a") -> Path:
    """A snapshot of these files of a model on the hub."""
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise UserError(f"{name}: no such folder")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise needs(what, article) from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(files)))
    except Exception as error:  # the hub's own errors, and those of every network library below it
        raise UserError(
            f'{what} "{name}" is not a folder and cannot be had from the hub ({first_line(error)}); '
            "give the folder of a copy"
        ) from None


def fingerprint(folder: Path, files: Sequence[str]) -> str:
    """SHA-256 over the names and contents of the files of a model."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in files for path in folder.glob(pattern)}):
        with path.open("rb") as file:
            digest.update(f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
