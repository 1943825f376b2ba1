"""Recalls of anybody's vectors, from three NumPy files; other systems are compared with ours by this very code."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError
from groundling.evaluation.folds import fold_ranks, fold_recalls
from groundling.evaluation.results import RetrievalScores
from groundling.files import DAMAGED_ARRAY
from groundling.hub import first_line


def evaluate_vectors(pictures: Path, captions: Path, owners: Path, folds: int = 1) -> RetrievalScores:
    """Rank the vectors as they are, by their dot product (normalise them before, for cosines).

    Args:
        pictures: an .npy file of one vector per picture.
        captions: an .npy file of one vector per caption.
        owners: an .npy file of the row of each caption's picture.
        folds: equal parts of consecutive pictures that are ranked each by itself, and averaged.
    """
    names = str(pictures), str(captions), str(owners)
    picture_rows, caption_rows, owner_rows = (_load(path) for path in (pictures, captions, owners))
    found = fold_ranks(picture_rows, caption_rows, owner_rows, folds, names=names)
    return fold_recalls(found, np.asarray(owner_rows, dtype=np.int64), folds)


def _load(path: Path) -> npt.NDArray[np.generic]:
    """The array in the file, mapped rather than read, so that it may be larger than memory."""
    try:
        with path.open("rb") as file:
            magic = file.read(6)
        if magic != b"\x93NUMPY":
            raise UserError(f"{path}: not an .npy file (numpy.save writes one)")
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except DAMAGED_ARRAY as error:
        if "Python objects" in str(error):
            raise UserError(f"{path}: holds Python objects, where an array of plain numbers is needed") from None
        raise UserError(f"{path}: a damaged .npy file ({first_line(error)})") from None
    return array
