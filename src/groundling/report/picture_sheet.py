"""The picture sheet: what the model finds, to look at. Words with the pictures found for them, and the other way."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from groundling.decoding.structure import PictureError
from groundling.decoding.thumbnail import Thumbnail
from groundling.decoding.workers import shared
from groundling.evaluation.examples import Example, FoundCaptions, FoundPictures, pictures_of, queries_of
from groundling.progress import bar
from groundling.report.html import TemplateBlock

SIDE = 176  # pixels; shown at half to full size


def thumbnail(picture: Path | str | bytes | None, side: int = SIDE) -> str | None:
    """A small copy of a picture file, or of its bytes, as a data URI; None where there is none, or it is no picture."""
    if picture is None:
        return None
    try:
        data = picture if isinstance(picture, bytes) else Path(picture).read_bytes()
        small = shared().decode(data, Thumbnail(side, effort=6, or_png=True)).data
    except (OSError, ValueError, PictureError):  # one bad picture must not cost the whole report
        return None
    kind = "png" if small.startswith(b"\x89PNG") else "webp"
    return f"data:image/{kind};base64,{base64.b64encode(small).decode('ascii')}"


Thumbnails = dict[Path, str | None]  # small copies by path


@dataclass(frozen=True)
class PictureBlock(TemplateBlock):
    """Examples with small copies of their pictures; `large` ones are shown at full size."""

    thumbnails: Thumbnails
    heading: str
    large: bool

    def source(self, path: Path | None) -> str | None:
        return None if path is None else self.thumbnails[path]


@dataclass(frozen=True)
class FoundPicturesBlock(PictureBlock):
    """Captions, each with the pictures found for it and, where it is not among them, the right one."""

    template = "found_pictures.html"
    entries: Sequence[FoundPictures]

    def without_files(self, entry: FoundPictures) -> bool:
        """Whether its pictures can only be told, by their names and captions."""
        return bool(entry.hits) and all(hit.picture is None and hit.name for hit in entry.hits)

    def missed(self, entry: FoundPictures) -> bool:
        return not any(hit.correct for hit in entry.hits)


@dataclass(frozen=True)
class FoundCaptionsBlock(PictureBlock):
    """Pictures, each with the captions found for it; where all are of one language, one of its own if none is right."""

    template = "found_captions.html"
    entries: Sequence[FoundCaptions]

    def without_files(self, entry: FoundCaptions) -> bool:
        return entry.picture is None and bool(entry.name)

    def missed(self, entry: FoundCaptions) -> bool:
        return not any(caption.correct for caption in entry.captions)


def picture_blocks(
    sheet: Sequence[Example], side: int = SIDE, headings: bool = True, large: bool = False
) -> tuple[list[FoundPicturesBlock], list[FoundCaptionsBlock]]:
    """Both directions, each a block or none, in the order given. `side` is of the thumbnails."""
    thumbnails: Thumbnails = {}
    with bar("picture sheet", len(sheet)) as progress:
        for entry in sheet:
            for path in entry.files():
                if path is not None and path not in thumbnails:
                    thumbnails[path] = thumbnail(path, side)
            progress.advance()
    asked, described = queries_of(sheet), pictures_of(sheet)
    names = ("Words → pictures", "Picture → words") if headings else ("", "")
    return (
        [FoundPicturesBlock(thumbnails, names[0], large, asked)] if asked else [],
        [FoundCaptionsBlock(thumbnails, names[1], large, described)] if described else [],
    )
