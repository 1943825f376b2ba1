"""Flickr8k as published: Flickr8k.token.txt with lines `name.jpg#0<tab>caption`, and one list of photos per split."""

from collections.abc import Iterator
from pathlib import Path

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.precomputed import features_in
from groundling.corpus.formats.text_lines import numbered_lines, plain_or_gzipped
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError

TOKENS = "Flickr8k.token.txt"
LISTS = {split: f"Flickr_8k.{split}Images.txt" for split in ("train", "dev", "test")}


def read(data: Path) -> Corpus:
    """The corpus in data/flickr8k (or data itself, or Flickr8k_text inside either).

    The token file also has photos that belong to no split, which are left out.
    """
    folder = _text_folder(data)
    tokens = plain_or_gzipped(folder / TOKENS)
    captions: dict[str, list[str]] = {}
    for name, text in _captions(tokens):
        captions.setdefault(name, []).append(text)
    builder = Builder("flickr8k")
    for split, file in LISTS.items():
        listed = plain_or_gzipped(folder / file)
        before = len(builder)
        for number, line in numbered_lines(listed):
            name = line.strip()
            if not name:
                continue
            if name in builder:
                raise UserError(f'{listed.name}:{number}: the photo "{name}" was listed before')
            if name not in captions:
                raise UserError(f'{listed.name}:{number}: {tokens.name} has no caption for "{name}"')
            row = builder.picture(name, split)
            for text in captions[name]:
                builder.caption(row, "en", text)
        if len(builder) == before:
            raise UserError(f"{listed}: names no photo; fetch the file again")
    home = folder.parent if folder.name == "Flickr8k_text" else folder
    return builder.corpus(pictures_in(home), CorpusInfo(features=features_in(home)))


def pictures_in(folder: Path) -> Path | None:
    """The folder of photos, under the names it is found with (the first is the publisher's own spelling)."""
    names = ("Flicker8k_Dataset", "Flickr8k_Dataset", "images", "Images")
    return next(((folder / name).resolve() for name in names if (folder / name).is_dir()), None)


def _text_folder(data: Path) -> Path:
    places = [base / inner for base in (data / "flickr8k", data) for inner in ("", "Flickr8k_text")]
    for place in places:
        if (place / TOKENS).is_file() or (place / f"{TOKENS}.gz").is_file():
            return place
    raise UserError(f"{data / 'flickr8k' / TOKENS}: no such file; unpack Flickr8k_text there")


def _captions(path: Path) -> Iterator[tuple[str, str]]:
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        key, tab, text = line.rstrip("\r\n").partition("\t")
        name, hash_sign, which = key.rpartition("#")
        if not (tab and hash_sign and name and which.isdigit()):
            raise UserError(f'{path.name}:{number}: not a line like "name.jpg#0<tab>caption"')
        try:
            yield name, checks.caption_text(text)
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}") from None
