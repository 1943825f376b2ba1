"""Makes the extract of Unicode CLDR that the emoji corpus is captioned from: names and keywords in fifteen languages.

    npm pack cldr-annotations-full@48.2.0 cldr-annotations-derived-full@48.2.0
    for archive in cldr-*.tgz; do mkdir "${archive%.tgz}" && tar xzf "$archive" -C "${archive%.tgz}"; done
    python scripts/extract_cldr.py cldr-annotations-full-48.2.0/package cldr-annotations-derived-full-48.2.0/package

The same packages make the same bytes.
"""

import argparse
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import regex

from groundling.corpus.builtin.emoji_names import EXTRACT, LANGUAGES
from groundling.errors import UserError
from groundling.files import atomic_path, read_json, write_text

# CLDR names ∞ and ¿ as well, which nobody draws; what is left of it after this filter is drawn by both our artists.
EMOJI = regex.compile(r"\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3")
SKIN_TONE = regex.compile("[\U0001f3fb-\U0001f3ff]")

NOTICE = """\
annotations.jsonl.gz holds short names and keywords of emoji in {count} languages ({languages}),
extracted by scripts/extract_cldr.py from the npm packages {packages}.
They are part of the Unicode Common Locale Data Repository (CLDR) {version}, under this licence:

{licence}"""


def annotations(package: Path, kind: str, language: str) -> dict[str, Any]:
    """Character → {"tts": [short name], "default": keywords} in one language."""
    path = package / kind / language / "annotations.json"
    try:
        entries: dict[str, Any] = read_json(path)[kind]["annotations"]
    except (KeyError, TypeError):
        raise UserError(f"{path}: no {kind}.annotations in it; is {package} the right package?") from None
    return entries


def extract(full: Path, derived: Path) -> list[dict[str, Any]]:
    """One entry per emoji named in every language: {"emoji": …, language: [short name, keywords], …}."""
    by_language = {
        language: annotations(full, "annotations", language) | annotations(derived, "annotationsDerived", language)
        for language in LANGUAGES
    }
    entries = []
    for emoji in by_language[LANGUAGES[0]]:
        named = all("tts" in by_language[language].get(emoji, {}) for language in LANGUAGES)
        if not named or not EMOJI.search(emoji) or SKIN_TONE.search(emoji):
            continue
        entry: dict[str, Any] = {"emoji": emoji}
        for language in LANGUAGES:
            found = by_language[language][emoji]
            entry[language] = [found["tts"][0], found.get("default", [])]
        entries.append(entry)
    return entries


def write_extract(path: Path, entries: list[dict[str, Any]]) -> None:
    """Compressed lines of JSON, with neither a time nor a file name in the header, so that the bytes say all."""
    lines = "".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in entries)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(lines.encode("utf-8"))
    with atomic_path(path) as temporary:
        temporary.write_bytes(packed.getvalue())


def notice(full: Path, derived: Path) -> str:
    """Where the extract comes from, and the licence that must go with it."""
    about = [read_json(package / "package.json") for package in (full, derived)]
    if about[0]["version"] != about[1]["version"]:
        versions = " and ".join(each["version"] for each in about)
        raise UserError(f"{derived}: the two packages are of different versions, {versions}; unpack the same version")
    return NOTICE.format(
        count=len(LANGUAGES),
        languages=" ".join(LANGUAGES),
        packages=" and ".join(f"{each['name']} {each['version']}" for each in about),
        version=about[0]["cldrVersion"],
        licence=(full / "LICENSE").read_text(encoding="utf-8"),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the extract of Unicode CLDR for the emoji corpus.")
    parser.add_argument("full", type=Path, help="unpacked npm package cldr-annotations-full")
    parser.add_argument("derived", type=Path, help="unpacked npm package cldr-annotations-derived-full")
    parser.add_argument("--out", type=Path, default=EXTRACT.parent, help="folder to write to")
    given = parser.parse_args()
    try:
        entries, text = extract(given.full, given.derived), notice(given.full, given.derived)
    except UserError as mistake:
        print(mistake, file=sys.stderr)
        return 2
    write_extract(given.out / EXTRACT.name, entries)
    write_text(given.out / "NOTICE", text)
    keywords = sum(len(entry[language][1]) for entry in entries for language in LANGUAGES)
    print(f"{len(entries)} emoji, {keywords} keywords in {len(LANGUAGES)} languages → {given.out / EXTRACT.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
