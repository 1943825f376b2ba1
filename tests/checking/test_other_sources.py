"""Captions inside picture files, and alternative texts of pages: read as rows, within limits."""

import struct
from pathlib import Path

import pytest
from PIL import Image

from groundling.checking.alternative_texts import alternative_texts
from groundling.checking.embedded import LARGEST_PACKET, embedded_captions, texts_inside
from groundling.errors import UserError

XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:i="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">no caption</rdf:li></rdf:Alt></dc:title>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">Two dogs &amp; a ball</rdf:li>
<rdf:li xml:lang="de">Zwei Hunde</rdf:li></rdf:Alt></dc:description>
<i:AltTextAccessibility><rdf:Alt><rdf:li xml:lang="en">dogs at play</rdf:li></rdf:Alt></i:AltTextAccessibility>
</rdf:Description></rdf:RDF></x:xmpmeta>"""


def iptc(caption: bytes, utf_8: bool = True) -> bytes:
    """The APP13 segment that holds a caption."""
    sets = [(1, 90, b"\x1b%G")] if utf_8 else []
    values = b"".join(
        struct.pack(">BBBH", 0x1C, record, number, len(value)) + value
        for record, number, value in [*sets, (2, 5, b"title"), (2, 120, caption)]
    )
    resource = (
        b"8BIM" + struct.pack(">HBx", 0x0404, 0) + struct.pack(">I", len(values)) + values + b"\0" * (len(values) % 2)
    )
    body = b"Photoshop 3.0\0" + resource
    return b"\xff\xed" + struct.pack(">H", len(body) + 2) + body


def picture(path: Path, kind: str = "JPEG", segment: bytes = b"", **options: bytes) -> Path:
    Image.new("RGB", (9, 9), "red").save(path, kind, **options)
    if segment:
        data = path.read_bytes()
        path.write_bytes(data[:2] + segment + data[2:])
    return path


def test_descriptions_and_alternative_texts_in_all_their_languages(tmp_path: Path) -> None:
    expected = [
        ("XMP description", "", "Two dogs & a ball"),
        ("XMP description", "de", "Zwei Hunde"),
        ("XMP alternative text", "en", "dogs at play"),
    ]
    for kind in ("JPEG", "WEBP"):
        made = picture(tmp_path / f"a.{kind.lower()}", kind, xmp=XMP.encode())
        assert list(texts_inside(made.read_bytes())) == expected


def test_captions_of_iptc_in_either_encoding(tmp_path: Path) -> None:
    made = picture(tmp_path / "a.jpg", segment=iptc("Zwei Hündchen".encode()))
    assert list(texts_inside(made.read_bytes())) == [("IPTC caption", "", "Zwei Hündchen")]
    made = picture(tmp_path / "b.jpg", segment=iptc("Hündchen".encode("latin-1"), utf_8=False))
    assert list(texts_inside(made.read_bytes())) == [("IPTC caption", "", "Hündchen")]


def test_a_folder_becomes_a_table(tmp_path: Path) -> None:
    picture(tmp_path / "plain.jpg")
    picture(tmp_path / "told.jpg", xmp=XMP.encode())
    (tmp_path / "more").mkdir()
    picture(tmp_path / "more" / "old.jpg", segment=iptc(b"Two dogs"))
    rows = embedded_captions(tmp_path)
    assert [(row.line, row.fields["picture"]) for row in rows] == [
        (1, "told.jpg"),
        (2, "told.jpg"),
        (3, "told.jpg"),
        (4, "more/old.jpg"),
    ]
    assert rows[1].fields == {
        "picture": "told.jpg",
        "text": "Zwei Hunde",
        "language": "de",
        "source": "XMP description",
    }
    (tmp_path / "told.jpg").unlink()
    (tmp_path / "more" / "old.jpg").unlink()
    with pytest.raises(UserError, match="none of 1 pictures has a caption inside it"):
        embedded_captions(tmp_path)
    with pytest.raises(UserError, match="no such folder"):
        embedded_captions(tmp_path / "none")


@pytest.mark.parametrize(
    "packet",
    [
        XMP.replace("<x:xmpmeta", '<x:xmpmeta><!DOCTYPE x [<!ENTITY a "aaaa">]><x:xmpmeta', 1).replace("Two", "&a;"),
        XMP.replace("</rdf:RDF>", ""),
        XMP.replace("Two dogs", "x" * LARGEST_PACKET),
        "<x:xmpmeta></x:xmpmeta>",
        "<x:xmpmeta",
    ],
)
def test_packets_that_are_none_say_nothing(packet: str) -> None:
    inside = (
        packet.replace("<x:xmpmeta", '<x:xmpmeta><!DOCTYPE a [<!ENTITY b "c">]', 1) if "ENTITY" in packet else packet
    )
    assert list(texts_inside(b"\xff\xd8" + inside.encode())) == []


@pytest.mark.parametrize("cut", range(0, 60, 3))
def test_damaged_segments_end_quietly(cut: int) -> None:
    whole = b"\xff\xd8" + iptc(b"Two dogs")
    found = list(texts_inside(whole[: len(whole) - cut]))
    assert [text for _, _, text in found] in ([], ["Two dogs"], ["Two dog"], ["Two d"]) or cut < 12


PAGE = """<!doctype html><html lang="en"><body>
<img src="photos/a.jpg" alt="Two dogs"><br>
<p lang="de"><img alt="Zwei Hunde" src="../site/photos/a%20b.jpg?size=2#x"></p>
<img src="/photos/a.jpg" alt=""><img src="https://example.org/x.jpg" alt="elsewhere">
<img src="data:image/png;base64,AA" alt="x">
<img src="photos/none.jpg"><img alt="no source">
<img src="../../out.jpg" alt="leads out">
</body></html>"""


def test_alternative_texts_of_pages(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "notes.txt").write_text(PAGE, encoding="utf-8")
    found = [(row.fields["picture"], row.fields["text"], row.fields["language"]) for row in alternative_texts(tmp_path)]
    assert found == [
        ("site/photos/a.jpg", "Two dogs", "en"),
        ("site/photos/a b.jpg", "Zwei Hunde", "de"),
        ("site/photos/none.jpg", "", "en"),
        ("../out.jpg", "leads out", "en"),  # which is refused where pictures are looked up
    ]
    first = alternative_texts(tmp_path)[0]
    assert (first.fields["page"], first.fields["page_line"]) == ("site/index.html", 2)
    (tmp_path / "site" / "index.html").write_text("<p>nothing</p>")
    with pytest.raises(UserError, match="1 pages, and no picture"):
        alternative_texts(tmp_path)
