"""The tokeniser of a pretrained encoder, from the hub or from a folder. Needs the extra `hub`.

Nothing that can run code is ever read: safetensors and JSON only, no remote code. A run keeps copies of the files that
it needs (see `hub.keep`). Runs from before that have the name of the encoder and a fingerprint of its files alone, and
refuse an encoder that has changed since.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from groundling import hub
from groundling.encoders.tokenisers.pieces import PieceTokeniser
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, TokenizerRules, Tokens, pad

FILES = (*hub.WEIGHTS, *hub.TOKENISER)


def encoder_folder(name: str) -> Path:
    """The folder of an encoder: `name` itself where it is one, a snapshot from the hub otherwise."""
    return hub.model_folder(name, FILES, "encoder", "a pretrained")


def fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of the files of an encoder."""
    return hub.fingerprint(folder, FILES)


def load_pieces(folder: Path, name: str) -> Any:
    """The tokeniser of transformers that lies in a folder."""
    library = hub.transformers("encoder", "a pretrained")
    try:
        return library.AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{name}: its tokeniser cannot be read ({hub.first_line(error)})") from None


@dataclass(frozen=True)
class HubTokeniser(Tokeniser):
    """Word pieces with the encoder's own symbols around them; `maximum_length` counts pieces.

    Attributes:
        encoder: the name it was asked for by.
        folder: where its files are now.
        fingerprint: of its files.
    """

    kind: ClassVar[str] = "hub"
    pretrained: ClassVar[bool] = True
    encoder: str
    folder: Path = field(compare=False)
    fingerprint: str
    settings: TextSettings
    pieces: Any = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        return len(self.pieces)

    @property
    def symbols(self) -> Sequence[int]:
        return [row for row in self.pieces.all_special_ids if row != self.pieces.unk_token_id]

    @property
    def longest(self) -> int:
        """Pieces of a caption that are read, the encoder's own symbols around them included."""
        return int(min(self.settings.maximum_length + 2, self.pieces.model_max_length))

    @classmethod
    def build(cls, encoder: str, settings: TextSettings) -> Self:
        folder = encoder_folder(encoder)
        return cls(encoder, folder, fingerprint(folder), settings, load_pieces(folder, encoder))

    def keep(self, run: Path, weights: bool) -> None:
        """Copy into a run what this tokeniser is read from, and the encoder's configuration, or all of the encoder."""
        hub.keep(self.folder, run / hub.KEPT / self.inside, FILES if weights else ("config.json", *hub.TOKENISER))

    @property
    def inside(self) -> str:
        """What a copy of it is called in a run."""
        return hub.copy_name(self.encoder, self.fingerprint)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        if not texts:
            return pad([])
        return pad(self.pieces(list(texts), truncation=True, max_length=self.longest)["input_ids"])

    def spans(self, text: str, language: str) -> tuple[list[str], list[int]]:
        given = self.pieces(text, truncation=True, max_length=self.longest)
        numbers = given.word_ids()
        seen = [place for place, word in enumerate(numbers) if word is not None and word not in numbers[:place]]
        return [text[slice(*given.word_to_chars(numbers[place]))] for place in seen], seen

    def known_words(self, words: Iterable[str]) -> set[str]:
        """Those that are spelled without an unknown piece."""
        unknown = self.pieces.unk_token_id
        return {word for word in words if unknown not in self.pieces(word, add_special_tokens=False)["input_ids"]}

    def exported(self) -> dict[str, object]:
        """Its rules as data, so that the encoder's folder is not needed any more."""
        rules = getattr(self.pieces, "backend_tokenizer", None)
        if rules is None:
            raise UserError(f"{self.encoder}: its tokeniser is code, not data, so that it cannot be exported")
        return {"kind": PieceTokeniser.kind, "longest": self.longest, "rules": rules.to_str()}

    def tokenizer_rules(self) -> TokenizerRules:
        rules = str(self.exported()["rules"])
        return TokenizerRules(rules, str(self.pieces.pad_token), int(self.pieces.pad_token_id), self.longest)

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "encoder": self.encoder,
            "fingerprint": self.fingerprint,
            "inside": self.inside,
            "settings": self.settings.model_dump(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        if "folder" in value:  # a copy of its own, which is what it was
            folder, settings = Path(value["folder"]), TextSettings(**value["settings"])
            pieces = load_pieces(folder, value["encoder"])
            return cls(value["encoder"], folder, value["fingerprint"], settings, pieces)
        made = cls.build(value["encoder"], TextSettings(**value["settings"]))
        if made.fingerprint != value["fingerprint"]:
            raise UserError(
                f"{made.encoder}: the encoder is not the one this model was trained with (fingerprint "
                f"{made.fingerprint[:12]}, not {value['fingerprint'][:12]}); put the old files back"
            )
        return made
