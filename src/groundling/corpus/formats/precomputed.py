"""Features of photos that somebody computed before: features.npy, and the names of its rows, beside the photos."""

from pathlib import Path
from typing import Any

NAMES = ("images.tsv", "names.txt", "images.txt")


def features_in(*folders: Path) -> dict[str, Any]:
    """`info` that points at the features in the first of these folders that has them; empty where none has."""
    for folder in folders:
        array = folder / "features.npy"
        names = next((folder / name for name in NAMES if (folder / name).is_file()), None)
        if array.is_file() and names is not None:
            return {"features": {"array": str(array.resolve()), "names": str(names.resolve())}}
    return {}
