"""The files of a pretrained model: a folder, or a copy from the hub; JSON, vocabularies and safetensors only."""

import hashlib
from pathlib import Path
from typing import Any

from groundling import hub
from groundling.errors import UserError

PATTERNS = ("*config*.json", "modules.json", *hub.WEIGHTS, *hub.TOKENISER)
FILES = (*PATTERNS, *(f"*/{pattern}" for pattern in PATTERNS))  # sentence-transformers has a folder for each part
WHAT = "pretrained model"


def model_folder(name: str) -> Path:
    """The folder of a model: `name` itself where it is one, a snapshot from the hub otherwise."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists() or name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise UserError(
            f"{name}: neither the folder of a run or of a pretrained model, nor a name on the hub (OWNER/MODEL)"
        )
    return hub.download(name, FILES, WHAT)


def check_weights(folder: Path, name: str) -> None:
    """An error where a folder has no weights that are read here."""
    if not (folder / "config.json").exists():
        raise UserError(f"{name}: no model is there (neither a run with recipe.json nor a folder with config.json)")
    if not any(folder.glob("*.safetensors")):
        raise UserError(f"{name}: has no weights in safetensors, and other formats are not read; choose another model")


def read(kind: Any, folder: Path, name: str, **options: Any) -> Any:
    """`kind.from_pretrained`, offline, without code of others; what cannot be read is the user's to know."""
    try:
        return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:  # a damaged folder makes every layer below raise something of its own
        what = kind.__name__.removeprefix("Auto").lower()
        raise UserError(f"{name}: its {what} cannot be read ({hub.first_line(error)})") from None


def fingerprint(*folders: Path) -> str:
    """SHA-256 over the names and contents of the files that make up a model of one or two folders."""
    return hashlib.sha256("".join(hub.fingerprint(folder, FILES) for folder in folders).encode()).hexdigest()
