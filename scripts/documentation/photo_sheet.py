"""A picture for the docs: a folder of photographs, searched in several languages.

    python scripts/documentation/photo_sheet.py INDEX FOLDER OUT.png

INDEX is what `groundling index FOLDER --model RUN` wrote. The page is drawn by a Chromium that is installed. The photos
of the picture in docs/images are free to show: scikit-image's (CC0 or public domain: its `data` module says whose each
is) and scikit-learn's flower.jpg (vultilion) and china.jpg (danielbuechele), both CC BY 2.0.
"""

import base64
import io
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from PIL import Image

import groundling

QUERIES = {
    "en": "a cup of coffee with a spoon",
    "de": "eine Katze schaut in die Kamera",
    "fr": "une fusée décolle dans le ciel",
    "cs": "muž s fotoaparátem",
    "zh": "一朵花",
    "ar": "قطة",
    "pt": "um homem tirando uma foto",
    "it": "un muro di mattoni",
}
FOUND, SIDE = 3, 92
STYLE = """body { margin: 0; padding: 12px; width: 736px; font: 15px sans-serif; background: #fff; color: #222;
  display: grid; grid-template-columns: 1fr 1fr; gap: 12px; }
section { display: grid; grid-template-columns: repeat(3, auto); gap: 4px; justify-content: start; }
p { grid-column: 1 / 4; margin: 0; } small { color: #666; }
img { width: 92px; height: 92px; object-fit: cover; border-radius: 4px; }
img:first-of-type { outline: 2px solid #06c; }"""


def small(path: Path) -> str:
    image = Image.open(path).convert("RGB")
    image.thumbnail((3 * SIDE, 3 * SIDE))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=70)
    return "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode()


def main() -> None:
    index, folder, out = groundling.Index.open(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    parts = []
    for code, query in QUERIES.items():
        hits = index.search(query, k=FOUND, language=code)
        images = "".join(f'<img alt="" src="{small(folder / hit.path)}">' for hit in hits)
        parts.append(f"<section><p lang={code} dir=auto>{escape(query)} <small>{code}</small></p>{images}</section>")
    with tempfile.TemporaryDirectory() as work:
        page = Path(work) / "sheet.html"
        page.write_text(f"<meta charset=utf-8><style>{STYLE}</style>{''.join(parts)}", encoding="utf-8")
        command = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=760,540"]
        command += [f"--screenshot={out.resolve()}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 (of our own words)
    Image.open(out).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(out, optimize=True)


if __name__ == "__main__":
    main()
