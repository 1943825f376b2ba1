"""The tokeniser of a pretrained encoder, from the hub or from a folder. Needs the extra `hub`.

Nothing that can run code is ever read: safetensors and JSON only, no remote code. A run keeps the name of the encoder
and a fingerprint of its files, and refuses an encoder that has changed since.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.tokens import Tokens, pad

# The files an encoder consists of; a repository may hold its weights in other formats too.
FILES = (
    "config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
)
NEEDS = "a pretrained encoder needs transformers: pip install 'groundling[hub]'"


def encoder_folder(name: str) -> Path:
    """The folder of an encoder: `name` itself where it is one, a snapshot from the hub otherwise."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        folder = _download(name)
    if not (folder / "config.json").exists():
        raise UserError(f"{name}: no encoder is there (a folder with config.json and model.safetensors is one)")
    if not any(folder.glob("*.safetensors")):
        raise UserError(
            f"{name}: has no weights in safetensors, and other formats are not read; choose another encoder"
        )
    return folder


def _download(name: str) -> Path:
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise UserError(f"{name}: no such folder")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise UserError(NEEDS) from None
    try:
        return Path(snapshot_download(name, allow_patterns=list(FILES)))
    except Exception as error:  # the hub's own errors, and those of every network library below it
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise UserError(
            f'encoder "{name}" is not a folder and cannot be had from the hub ({first[0]}); give the folder of a copy'
        ) from None


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of the files of an encoder."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in FILES for path in folder.glob(pattern)}):
        with path.open("rb") as file:
            digest.update(f"{path.name}:{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class HubTokeniser:
    """Word pieces with the encoder's own symbols around them; `maximum_length` counts pieces.

    Attributes:
        encoder: the name it was asked for by.
        folder: where its files are now.
        fingerprint: of its files.
    """

    encoder: str
    folder: Path = field(compare=False)
    fingerprint: str
    settings: TextSettings
    pieces: Any = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        return len(self.pieces)

    @staticmethod
    def build(encoder: str, settings: TextSettings) -> "HubTokeniser":
        folder = encoder_folder(encoder)
        try:
            from transformers import AutoTokenizer
        except ImportError:
            raise UserError(NEEDS) from None
        try:
            pieces = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{encoder}: its tokeniser cannot be read ({_first(error)})") from None
        return HubTokeniser(encoder, folder, fingerprint(folder), settings, pieces)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        longest = min(self.settings.maximum_length + 2, self.pieces.model_max_length)
        if not texts:
            return pad([])
        return pad(self.pieces(list(texts), truncation=True, max_length=longest)["input_ids"])

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "hub",
            "encoder": self.encoder,
            "fingerprint": self.fingerprint,
            "settings": self.settings.model_dump(),
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> "HubTokeniser":
        made = HubTokeniser.build(value["encoder"], TextSettings(**value["settings"]))
        if made.fingerprint != value["fingerprint"]:
            raise UserError(
                f"{made.encoder}: the encoder is not the one this model was trained with (fingerprint "
                f"{made.fingerprint[:12]}, not {value['fingerprint'][:12]}); put the old files back"
            )
        return made


def _first(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
