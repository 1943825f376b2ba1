"""Captions and alternative texts that photographers and agencies write into picture files: XMP, and the older IPTC.

Of XMP the description (dc:description) and the alternative text (Iptc4xmpCore:AltTextAccessibility) are read, in all
their languages; of IPTC the caption (2:120) of a JPEG that has no XMP. Anybody may have written these files: an XMP
packet is parsed without a document type, and so without entities, and up to a size.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from groundling.corpus.formats.pictures import picture_files
from groundling.corpus.formats.rows import Row
from groundling.errors import UserError
from groundling.progress import bar
from groundling.search import walk
from groundling.search.walk import Unreadable

LARGEST_PACKET = 2**20  # bytes of XMP
MOST_TEXTS = 200  # in one file: descriptions in many languages
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
WANTED = {
    "http://purl.org/dc/elements/1.1/ description": "XMP description",
    "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/ AltTextAccessibility": "XMP alternative text",
}
DEFAULT = "x-default"
UTF_8 = b"\x1b%G"  # IPTC's way to say so


def embedded_captions(folder: Path) -> list[Row]:
    """All texts inside the pictures of a folder, as rows of a table: picture, text, language and source."""
    folder = folder.expanduser()
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder of pictures")
    names = list(picture_files(folder))
    rows: list[Row] = []
    with bar("Reading captions inside pictures", len(names)) as progress:
        for name in names:
            try:
                texts = list(texts_inside(walk.read(folder, name)[0]))
            except Unreadable:
                texts = []
            for source, language, text in texts:
                fields = {"picture": name, "text": text, "language": language, "source": source}
                rows.append(Row(len(rows) + 1, fields))
            progress.advance()
    if not rows:
        raise UserError(f"{folder}: none of {len(names):,} pictures has a caption inside it (XMP or IPTC)")
    return rows


def texts_inside(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Source, language ("" where it is not said) and text of what a picture file says of itself, each text once."""
    seen: set[str] = set()
    for source, language, text in [*_xmp(data), *_iptc(data)][:MOST_TEXTS]:
        if text.strip() and text.strip() not in seen:
            seen.add(text.strip())
            yield source, language, text.strip()


def _xmp(data: bytes) -> list[tuple[str, str, str]]:
    """Packets can be found by their tags in any format that does not compress them, as XMP's specification says."""
    start = data.find(b"<x:xmpmeta")
    end = data.find(b"</x:xmpmeta>", start)
    if start < 0 or end < 0 or end - start > LARGEST_PACKET:
        return []
    return _Packet().read(data[start : end + len(b"</x:xmpmeta>")])


class _Packet:
    """What is between <dc:description><rdf:Alt> and </…>, by language."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, str]] = []
        self.source, self.language = "", ""
        self.text: list[str] | None = None

    def read(self, packet: bytes) -> list[tuple[str, str, str]]:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler, parser.EndElementHandler = self._open, self._close
        parser.CharacterDataHandler = self._letters
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse
        try:
            parser.Parse(packet, True)
        except (expat.ExpatError, ValueError):
            return []
        return self.found

    def _open(self, name: str, attributes: dict[str, str]) -> None:
        if name in WANTED:
            self.source = WANTED[name]
        elif self.source and name == f"{RDF} li":
            code = attributes.get(LANGUAGE, "")
            self.language, self.text = "" if code == DEFAULT else code, []

    def _letters(self, letters: str) -> None:
        if self.text is not None:
            self.text.append(letters)

    def _close(self, name: str) -> None:
        if name in WANTED:
            self.source = ""
        elif self.text is not None and name == f"{RDF} li":
            self.found.append((self.source, self.language, "".join(self.text)))
            self.text = None

    def _refuse(self, *_: object) -> None:
        raise ValueError("a document type, which no XMP packet has")


def _iptc(data: bytes) -> list[tuple[str, str, str]]:
    """Record 2, data set 120 of the resource 0x0404 in the APP13 segments of a JPEG."""
    found = []
    for segment in _segments(data, 0xED):
        if segment.startswith(b"Photoshop 3.0\0"):
            utf_8 = False
            for record, number, value in _data_sets(_resource(segment[14:], 0x0404)):
                utf_8 = utf_8 or ((record, number) == (1, 90) and value == UTF_8)
                if (record, number) == (2, 120):
                    found.append(("IPTC caption", "", _decoded(value, utf_8)))
    return found


def _segments(data: bytes, wanted: int) -> Iterator[bytes]:
    place = 2 if data.startswith(b"\xff\xd8") else len(data)
    while place + 4 <= len(data) and data[place] == 0xFF and data[place + 1] != 0xDA:  # the picture itself begins there
        (size,) = struct.unpack_from(">H", data, place + 2)
        if data[place + 1] == wanted:
            yield data[place + 4 : place + 2 + size]
        place += 2 + max(size, 2)


def _resource(data: bytes, wanted: int) -> bytes:
    place = 0
    while data[place : place + 4] == b"8BIM" and place + 12 <= len(data):
        (number,) = struct.unpack_from(">H", data, place + 4)
        name = data[place + 6] | 1  # its length and itself take an even number of bytes
        at = place + 7 + name
        if at + 4 > len(data):
            break
        (size,) = struct.unpack_from(">I", data, at)
        if number == wanted:
            return data[at + 4 : at + 4 + size]
        place = at + 4 + size + size % 2
    return b""


def _data_sets(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    place = 0
    while place + 5 <= len(data) and data[place] == 0x1C:
        (size,) = struct.unpack_from(">H", data, place + 3)
        if size & 0x8000:  # a value of more than 32 kB, which is no caption
            return
        yield data[place + 1], data[place + 2], data[place + 5 : place + 5 + size]
        place += 5 + size


def _decoded(value: bytes, utf_8: bool) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("utf-8" if utf_8 else "latin-1", "replace")
