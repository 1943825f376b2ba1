"""A pretrained model: a picture side and a text side that were made for each other, of one checkpoint or of two.

With a text side of its own work the multilingual CLIPs of sentence-transformers (Reimers & Gurevych 2020, "Making
monolingual sentence embeddings multilingual using knowledge distillation", https://arxiv.org/abs/2004.09813) and M-CLIP
(Carlsson et al. 2022, https://aclanthology.org/2022.lrec-1.739/), whose text encoders were taught CLIP's space.
"""

import hashlib
import io
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy.typing as npt
from PIL import Image

from groundling import hub, systems
from groundling.decoding.structure import PictureError
from groundling.encoders.tokenisers.side import SideTokeniser
from groundling.errors import UserError
from groundling.model.parameter_sizes import sizes_by_side
from groundling.model.prompt import checked_prompt
from groundling.model.protocol import Model
from groundling.model.sides import GPU_BATCH, PictureSide, TextSide
from groundling.model.snapshot import fingerprint
from groundling.model.vectors import Vectors
from groundling.settings import CorpusSettings, Recipe
from groundling.systems import Start
from groundling.systems.plan import NO_CORPUS, PretrainedPictures


class PretrainedModel(Model):
    """See `protocol.Model`. The networks are loaded with the first text or picture.

    Attributes:
        pictures, text: its sides.
        prompt: what a text is put into before it is read, such as "a photo of {}"; None where it is read as it is.
    """

    kind = "pretrained"
    asks_language = False

    def __init__(self, pictures: PictureSide, text: TextSide, prompt: str | None = None) -> None:
        if text.dimensions != pictures.dimensions:
            raise UserError(
                f"{text.name} gives vectors of {text.dimensions} numbers, but {pictures.name} of "
                f"{pictures.dimensions}: they were not made for each other"
            )
        self.pictures, self.text = pictures, text
        self.prompt = None if prompt is None else checked_prompt(prompt)
        self.name, self.backbone, self.device = pictures.name, pictures.backbone, pictures.device
        self.text_name = None if text.name == pictures.name else text.name
        self.batch = GPU_BATCH if self.device.type == "cuda" else 1
        self.languages = []  # not known: no checkpoint says

    def as_start(self) -> Start:
        """The pair as it is: system `tuned` with nothing trained."""
        frozen = {"adapter": "frozen"}
        system = systems.make({"name": "tuned", "start": self.name, "text": frozen, "picture": frozen})
        tokeniser = SideTokeniser(
            self.text.name,
            self.text.folder,
            self.text_fingerprint,
            self.text,
            self.prompt,
            alone=self.text.folder != self.pictures.folder,
        )
        return Start(
            system,
            tokeniser,
            system.encoders(tokeniser, self.dimensions).to(self.device).eval(),
            tuple(self.languages),
            Recipe(name=hub.copy_name(self.name, "")[:-1], corpus=CorpusSettings(name=NO_CORPUS)),
            self.encode_text,
            self.text_fingerprint,
            PretrainedPictures(self.name, self.pictures.folder, self.picture_fingerprint),
        )

    @property
    def dimensions(self) -> int:
        return self.pictures.dimensions

    @cached_property
    def fingerprint(self) -> str:
        return self._with_prompt(fingerprint(*dict.fromkeys((self.pictures.folder, self.text.folder))))

    @cached_property
    def text_fingerprint(self) -> str:
        return self._with_prompt(self.text.fingerprint)

    @property
    def picture_fingerprint(self) -> str:
        return self.pictures.fingerprint

    def _with_prompt(self, digest: str) -> str:
        return digest if self.prompt is None else hashlib.sha256(f"{digest}\n{self.prompt}".encode()).hexdigest()

    @property
    def parameter_sizes(self) -> dict[str, int]:
        return {
            path: size
            for side, name in ((self.text, "text."), (self.pictures, "picture."))
            for path, size in sizes_by_side(side.network.named_parameters()).items()
            if path.startswith(name)  # a network may hold the other side, too
        }

    def load_picture_side(self) -> None:
        blank = io.BytesIO()
        Image.new("RGB", (64, 64)).save(blank, "PNG")
        try:
            self.encode_prepared([self.preparation(blank.getvalue())])
        except (PictureError, ValueError, RuntimeError) as error:  # its files are not made for each other
            raise UserError(f"{self.name}: this model cannot look at pictures ({hub.first_line(error)})") from None

    @property
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:
        return self.pictures.preparation

    def encode_prepared(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.pictures.encode(prepared)

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        if self.prompt is not None:
            texts = [self.prompt.replace("{}", text) for text in texts]
        return self.text.encode(texts, batch_size)
