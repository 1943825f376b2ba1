"""The pictures of a corpus that is being built: looked at, and kept in files where they come as bytes."""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

from groundling.corpus.formats.pictures import PictureFolder, unreadable
from groundling.corpus.formats.samples import Sample
from groundling.corpus.formats.skipped import Report
from groundling.decoding.structure import PictureError
from groundling.decoding.thumbnail import load_whole
from groundling.decoding.workers import shared

Check = Literal["decode", "exist", "none"]
_SUFFIXES = {"JPEG": ".jpg", "MPO": ".jpg", "TIFF": ".tif"}
_BEGINS = {b"\xff\xd8\xff": "JPEG", b"\x89PNG": "PNG", b"RIFF": "WEBP", b"GIF8": "GIF"}
_AT_ONCE = 64 * 2**20  # bytes of pictures that are decoded together


class Pictures:
    """Sees to it that pictures are there: those that come as bytes are kept in files, named by what they hold."""

    def __init__(self, root: Path, folder: Path, check: Check, report: Report) -> None:
        self.root, self.folder, self.check, self.report = root, folder, check, report
        self.inside: bool | None = None  # whether pictures come as bytes, once one is there
        self._there = PictureFolder(root)

    def placed(self, samples: Iterable[tuple[str, Sample]]) -> Iterator[tuple[Sample, str]]:
        """Each sample with the name of its picture; "" where its rows have it."""
        workers = shared()
        with ThreadPoolExecutor(workers.count) as pool:
            for part in _portions(samples):
                inside = [sample for _, sample in part if sample.picture is not None and not sample.problem]
                found = dict(zip(map(id, inside), pool.map(self._problem, inside), strict=True))
                for below, sample in part:
                    problem, suffix = found.get(id(sample), ("", ""))
                    if problem:
                        self.report.bad_picture(f"{sample.where}: unreadable picture ({problem})", len(sample.rows))
                    elif sample.picture is not None:
                        yield sample, self._keep(sample.picture, suffix)
                    elif below:
                        rows = tuple({**row, "picture": _below(below, row.get("picture"))} for row in sample.rows)
                        yield sample._replace(rows=rows), ""
                    else:
                        yield sample, ""

    def require(self, name: str) -> None:
        """Raises BadRow for the name of a file that is not there."""
        if not self.inside and self.check != "none":
            self._there.require(name)

    def unreadable(self, names: list[str]) -> dict[str, str]:
        return unreadable(self.root, names) if not self.inside and self.check == "decode" else {}

    def _problem(self, sample: Sample) -> tuple[str, str]:
        """What is wrong with a picture that came as bytes, or the suffix that it should have."""
        assert sample.picture is not None  # noqa: S101 (no other is asked about)
        known = next((kind for begin, kind in _BEGINS.items() if sample.picture.startswith(begin)), "")
        if self.check == "decode":
            try:
                known = shared().decode(sample.picture, load_whole).format
            except PictureError as error:
                return str(error), ""
        return ("", _SUFFIXES.get(known, f".{known.lower()}")) if known else ("not a picture of a known format", "")

    def _keep(self, data: bytes, suffix: str) -> str:
        """Writes a picture to a file whose name is made here, of its content; the same picture is written once."""
        digest = hashlib.sha256(data).hexdigest()[:32]
        name = f"{digest[:3]}/{digest}{suffix}"
        path = self.folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return name


def _below(folder: str, picture: Any) -> Any:
    return folder + picture if isinstance(picture, str) and picture and not picture.startswith("/") else picture


def _portions(samples: Iterable[tuple[str, Sample]]) -> Iterator[list[tuple[str, Sample]]]:
    """As many as are looked at together: by number, and by the bytes of their pictures."""
    part: list[tuple[str, Sample]] = []
    size = 0
    for pair in samples:
        part.append(pair)
        size += len(pair[1].picture or b"")
        if size >= _AT_ONCE or len(part) >= 1024:
            yield part
            part, size = [], 0
    if part:
        yield part
