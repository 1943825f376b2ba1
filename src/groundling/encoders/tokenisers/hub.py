"""The tokeniser of a pretrained encoder, from the hub or from a folder. Needs the extra `hub`.

Nothing that can run code is ever read: safetensors and JSON only, no remote code. A run keeps the name of the encoder
and a fingerprint of its files, and refuses an encoder that has changed since.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from groundling import hub
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.tokens import Tokens, pad

FILES = (*hub.WEIGHTS, *hub.TOKENISER)


def encoder_folder(name: str) -> Path:
    """The folder of an encoder: `name` itself where it is one, a snapshot from the hub otherwise."""
    return hub.model_folder(name, FILES, "encoder", "a pretrained")


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of the files of an encoder."""
    return hub.fingerprint(folder, FILES)


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
            raise hub.needs("encoder", "a pretrained") from None
        try:
            pieces = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise UserError(f"{encoder}: its tokeniser cannot be read ({hub.first_line(error)})") from None
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
