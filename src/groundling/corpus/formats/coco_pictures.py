"""The pictures of COCO 2014, found by whatever name a file has for them."""

import re
from dataclasses import dataclass, field

from groundling.corpus.formats.checks import BadRow, caption_text, short

_NAME = re.compile(r"(?:.*/)?COCO_(train2014|val2014)_(\d{12})(?:\.jpg)?", re.ASCII)
_NUMBER = re.compile(r"\d{1,12}", re.ASCII)


@dataclass
class CocoPicture:
    """A picture's folder ("train2014" or "val2014"), its number and its captions by language."""

    folder: str
    number: int
    captions: dict[str, list[str]] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """Its file as COCO names it, without the ending."""
        return f"COCO_{self.folder}_{self.number:012d}"

    @property
    def name(self) -> str:
        """Its path below the folder of COCO."""
        return f"{self.folder}/{self.file}.jpg"


class CocoPictures:
    """All pictures by their number, which is unique over train2014 and val2014."""

    def __init__(self) -> None:
        self.by_number: dict[int, CocoPicture] = {}
        self.blank = 0  # captions without any text, which were left out

    def add(self, folder: str, number: int) -> CocoPicture:
        """The picture; new where it was not seen before."""
        picture = self.by_number.setdefault(number, CocoPicture(folder, number))
        if picture.folder != folder:
            raise BadRow(f"picture {number} is in {picture.folder} and in {folder}")
        return picture

    def find(self, name: str) -> CocoPicture:
        """The picture of a file name, with or without folder and ending, or of a number."""
        folder, number = parts(name)
        picture = self.by_number.get(number)
        if picture is None or folder not in ("", picture.folder):
            raise BadRow(f'COCO has no picture "{short(name)}" with captions in English; fetch both files again')
        return picture

    def caption(self, picture: CocoPicture, language: str, text: str) -> None:
        """Adds a caption; a blank one is counted only."""
        if text.strip():
            picture.captions.setdefault(language, []).append(caption_text(text))
        else:
            self.blank += 1


def parts(name: str) -> tuple[str, int]:
    """The folder ("" for a bare number) and the number of a picture."""
    if found := _NAME.fullmatch(name):
        return found[1], int(found[2])
    if _NUMBER.fullmatch(name):
        return "", int(name)
    raise BadRow(f'"{short(name)}" is not a picture of COCO 2014 such as "COCO_val2014_000000391895.jpg"')
