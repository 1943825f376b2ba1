"""Features of photos that somebody computed before: features.npy, and the names of its rows, beside the photos."""

from pathlib import Path

from groundling.corpus.info import FeatureFiles

NAMES = ("images.tsv", "names.txt", "images.txt")


def features_in(*folders: Path) -> FeatureFiles | None:
    """The features in the first of these folders that has them; None where none has."""
    for folder in folders:
        array = folder / "features.npy"
        names = next((folder / name for name in NAMES if (folder / name).is_file()), None)
        if array.is_file() and names is not None:
            return FeatureFiles(str(array.resolve()), str(names.resolve()))
    return None
