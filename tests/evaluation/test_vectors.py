"""Vectors from files: the same numbers for every type that holds them, and one sentence for every mistake."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from groundling.errors import UserError
from groundling.evaluation.ranks import ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.vectors import evaluate_vectors

PICTURES = np.array([[1, 0, 2], [0, 1, 1], [3, 1, 0]])
CAPTIONS = np.array([[1, 0, 1], [0, 2, 1], [1, 1, 0], [2, 0, 0]])
OWNERS = np.array([0, 1, 1, 2])


def saved(folder: Path, **arrays: npt.NDArray[Any]) -> tuple[Path, Path, Path]:
    values = {"P": PICTURES, "C": CAPTIONS, "O": OWNERS, **arrays}
    for name, array in values.items():
        np.save(folder / f"{name}.npy", array)
    return folder / "P.npy", folder / "C.npy", folder / "O.npy"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ">f4", np.int8, np.uint16, np.int64])
def test_any_type_of_number(tmp_path: Path, dtype: Any) -> None:
    found = evaluate_vectors(*saved(tmp_path, P=PICTURES.astype(dtype), C=np.asfortranarray(CAPTIONS.astype(dtype))))
    assert found == recalls(ranks(PICTURES, CAPTIONS, OWNERS))


NOT_A_NUMBER = np.where(np.arange(12).reshape(4, 3) == 7, np.nan, 1.0)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"O": np.array([0, 1, 3, 2])}, "{O}: row 2 is 3, but {P} has 3 pictures, rows 0 to 2"),
        ({"O": np.array([0, -1, 1, 2])}, "{O}: row 1 is -1, but {P} has 3 pictures, rows 0 to 2"),
        (
            {"O": OWNERS.astype(float)},
            "{O} holds float64 values, where the row of each caption's picture is a whole number",
        ),
        ({"O": OWNERS[:3]}, "{O} has the shape 3, but {C} has 4 captions: give one row for each"),
        ({"P": PICTURES[0]}, "{P} has 1 dimension(s) (3), where one vector per row is needed"),
        ({"C": CAPTIONS[:, :2]}, "{P} has vectors of 3 dimensions but {C} of 2: encode both with the same model"),
        ({"C": NOT_A_NUMBER}, "{C}: row 2 holds a number that is not finite (NaN or infinity)"),
        ({"P": np.array([["a", "b", "c"]])}, "{P} holds <U1 values, where vectors are floating point or whole numbers"),
        ({"P": np.zeros((0, 3))}, "{P} is empty (0 × 3): there is nothing to rank"),
        ({"P": np.array([[None]])}, "{P}: holds Python objects, where an array of plain numbers is needed"),
    ],
)
def test_mistakes_in_arrays(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    paths = dict(zip("PCO", saved(tmp_path, **arrays), strict=True))
    with pytest.raises(UserError) as raised:
        evaluate_vectors(*paths.values())
    assert str(raised.value) == words.format(**paths)


def test_mistakes_in_files(tmp_path: Path) -> None:
    pictures, captions, owners = saved(tmp_path)
    whole = pictures.read_bytes()
    for content, words in [
        (b"PK\3\4 an npz, say", "not an .npy file (numpy.save writes one)"),
        (b"", "not an .npy file (numpy.save writes one)"),
        (whole[:20], "a damaged .npy file"),
        (whole[:-8], "a damaged .npy file"),
        (whole.replace(b"}", b" "), "a damaged .npy file"),
    ]:
        pictures.write_bytes(content)
        with pytest.raises(UserError) as raised:
            evaluate_vectors(pictures, captions, owners)
        assert str(raised.value).startswith(f"{pictures}: {words}")
        assert "\n" not in str(raised.value)
    pictures.unlink()
    with pytest.raises(UserError, match="no such file"):
        evaluate_vectors(pictures, captions, owners)
    with pytest.raises(UserError, match="cannot be read"):
        evaluate_vectors(tmp_path, captions, owners)
