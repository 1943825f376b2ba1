"""Captions as the text side of a pretrained model reads them. Needs the extra `hub`.

The side itself (`model.sides.TextSide`) cuts texts as its makers did. It is opened by name, from the copy of its files
that a run keeps: what stands above encoders knows how.
"""

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from groundling import hub
from groundling.encoders.tokenisers.piece_rules import piece_rules
from groundling.encoders.tokenisers.pieces import PieceTokeniser
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, TokenizerRules, Tokens

OPENER = "groundling.model.copied_sides"
MASK = "attention_mask"


def open_side(folder: Path, alone: bool) -> Any:
    """A `model.sides.TextSide`, on the CPU, with weights of its own."""
    return importlib.import_module(OPENER).text_side(folder, alone)


def piece_tokeniser(said: Any, prompt: str | None = None) -> dict[str, Any]:
    """JSON of the `PieceTokeniser` that cuts as the `model.sides.TextRules` of a text side say."""
    return {
        "kind": PieceTokeniser.kind,
        "rules": said.rules,
        "longest": said.longest,
        "prompt": said.prefix + (prompt or "{}"),
        "small_letters": said.small_letters,
        "clean": said.clean,
    }


@dataclass(frozen=True)
class SideTokeniser(Tokeniser):
    """What a text side is given of a text.

    Attributes:
        model: the name that the side was asked for by.
        folder: where its files are now, and a `fingerprint` of what decides its vectors.
        side: the text side.
        prompt: what a text is put into before it is read, such as "a photo of {}"; None: it is read as it is.
        alone: whether these are the files of a text encoder, not of a pair.
    """

    kind: ClassVar[str] = "side"
    pretrained: ClassVar[bool] = True
    exports_entries: ClassVar[bool] = False  # padding that its makers have read along is added by the graph
    model: str
    folder: Path = field(compare=False)
    fingerprint: str
    side: Any = field(repr=False, compare=False)
    prompt: str | None = None
    alone: bool = False
    settings: TextSettings = field(default=TextSettings(), init=False, compare=False)

    @property
    def size(self) -> int:
        return int(self.side.tokeniser.vocab_size) if self.pieces is None else len(self.pieces)

    @cached_property
    def pieces(self) -> Any:
        """The tokeniser of transformers that cuts for the side, or for a part of it; None: open_clip's own cuts."""
        part = self.side
        while not hasattr(part, "pieces"):
            inner = next((name for name in ("first", "encoder") if hasattr(part, name)), None)
            if inner is None:
                return getattr(getattr(part, "tokeniser", None), "tokenizer", None)
            part = getattr(part, inner)
        return part.pieces

    @property
    def padding(self) -> int:
        """The piece that its makers fill up with."""
        return 0 if self.pieces is None else int(self.pieces.pad_token_id or 0)

    @property
    def symbols(self) -> Sequence[int]:
        if self.pieces is None:
            return ()
        return [row for row in self.pieces.all_special_ids if row != self.pieces.unk_token_id]

    @property
    def inside(self) -> str:
        """What the copy of its files is called in a run."""
        return hub.copy_name(self.model, self.fingerprint)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        if not len(texts):
            return Tokens(np.zeros((0, 1), dtype=np.int32), np.zeros(0, dtype=np.int64))
        given = self.side.tokens([self._asked(text) for text in texts])
        ids = next(iter(given.values())).numpy()
        mask = given[MASK].numpy() if MASK in given else np.ones_like(ids)
        lengths = mask.sum(axis=1).astype(np.int64)
        return Tokens(np.where(mask, ids, 0)[:, : lengths.max()].astype(np.int32), lengths)

    def _asked(self, text: str) -> str:
        return text if self.prompt is None else self.prompt.replace("{}", text)

    def exported(self) -> dict[str, object]:
        """Its rules as data; an error where its makers have them as code."""
        return piece_tokeniser(self.side.text_rules(), self.prompt)

    def tokenizer_rules(self) -> TokenizerRules:
        if self.prompt is not None:
            raise UserError(f"{self.model}: reads texts inside of a prompt, which no tokenizer.json can say")
        return piece_rules(self.side.text_rules())

    def known_words(self, words: Iterable[str]) -> set[str] | None:
        """Those that are spelled without an unknown piece."""
        if self.pieces is None:
            return None
        unknown = self.pieces.unk_token_id
        return {word for word in words if unknown not in self.pieces(word, add_special_tokens=False)["input_ids"]}

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "model": self.model,
            "fingerprint": self.fingerprint,
            "inside": self.inside,
            "prompt": self.prompt,
            "alone": self.alone,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        folder = Path(value["folder"])  # KeyError where the run has lost its copy
        side = open_side(folder, value["alone"])
        return cls(value["model"], folder, value["fingerprint"], side, value["prompt"], value["alone"])
