"""What the commands of the pages are timed on: photographs, captions, sentence pairs and a web page, made of emoji."""

import csv
from pathlib import Path
from xml.sax.saxutils import escape

from PIL import Image

from groundling import corpus as corpora

LANGUAGES = ("en", "de", "fr", "ar")
UNSEEN = "nl"  # for `--unseen-language`: in the test split alone
TAUGHT = "ko"
XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>
<rdf:li xml:lang="x-default">{}</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>"""


def prepare(folder: Path, pictures: int) -> int:
    """photos/, captions.csv, pairs.tsv, site/, beach.jpg, photo.jpg, in a folder; how many captions there are.

    What is there already is taken as it is, so that a few commands can be tried again.
    """
    if (folder / "captions.csv").exists():
        return len((folder / "captions.csv").read_text(encoding="utf-8").splitlines()) - 1
    known = corpora.load("emoji")
    names = known.pictures.tolist()
    texts: dict[str, dict[str, str]] = {}  # picture → language → its first caption
    for owner, code, text in zip(known.owners.tolist(), known.languages.tolist(), known.texts, strict=True):
        texts.setdefault(names[owner], {}).setdefault(code, text)
    told = [name for name in names if all(code in texts.get(name, {}) for code in (*LANGUAGES, UNSEEN))]
    rows = []
    for number, name in enumerate(told[:: max(1, len(told) // pictures)][:pictures]):
        # Every tenth is a photograph of a summer in Italy, with its date.
        place = Path("photos") / ("2019/italy" if number % 10 == 0 else "others") / f"{Path(name).stem}.jpg"
        _save(Path(known.root or "") / name, folder / place, texts[name]["en"], summer=number % 10 == 0)
        split = ("test", "dev")[number % 8] if number % 8 < 2 else "train"
        codes = (*LANGUAGES, UNSEEN) if split == "test" else LANGUAGES
        rows += [(place.as_posix(), code, texts[name][code], split) for code in codes]
    with (folder / "captions.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("picture", "language", "text", "split"), *rows])
    pairs = {(found["en"], found[TAUGHT]) for found in texts.values() if {"en", TAUGHT} <= found.keys()}
    lines = [("en", TAUGHT), *sorted(pairs)]  # the first one names the languages
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in lines), encoding="utf-8")
    for copy in ("beach.jpg", "photo.jpg"):
        (folder / copy).write_bytes((folder / rows[0][0]).read_bytes())
    (folder / "site").mkdir()
    tags = [f'<img src="../{path}" alt="{escape(text)}">' for path, code, text, _ in rows[:200] if code == "en"]
    (folder / "site" / "index.html").write_text(f'<html lang="en"><body>{"".join(tags)}</body></html>', "utf-8")
    return len(rows)


def _save(source: Path, target: Path, caption: str, summer: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(source) as drawn:
        flat = Image.new("RGB", drawn.size, "white")
        flat.paste(drawn, mask=drawn.convert("RGBA").getchannel("A"))
    taken = Image.Exif()
    if summer:
        taken[0x0132] = "2019:07:15 12:00:00"
    flat.save(target, quality=90, xmp=XMP.format(escape(caption)).encode(), exif=taken)
