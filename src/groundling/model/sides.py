"""The two sides of a pretrained pair: what reads text, and what looks at pictures.

Each gives the vectors that its makers' own code gives (`vectors`, with gradients, not normalised), so that it can be
trained on, exported and compared; `encode` is the same as unit vectors, in batches.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.errors import UserError
from groundling.model.vectors import Vectors

if TYPE_CHECKING:
    from groundling.encoders.text.base import PooledParts

Inputs = dict[str, Tensor]  # what a network is called with, by name; the first dimension is that of the batch
GPU_BATCH = 32  # pictures at once


@dataclass(frozen=True)
class TextRules:
    """How texts become rows of tokens, as data, so that an exported model does the same without its library.

    Attributes:
        rules: of the tokeniser, as the package `tokenizers` writes them.
        longest: tokens that are read of a text, with the marks at its ends.
        pad: the token that fills up shorter texts.
        padded: whether every text is filled up to `longest`.
        masked: whether the network is told which tokens are padding.
        small_letters: whether texts are read in small letters.
        prefix: what every text begins with.
        clean: how texts are mended before that (see `text.cleaning`); "": they are not.
    """

    rules: str
    longest: int
    pad: int
    padded: bool = False
    masked: bool = True
    small_letters: bool = False
    prefix: str = ""
    clean: str = ""


@dataclass(frozen=True)
class Cutting:
    """How a picture becomes a square of colours: its short side to `resize`, the middle cut out, colours normalised.

    Attributes:
        size: of the square.
        resize: of the short side before it is cut out.
        stretch: whether all of the picture becomes the square instead.
        resample: how pixels are interpolated.
        mean, std: of the colours, from 0 to 1.
        like: whose arithmetic it is; they do not agree where the middle of an odd number of pixels is.
    """

    size: int
    resize: int
    stretch: bool
    resample: Literal["bicubic", "bilinear"]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    like: Literal["transformers", "torchvision"] = "transformers"


class Side(ABC):
    """
    Attributes:
        name: what it was asked for by.
        folder: where its files are.
        device: where it computes.
    """

    name: str
    folder: Path
    device: torch.device

    @property
    @abstractmethod
    def network(self) -> nn.Module:
        """Loaded when first asked for, in evaluation mode; it may hold the other side, too."""

    @property
    @abstractmethod
    def dimensions(self) -> int: ...

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Of what decides the vectors of this side."""

    @abstractmethod
    def vectors(self, inputs: Inputs) -> Tensor:
        """[n, dimensions] of inputs on the device, as the makers' own code has them: not normalised."""

    def on_device(self, inputs: Inputs) -> Inputs:
        return {name: value.to(self.device) for name, value in inputs.items()}

    @torch.inference_mode()
    def unit_vectors(self, inputs: Inputs) -> Vectors:
        return cast(Vectors, normalize(self.vectors(self.on_device(inputs)).float(), dim=1).cpu().numpy())


class TextSide(Side):
    """
    Class attributes:
        takes: what the network calls the tokens that it is given.
        format: the library whose files it is read from.
    """

    takes: ClassVar[str] = "input_ids"
    format: ClassVar[str] = "transformers"

    @abstractmethod
    def tokens(self, texts: Sequence[str]) -> Inputs:
        """What the network is given of these texts: cut, padded and spelled as its makers did."""

    def text_rules(self) -> TextRules:
        """What `tokens` does, as data; an error that says why, where that cannot be told."""
        raise UserError(f"{self.name}: what reads text here is code, not data, so that it cannot be exported")

    def pooled_parts(self) -> "PooledParts | None":
        """The same in parts that sentence-transformers has modules for; None where its files are such modules already,
        or there are none."""
        return None

    def encode(self, texts: Sequence[str], batch_size: int = 512) -> Vectors:
        """[texts, dimensions] unit vectors. Texts of like length go together; they come back in their own order."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            vectors[rows] = self.unit_vectors(self.tokens([texts[row] for row in rows]))
        return vectors


class PictureSide(Side):
    """
    Attributes:
        backbone: what looks at the pictures, in a word.

    Class attributes:
        takes: what the network calls the colours that it is given.
    """

    backbone: str
    takes: ClassVar[str] = "pixel_values"

    @property
    @abstractmethod
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:
        """See `protocol.Model.preparation`."""

    @abstractmethod
    def inputs(self, prepared: Sequence[npt.NDArray[Any]]) -> Inputs:
        """What the network is given of these pictures: cut and normalised as its makers did."""

    def cutting(self) -> Cutting:
        """What `preparation` and `inputs` do, as data; an error that says why, where that cannot be told."""
        raise UserError(f"{self.name}: cuts pictures in a way of its own, so that it cannot be exported")

    def encode(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        """[pictures, dimensions] unit vectors."""
        return self.unit_vectors(self.inputs(prepared))
