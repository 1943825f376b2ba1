"""The features of a corpus, in the order of its pictures: read from an array made elsewhere, or computed and cached."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from groundling.corpus.corpus import Corpus, Mask
from groundling.corpus.formats.text_lines import whole_text
from groundling.errors import UserError
from groundling.files import DAMAGED_ARRAY
from groundling.large_arrays import finite_rows, rows_of

if TYPE_CHECKING:  # torch is loaded only where pictures are looked at
    from groundling.vision.backbones import Backbone
    from groundling.vision.preprocessing import Preprocessing

Array = npt.NDArray[np.floating]
Vectors = npt.NDArray[np.float32]


def features_for(
    corpus: Corpus,
    *,
    precomputed: tuple[Path, Path] | None = None,
    backbone: "Backbone | None" = None,
    preprocessing: "Preprocessing | None" = None,
    folder: Path | None = None,
    strict: bool = False,
) -> tuple[Vectors, Mask]:
    """Features, float32 [pictures, dim], and a mask of the pictures that have them.

    Either from a `precomputed` (array, names) pair, which must cover every picture, or from the picture files with a
    `backbone`. The rows of files that cannot be read are zero and False in the mask: `corpus.keep_pictures(mask)`.
    """
    if precomputed is not None:
        return features_from_array(corpus, *precomputed), np.ones(len(corpus.pictures), dtype=bool)
    if corpus.root is None:
        raise UserError(
            f"corpus {corpus.name} has no picture files to compute features from; "
            "put photos, or features.npy and names.txt, beside its captions, or set features.array and features.names"
        )
    if backbone is None:
        raise UserError(f"corpus {corpus.name}: name a backbone, or give an array of precomputed features")
    from groundling.vision.cache import extract

    paths = [corpus.root / str(name) for name in corpus.pictures]
    features = extract(paths, backbone, preprocessing, folder=folder, strict=strict)
    usable = np.ones(len(paths), dtype=bool)
    usable[[row for row, _ in features.failed]] = False
    return features.vectors, usable


def features_from_array(corpus: Corpus, array: Path, names: Path) -> Vectors:
    """The rows of a precomputed array in the order of the corpus's pictures; each of them must be there."""
    rows_there, listed = load_precomputed(array, names)
    row_of = {name: row for row, name in enumerate(listed)}
    missing = [name for name in corpus.pictures.tolist() if name not in row_of]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        like = f' (the names there look like "{listed[0]}")' if listed else ""
        raise UserError(f'{names}: no features for picture "{missing[0]}"{more} of corpus {corpus.name}{like}')
    rows = np.array([row_of[name] for name in corpus.pictures.tolist()], dtype=np.int64)
    with np.errstate(over="ignore"):  # what is too large for float32 is named below
        vectors = rows_of(rows_there, rows, np.float32)
    broken = ~finite_rows(vectors)
    if broken.any():
        name = corpus.pictures[int(np.argmax(broken))]
        raise UserError(f'{array}: {broken.sum()} rows are not finite numbers, the first is of picture "{name}"')
    return vectors


def load_precomputed(array: Path, names: Path) -> tuple[Array, list[str]]:
    """An array of features [n, dim] (.npy, memory-mapped: nothing is read yet) and the picture name of each row.

    Names are a .txt file with one per line, a .tsv file with a header whose first column is the name, or a .json list.
    """
    try:
        features = np.load(array, mmap_mode="c", allow_pickle=False)  # whoever changes it changes a copy
    except FileNotFoundError:
        raise UserError(f"{array}: no such file") from None
    except (OSError, *DAMAGED_ARRAY):
        raise UserError(f"{array}: not a whole .npy array of numbers; write it with numpy.save") from None
    whole = isinstance(features, np.ndarray) and features.ndim == 2 and features.shape[1] > 0
    if not whole or not np.issubdtype(features.dtype, np.floating):
        shape = f"{features.dtype} {list(features.shape)}" if isinstance(features, np.ndarray) else "an archive"
        raise UserError(f"{array}: features are float numbers [pictures, dim] in one .npy array, this is {shape}")
    listed = _read_names(names)
    if len(listed) != len(features):
        raise UserError(f"{names} has {len(listed)} names, but {array} has {len(features)} rows; they must be as many")
    if len(set(listed)) != len(listed):
        twice = next(name for name, count in Counter(listed).items() if count > 1)
        raise UserError(f'{names}: "{twice}" is there more than once; every picture has one row of features')
    return features, listed


def _read_names(names: Path) -> list[str]:
    if names.suffix not in (".txt", ".tsv", ".json"):
        raise UserError(
            f"{names}: names are read from .txt, .tsv or .json, not {names.suffix or 'a file without suffix'}"
        )
    text = whole_text(names)
    if names.suffix == ".json":
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(f"{names}: not valid JSON ({error})") from None
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise UserError(f"{names}: expected a JSON list of picture names, one for each row of features")
    else:
        header = names.suffix == ".tsv"
        lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")[header:]
        listed = [line.split("\t")[0] for line in lines] if header else lines
        listed = [] if listed == [""] else listed
    if "" in listed:
        raise UserError(
            f"{names}: name {listed.index('') + 1} of {len(listed)} is empty; each row has a picture's name"
        )
    return listed
