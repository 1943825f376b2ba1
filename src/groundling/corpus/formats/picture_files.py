"""A folder with a file of captions beside each picture, as img2dataset writes with `output_format="files"`.

00012/000120034.jpg has its caption in 000120034.json ("caption", or "captions" by language) or 000120034.txt.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from groundling.corpus.formats.pictures import SUFFIXES
from groundling.corpus.formats.samples import MOST_TEXT, Sample, SampleFormat, captions_in, split_of

_NOTES = (".json", ".txt")


def read(path: Path, language: str) -> Iterator[Sample]:
    for folder, folders, files in os.walk(path):
        folders.sort()
        there, split = set(files), split_of(Path(folder, "any"))
        for file in sorted(files):
            picture = Path(folder, file)
            if picture.suffix.lower() not in SUFFIXES or file.startswith("."):
                continue
            name = picture.relative_to(path).as_posix()
            beside = [picture.with_suffix(suffix) for suffix in _NOTES if picture.with_suffix(suffix).name in there]
            yield _sample(name, beside, language, split)


def _sample(name: str, beside: list[Path], language: str, split: str) -> Sample:
    rows: list[dict[str, object]] = []
    notes: dict[str, object] = {}
    for file in beside:
        if rows:
            break
        try:
            with file.open("rb") as opened:
                data = opened.read(MOST_TEXT + 1)
            if len(data) > MOST_TEXT:
                return Sample(name, problem=f"{file.name} has more than {MOST_TEXT:,} bytes")
            if file.suffix == ".json":
                found = json.loads(data)
                notes = found if isinstance(found, dict) else {}
            else:
                notes = {**notes, "text": " ".join(data.decode("utf-8", "replace").split())}
        except (OSError, ValueError, RecursionError) as error:
            return Sample(name, problem=f"{file.name} cannot be read ({error})")
        rows = captions_in(notes, name, language)
    if not rows:
        return Sample(name, problem="no caption beside it")
    return Sample(name, tuple({"split": split, **row, "picture": name} for row in rows))


def suits(path: Path) -> bool:
    """Whether a picture lies in it, or one folder below, with such a file beside it."""
    if not path.is_dir():
        return False
    for folder in [path, *sorted(entry for entry in path.iterdir() if entry.is_dir())[:3]]:
        pictures = (file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)
        for picture, _ in zip(pictures, range(100), strict=False):
            if any(picture.with_suffix(suffix).is_file() for suffix in _NOTES):
                return True
    return False


FORMAT = SampleFormat("pictures with .txt or .json beside them (img2dataset's files)", suits, read)
