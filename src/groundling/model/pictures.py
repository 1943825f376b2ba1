"""A picture as people have it, a file, its bytes, a Pillow image or an array, as a model is given it."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from groundling.errors import UserError
from groundling.progress import bar

Picture = str | Path | bytes | Image.Image | npt.NDArray[Any]
Prepared = list[npt.NDArray[Any]]

PICTURES_AT_ONCE = 64


def as_list(pictures: Picture | Iterable[Picture]) -> list[Picture]:
    """One picture or many, as a list. An array of four dimensions is many."""
    if isinstance(pictures, np.ndarray):
        return [pictures] if pictures.ndim in (2, 3) else list(pictures)
    if isinstance(pictures, str | Path | bytes | Image.Image):
        return [pictures]
    return list(pictures)


def named_bytes(picture: Picture) -> tuple[str, bytes]:
    """What to call the picture in an error, and the bytes of a file that holds it."""
    if isinstance(picture, bytes):
        return "the picture", picture
    if isinstance(picture, str | Path):
        try:
            return str(picture), Path(picture).expanduser().read_bytes()
        except OSError as error:
            raise UserError(f"{picture}: cannot be read ({error.strerror})") from None
    image = _from_array(picture) if isinstance(picture, np.ndarray) else picture
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    return "the picture", buffer.getvalue()


def prepared_portions(
    pictures: Sequence[Picture], preparation: Callable[[bytes], npt.NDArray[Any]]
) -> Iterator[Prepared]:
    """The arrays that a model is given of many pictures, in portions, with a bar of progress.

    Files and bytes are decoded in processes of their own: nobody knows who made them.
    """
    from groundling.decoding.workers import shared

    with bar("Pictures", len(pictures)) as progress:
        for start in range(0, len(pictures), PICTURES_AT_ONCE):
            some = pictures[start : start + PICTURES_AT_ONCE]
            yield shared().named_arrays(map(named_bytes, some), preparation)
            progress.advance(len(some))


def _from_array(array: npt.NDArray[Any]) -> Image.Image:
    """[height, width], or with 3 or 4 colours: whole numbers from 0 to 255, or fractions of full brightness."""
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or not array.size:
        raise UserError(f"an array of shape {list(array.shape)} is no picture; [height, width, 3] is one")
    if np.issubdtype(array.dtype, np.floating):
        array = np.round(np.clip(array, 0, 1) * 255)
    elif array.min() < 0 or array.max() > 255:
        raise UserError("an array of whole numbers is a picture where they are from 0 to 255")
    return Image.fromarray(np.ascontiguousarray(array, dtype=np.uint8))
