"""Models of other people: a folder, or a snapshot from the Hugging Face hub. Needs the extra `hub`.

Nothing that can run code is ever read: safetensors and JSON only, no remote code.
"""

import hashlib
import importlib
import importlib.util
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from groundling.checksums import sha256
from groundling.errors import UserError, path_meant
from groundling.files import new_folder, read_json, write_json

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
ALL = (
    *(f"{below}*.{ending}" for below in ("", "*/") for ending in ("json", "txt", "model", "safetensors", "bin")),
    "README.md",
)  # which says under which licence it is
KEPT = "pretrained"  # the folder of a run that holds copies of other people's models
DIGESTS = "digests.json"  # in such a copy: the SHA-256 of its files, which need not be read again to be known


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


def transformers(what: str, article: str = "a") -> Any:
    """The library, without its reports and progress bars; `what` needs it, where it is not installed."""
    broken_torchvision()
    try:
        library = importlib.import_module("transformers")
    except ImportError:
        raise _needs(what, article) from None
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    return library


def _needs(what: str, article: str) -> UserError:
    return UserError(f"{article} {what} needs transformers: pip install 'groundling[hub]'")


@cache
def broken_torchvision() -> str | None:
    """Why torchvision cannot be imported, where it is installed and cannot: it was built for another torch.

    It would take all of transformers with it, which does without it where there is none; from here on there is none.
    """
    if "torchvision" in sys.modules or importlib.util.find_spec("torchvision") is None:
        return None
    try:
        importlib.import_module("torchvision")
    except Exception as error:  # RuntimeError: operator torchvision::nms does not exist
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules["torchvision"] = None  # type: ignore[assignment]  # how Python marks what cannot be imported
        return first_line(error)
    return None


def download(name: str, files: Sequence[str], what: str, article: str = "a") -> Path:
    """A snapshot of these files of a model on the hub."""
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise UserError(f"{name}: no such folder")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise _needs(what, article) from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(files)))
    except Exception as error:  # the hub's own errors, and those of every network library below it
        near = path_meant(Path(name))
        raise UserError(
            f'{what} "{name}" is not a folder{near} and cannot be had from the hub ({_why_not(error)}); '
            "give the folder of a copy"
        ) from None


def _why_not(error: Exception) -> str:
    """In words, for the two that everybody meets: no way to the hub, and no such name there."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ConnectionError"}:
        return "which cannot be reached from here"
    if "RepositoryNotFoundError" in kinds:
        return "which has no such model, or shows it to its owners only"
    return first_line(error)


def fingerprint(folder: Path, files: Sequence[str]) -> str:
    """SHA-256 over the names and contents of the files of a model."""
    known = read_json(folder / DIGESTS) if (folder / DIGESTS).exists() else {}
    digest = hashlib.sha256()
    for path in _matching(folder, files):
        found = known.get(path.relative_to(folder).as_posix()) or sha256(path)
        digest.update(f"{path.name}:{found}\n".encode())
    return digest.hexdigest()


def keep(source: Path, folder: Path, files: Sequence[str]) -> None:
    """Copy these files of a model into a run, once, so that the run needs no other folder.

    Their digests are noted beside them: a copy that belongs to a run does not change.
    """
    if folder.exists():
        return
    chosen = _matching(source, files)
    if any(path.suffix == ".safetensors" for path in chosen):
        chosen = [path for path in chosen if path.suffix != ".bin"]  # the same once more
    noted = read_json(source / DIGESTS) if (source / DIGESTS).exists() else {}
    with new_folder(folder) as place:
        digests = {}
        for path in chosen:
            name = path.relative_to(source).as_posix()
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place / name)
            digests[name] = noted.get(name) or sha256(path)
        write_json(place / DIGESTS, digests)


def copy_name(name: str, fingerprint: str) -> str:
    """What a copy of a model is called in a run."""
    plain = re.sub(r"[^\w.-]+", "-", Path(name).name, flags=re.ASCII).strip("-.") or "model"
    return f"{plain}-{fingerprint[:8]}"


def placed(saved: Any, run: Path) -> Any:
    """JSON of a run in which copies of models say where they lie now: below the folder of the run.

    What is there under "inside" is the name of the copy; where it is missing, as in older runs, nothing is said.
    """
    if isinstance(saved, list):
        return [placed(value, run) for value in saved]
    if not isinstance(saved, Mapping):
        return saved
    found = {key: placed(value, run) for key, value in saved.items()}
    name = found.get("inside")
    if isinstance(name, str) and name == Path(name).name and (run / KEPT / name).is_dir():
        found["folder"] = str((run / KEPT / name).resolve())
    return found


def _matching(folder: Path, files: Sequence[str]) -> list[Path]:
    return sorted({path for pattern in files for path in folder.glob(pattern) if path.name != DIGESTS})


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
