"""The picture sheet: what the model finds, to look at. Words with the pictures found for them, and the other way."""

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from groundling.progress import bar
from groundling.report.escape import escape
from groundling.report.languages import direction, language_name
from groundling.report.numbers import rounded

SIDE = 112  # pixels; shown at half to full size


def thumbnail(path: Path | str | None) -> str | None:
    """A small copy of the picture as a data URI; None where the file is missing or is not a picture."""
    if path is None:
        return None
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as opened:
            opened.draft("RGB", (2 * SIDE, 2 * SIDE))  # a large JPEG is decoded small, and fast
            image = ImageOps.exif_transpose(opened)
            clear = "A" in image.getbands() or "transparency" in image.info
            image = image.convert("RGBA" if clear else "RGB")
        image.thumbnail((SIDE, SIDE))
        files = {}
        for kind, options in (("webp", {"quality": 80, "method": 6}), ("png", {"optimize": True})):
            buffer = io.BytesIO()
            image.save(buffer, kind, **options)
            files[kind] = buffer.getvalue()
    except Exception:  # Pillow raises many kinds for damaged files; one bad picture must not cost the whole report
        return None
    kind = min(files, key=lambda name: len(files[name]))
    return f"data:image/{kind};base64,{base64.b64encode(files[kind]).decode('ascii')}"


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


def _tile(path: Any, thumbnails: dict[str, str | None], below: str, kind: str = "") -> str:
    key = str(path)
    if key not in thumbnails:
        thumbnails[key] = thumbnail(path)
    name = escape(Path(key).name if path is not None else "no picture")
    source = thumbnails[key]
    inside = f'<img src="{source}" alt="{name}">' if source else f'<span class="lost">{name}</span>'
    return f'<figure class="tile {kind}"><div class="frame">{inside}</div><figcaption>{below}</figcaption></figure>'


def _query(entry: Mapping[str, Any], thumbnails: dict[str, str | None]) -> str:
    """A caption, the five pictures found for it and, where it is not among them, the right one."""
    hits = entry.get("hits") or []
    tiles = []
    for hit in hits:
        below = _mark(hit.get("correct")) + _score(hit)
        tiles.append(_tile(hit.get("picture"), thumbnails, below, "right" if hit.get("correct") else ""))
    if entry.get("answer") is not None and not any(hit.get("correct") for hit in hits):
        tiles.append(_tile(entry["answer"], thumbnails, "answer", "answer"))
    language = str(entry.get("language") or "")
    facts = [escape(language_name(language))] if language else []
    facts += [f"rank {entry['rank']:,}"] if isinstance(entry.get("rank"), int) else []
    return (
        f'<article class="query"><div class="ask">{words(entry.get("text", ""), language)}'
        f'<p class="facts">{" · ".join(facts)}</p></div><div class="tiles">{"".join(tiles)}</div></article>'
    )


def _described(entry: Mapping[str, Any], thumbnails: dict[str, str | None]) -> str:
    """A picture and the five captions found for it."""
    lines = []
    for caption in entry.get("captions") or []:
        code = escape(caption.get("language") or "")
        lines.append(
            f'<li>{_mark(caption.get("correct"))}<span class="code">{code}</span>'
            f"{words(caption.get('text', ''), caption.get('language'))}{_score(caption)}</li>"
        )
    picture = _tile(entry.get("picture"), thumbnails, "")
    return f'<article class="described">{picture}<ol>{"".join(lines)}</ol></article>'


def picture_sheet(sheet: Sequence[Mapping[str, Any]]) -> str:
    """HTML for both directions, in the order given; an empty text for an empty sheet."""
    thumbnails: dict[str, str | None] = {}
    asked, described = [], []
    with bar("picture sheet", len(sheet)) as progress:
        for entry in sheet:
            if "captions" in entry:
                described.append(_described(entry, thumbnails))
            else:
                asked.append(_query(entry, thumbnails))
            progress.advance()
    parts = []
    if asked:
        parts += ["<h3>Words → pictures</h3>", '<div class="queries">', *asked, "</div>"]
    if described:
        parts += ["<h3>Picture → words</h3>", '<div class="descriptions">', *described, "</div>"]
    return "\n".join(parts)
