"""The picture sheet: what the model finds, to look at. Words with the pictures found for them, and the other way."""

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundling.decoding.structure import PictureError
from groundling.decoding.thumbnail import Thumbnail
from groundling.decoding.workers import shared
from groundling.progress import bar
from groundling.report.escape import escape
from groundling.report.languages import direction, language_name
from groundling.report.numbers import rounded

SIDE = 112  # pixels; shown at half to full size


def thumbnail(picture: Path | str | bytes | None, side: int = SIDE) -> str | None:
    """A small copy of a picture file, or of its bytes, as a data URI; None where there is none, or it is no picture."""
    if picture is None:
        return None
    try:
        data = picture if isinstance(picture, bytes) else Path(picture).read_bytes()
        small = shared().decode(data, Thumbnail(side, effort=6, or_png=True)).data
    except (OSError, PictureError):  # one bad picture must not cost the whole report
        return None
    kind = "png" if small.startswith(b"\x89PNG") else "webp"
    return f"data:image/{kind};base64,{base64.b64encode(small).decode('ascii')}"


def words(text: object, language: object) -> str:
    """A caption marked with its language, so that fonts, hyphens and the direction of writing are right."""
    code = str(language or "")
    marked = f' lang="{escape(code)}"' if code else ""
    return f'<span class="words" dir="{direction(code)}"{marked}>{escape(text)}</span>'


def _mark(correct: object) -> str:
    sign, word = ("✓", "right") if correct else ("✗", "wrong")
    return f'<span class="mark {word}" role="img" aria-label="{word}">{sign}</span>'


def _score(entry: Mapping[str, Any]) -> str:
    score = entry.get("score")
    return "" if score is None else f'<span class="score">{rounded(float(score), 2)}</span>'


class _Thumbnails(dict[str, str | None]):
    """Small copies by path; each picture is read once."""

    def __init__(self, side: int) -> None:
        super().__init__()
        self.side = side

    def __missing__(self, path: str) -> str | None:
        self[path] = thumbnail(path, self.side)
        return self[path]


def _tile(entry: Mapping[str, Any], thumbnails: _Thumbnails, below: str, kind: str = "") -> str:
    path = entry.get("picture")
    name = escape(Path(str(path)).name if path is not None else entry.get("name") or "no picture")
    source = None if path is None else thumbnails[str(path)]
    inside = f'<img src="{source}" alt="{name}">' if source else f'<span class="lost">{name}</span>'
    return f'<figure class="tile {kind}"><div class="frame">{inside}</div><figcaption>{below}</figcaption></figure>'


def _told(entry: Mapping[str, Any], language: str) -> str:
    """A picture that there is no file of: a caption of it, and its name."""
    text = entry.get("text")
    said = words(text, language) if text else ""
    return f'{said}<span class="code">{escape(entry.get("name") or "no picture")}</span>'


def _query(entry: Mapping[str, Any], thumbnails: _Thumbnails) -> str:
    """A caption, the five pictures found for it and, where it is not among them, the right one."""
    hits = entry.get("hits") or []
    language = str(entry.get("language") or "")
    if hits and all(hit.get("picture") is None and hit.get("name") for hit in hits):
        lines = [
            f"<li{_framed(hit)}>{_mark(hit.get('correct'))}<div>{_told(hit, language)}</div>{_score(hit)}</li>"
            for hit in hits
        ]
        if entry.get("name") and not any(hit.get("correct") for hit in hits):
            name = f'<span class="code">{escape(entry["name"])}</span>'
            lines.append(f'<li class="answer"><span class="code">answer</span>{name}</li>')
        found = f'<ol class="told">{"".join(lines)}</ol>'
    else:
        tiles = []
        for hit in hits:
            below = _mark(hit.get("correct")) + _score(hit)
            tiles.append(_tile(hit, thumbnails, below, "right" if hit.get("correct") else ""))
        if entry.get("answer") is not None and not any(hit.get("correct") for hit in hits):
            tiles.append(_tile({"picture": entry["answer"]}, thumbnails, "answer", "answer"))
        found = f'<div class="tiles">{"".join(tiles)}</div>'
    return (
        f'<article class="query"><div class="ask">{words(entry.get("text", ""), language)}'
        f"{_facts(entry)}</div>{found}</article>"
    )


def _framed(hit: Mapping[str, Any]) -> str:
    return ' class="right"' if hit.get("correct") else ""


def _facts(entry: Mapping[str, Any]) -> str:
    """ "Arabic (ar) · rank 7"."""
    language = str(entry.get("language") or "")
    facts = [escape(language_name(language))] if language else []
    facts += [f"rank {entry['rank']:,}"] if isinstance(entry.get("rank"), int) else []
    return f'<p class="facts">{" · ".join(facts)}</p>'


def _described(entry: Mapping[str, Any], thumbnails: _Thumbnails) -> str:
    """A picture and the five captions found for it; where all are of one language, one of its own if none is right."""
    language = str(entry.get("language") or "")
    captions = entry.get("captions") or []
    lines = []
    for caption in captions:
        code = "" if language else f'<span class="code">{escape(caption.get("language") or "")}</span>'
        lines.append(
            f"<li>{_mark(caption.get('correct'))}{code}"
            f"{words(caption.get('text', ''), caption.get('language'))}{_score(caption)}</li>"
        )
    untold = entry.get("picture") is None and entry.get("name")
    picture = f'<div class="tile told">{_told(entry, language)}</div>' if untold else _tile(entry, thumbnails, "")
    missed = ""
    if language and entry.get("text") and not untold and not any(caption.get("correct") for caption in captions):
        missed = f'<p class="missed"><span class="code">answer</span>{words(entry["text"], language)}</p>'
    facts = _facts(entry) if language else ""
    kind = "described one" if language else "described"
    return f'<article class="{kind}">{picture}<div>{facts}<ol>{"".join(lines)}</ol>{missed}</div></article>'


def picture_sheet(sheet: Sequence[Mapping[str, Any]], side: int = SIDE) -> str:
    """HTML for both directions, in the order given; an empty text for an empty sheet. `side` is of the thumbnails."""
    asked, described = sheet_parts(sheet, side)
    parts = []
    if asked:
        parts += ["<h3>Words → pictures</h3>", asked]
    if described:
        parts += ["<h3>Picture → words</h3>", described]
    return "\n".join(parts)


def sheet_parts(sheet: Sequence[Mapping[str, Any]], side: int = SIDE) -> tuple[str, str]:
    """The captions with their pictures, and the pictures with their captions, each as HTML."""
    thumbnails = _Thumbnails(side)
    asked, described = [], []
    with bar("picture sheet", len(sheet)) as progress:
        for entry in sheet:
            if "captions" in entry:
                described.append(_described(entry, thumbnails))
            else:
                asked.append(_query(entry, thumbnails))
            progress.advance()
    return (
        "\n".join(['<div class="queries">', *asked, "</div>"]) if asked else "",
        "\n".join(['<div class="descriptions">', *described, "</div>"]) if described else "",
    )
