"""Pictures that were made to harm whoever decodes them; those of the tests, and some that stay just within limits."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests" / "decoding"))

from bombs import comments, empty_chunks, exif_segments, fill, photograph, png, scans

__all__ = ["costly", "harmful", "photograph", "png"]


def harmful() -> dict[str, bytes]:
    """Those of the issue, each below the 10 MB that a client may send."""
    made = {
        "exif segments": exif_segments(),
        "comments": comments(),
        "fill": fill(10_000_000),
        "empty chunks": empty_chunks(),
        "repeated scans": scans(20_000),
        "a tall line": png(1, 49_000_000, rows=1000),
    }
    return {name: data for name, data in made.items() if len(data) < 10 * 2**20}


def costly() -> dict[str, bytes]:
    """Pictures that are let through, and take as long as a picture may."""
    return {
        "49 million pixels": png(7000, 7000),
        "15 million pixels": png(5000, 3000),
        "90 scans of 15 million pixels": scans(80, 5000, 3000),
        "90 scans of a million pixels": scans(80, 1200, 800),
    }
