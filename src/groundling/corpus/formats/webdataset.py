"""WebDataset shards, as img2dataset and others write them: tar archives, the files of one picture beside each other.

000000012.jpg, 000000012.txt and 000000012.json are one sample. Captions are those in the JSON, under "caption" or, by
language, "captions"; else those in key.txt, or by language in key.en.txt. https://github.com/webdataset/webdataset
"""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from groundling.corpus.formats.checks import short
from groundling.corpus.formats.pictures import SUFFIXES
from groundling.corpus.formats.samples import MOST_BYTES, MOST_TEXT, Sample, SampleFormat, captions_in, split_of
from groundling.corpus.formats.tar_members import Member, members


def read(path: Path, language: str) -> Iterator[Sample]:
    split = split_of(path)
    for key, group in groupby(members(path, _most), key=lambda member: _parts(member.name)[0]):
        yield sample(f"{path.name}:{short(key)}", list(group), language, split)


def sample(where: str, files: list[Member], language: str, split: str) -> Sample:
    """One sample from the files that share a key."""
    picture: bytes | None = None
    notes: dict[str, object] = {}
    texts: list[dict[str, object]] = []
    for file in files:
        _, suffix = _parts(file.name)
        if file.data is None:
            return Sample(where, problem=f"{short(file.name)} has {file.size:,} bytes, more than {_most(file.name):,}")
        if suffix == "json":
            try:
                found = json.loads(file.data)
            except (ValueError, RecursionError) as error:
                return Sample(where, problem=f"{short(file.name)}: broken JSON ({error})")
            notes = found if isinstance(found, dict) else {}
        elif suffix.endswith("txt"):
            said = " ".join(file.data.decode("utf-8", "replace").split())
            code = suffix.removesuffix("txt").rstrip(".")
            texts.append({"language": code, "text": said} if code else {"text": said})
        elif picture is None:
            picture = file.data
    if picture is None:
        return Sample(where, problem="no picture")
    rows = captions_in(notes, where, language)
    for text in texts if not rows else ():
        rows += [text] if "language" in text else captions_in({**notes, **text}, where, language)
    if not rows:
        return Sample(where, problem="no caption")
    return Sample(where, tuple({"split": split, **row} for row in rows), picture)


def _parts(name: str) -> tuple[str, str]:
    """The key and what follows the first dot of the last part of the name: "a/b.en.txt" is ("a/b", "en.txt")."""
    folder, _, file = name.rpartition("/")
    stem, _, suffix = file.partition(".")
    return (f"{folder}/{stem}" if folder else stem), suffix.lower()


def _most(name: str) -> int:
    suffix = _parts(name)[1]
    if f".{suffix}" in SUFFIXES:
        return MOST_BYTES
    return MOST_TEXT if suffix == "json" or suffix == "txt" or suffix.endswith(".txt") else 0


FORMAT = SampleFormat("WebDataset shards (.tar)", lambda path: path.suffix == ".tar", read)
