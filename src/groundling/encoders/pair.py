"""A text encoder and a picture encoder, and what is trained beside them."""

from torch import nn

from groundling.encoders.picture.base import PictureEncoder
from groundling.encoders.text.base import TextEncoder


class Encoders(nn.Module):
    """A text encoder and a picture encoder into one space.

    `parts` are trained together with them, and only training needs them: a classifier of languages, for example.
    """

    judges: bool = False  # whether there is a head that tells if a sentence is true of a picture
    frozen: tuple[str, ...] = ()

    def __init__(self, text: TextEncoder, picture: PictureEncoder, **parts: nn.Module | nn.Parameter) -> None:
        super().__init__()
        self.text: TextEncoder = text
        self.picture: PictureEncoder = picture
        for name, part in parts.items():
            setattr(self, name, part)


class JudgingEncoders(Encoders):
    """Encoders with a head that tells whether a sentence is true of a picture, from the vectors of both.

    Encoders in `frozen` ("text", "picture") get no gradient and stay in evaluation mode, as do their statistics.
    """

    judges = True

    def __init__(
        self, text: TextEncoder, picture: PictureEncoder, head: nn.Module, frozen: tuple[str, ...] = ()
    ) -> None:
        super().__init__(text, picture)
        self.add_module("verdict", head)  # so it is called in saved weights
        self.frozen = frozen
        for name in frozen:
            self.get_submodule(name).requires_grad_(False)

    @property
    def head(self) -> nn.Module:
        """[n, dimensions] sentences and [n, …] pictures, row by row → [n, 3] logits"""
        return self.get_submodule("verdict")

    def train(self, mode: bool = True) -> "JudgingEncoders":
        super().train(mode)
        for name in self.frozen:
            self.get_submodule(name).eval()
        return self
