"""The two sides of a ranking, pictures and captions, as rows that are scored in float32 or float64."""

import math

import torch
from torch import Tensor

from groundling.errors import UserError
from groundling.threads import Each


class Side:
    """The pictures or the captions: rows in any precision, and what the error bound needs to know of them.

    Vectors whose numbers are very large or very small are scaled by a power of two, which changes no rank, so that no
    product leaves the range of float32.
    """

    def __init__(self, vectors: Tensor, name: str, each: Each) -> None:
        self.vectors, self.name, self.factor = vectors, name, 1.0
        narrow = vectors.dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16)
        self.dtype = torch.float32 if narrow else torch.float64
        at_once = 1000 if vectors.device.type == "cpu" else 2**16
        self.parts = parts_of(slice(0, len(vectors)), at_once)
        self.peak = max(each(self.peak_of, self.parts))

    def scale(self, peak: float, each: Each) -> None:
        if peak and not 2.0**-20 <= peak <= 2.0**20:
            self.factor = 2.0 ** -math.frexp(peak)[1]
        self.whole = self.is_whole(self.parts[0]) and all(each(self.is_whole, self.parts))
        self.norms = torch.cat(list(each(self.norms_of, self.parts)))

    def rows(self, which: slice | Tensor, dtype: torch.dtype) -> Tensor:
        rows = self.vectors[which] if isinstance(which, slice) else self.vectors.index_select(0, which)
        return rows.to(dtype) if self.factor == 1 else (rows.double() * self.factor).to(dtype)

    @property
    def narrow(self) -> bool:
        """Whether float32 holds all rows as they are."""
        return self.dtype == torch.float32 and self.factor == 1

    def floats(self) -> Tensor:
        """All rows in floating point, where these are narrow; a copy only of whole numbers."""
        return self.vectors.detach() if self.vectors.is_floating_point() else self.vectors.float()

    def exact(self, which: Tensor) -> Tensor:
        """These rows, in a precision that loses nothing."""
        return self.rows(which, torch.float32 if self.narrow else torch.float64)

    def kinds(self, part: slice) -> tuple[Tensor, Tensor]:
        """Equal vectors are of one kind: the kind of each row, and a row that is an example of each kind."""
        distinct, kind = torch.unique(self.rows(part, torch.float64), dim=0, return_inverse=True)
        rows = torch.arange(part.start, part.stop, device=kind.device)
        return kind, torch.empty_like(rows[: len(distinct)]).scatter_(0, kind, rows)

    def peak_of(self, part: slice) -> float:
        rows = self.rows(part, self.dtype)
        low, high = (float(extreme) for extreme in torch.aminmax(rows))
        if not (math.isfinite(low) and math.isfinite(high)):
            row = part.start + int((~rows.isfinite()).any(dim=1).nonzero()[0, 0])
            raise UserError(f"{self.name}: row {row} holds a number that is not finite (NaN or infinity)")
        return max(-low, high)

    def is_whole(self, part: slice) -> bool:
        rows = self.rows(part, self.dtype)
        return bool((rows == rows.round()).all())

    def norms_of(self, part: slice) -> Tensor:
        norms = torch.linalg.vector_norm(self.rows(part, self.dtype), dim=1)
        return norms.double().clamp_(min=2.0**-30)  # any smaller, and the error bound would have to mind underflow


def parts_of(rows: slice, size: int) -> list[slice]:
    """Slices of at most so many rows."""
    return [slice(start, min(start + size, rows.stop)) for start in range(rows.start, rows.stop, size)]
