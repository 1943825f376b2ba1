"""Sentences without pictures: captions of photos that are not there, and translations, which only meet each other.

They come from other corpora, whose training captions are taken, or from tables of pairs. What belongs to a picture of
the corpus that is trained and tested on is left out, and so is every sentence that one of its dev or test captions says
word for word: nothing that is asked in a test has been read before.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from groundling.corpus.caption_keys import normalised
from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.corpus.sentence_pairs import Meaning, as_corpus
from groundling.errors import UserError
from groundling.progress import bar

_FLICKR = re.compile(r"(\d+)_[0-9a-f]{10}")  # Flickr8k's names; Flickr30k has the number alone
_COCO = re.compile(r"COCO_(?:train|val|test)\d{4}_(\d{12})")


@dataclass(frozen=True)
class Unpictured:
    """Sentences by meaning, as a corpus whose "pictures" are meanings, all in the split "train".

    Attributes:
        by_picture: meanings that were left out because their picture is one of the corpus.
        by_text: sentences that were left out because a dev or test caption says the same.
    """

    corpus: Corpus
    by_picture: int
    by_text: int

    def only(self, languages: Sequence[str]) -> "Unpictured":
        """Sentences in these languages; a meaning may be left with one of them, or with none."""
        return replace(self, corpus=self.corpus.only(list(languages)))

    def __str__(self) -> str:
        return (
            f"{len(self.corpus.pictures):,} meanings without pictures ({len(self.corpus):,} sentences); left out: "
            f"{self.by_picture:,} whose picture is in the corpus, {self.by_text:,} sentences of dev or test captions"
        )


def unpictured(corpus: Corpus, sources: Sequence[Corpus]) -> Unpictured:
    """The training sentences of other corpora, in the languages of `corpus`. The same picture in several is one."""
    known = {picture_id(name) for name in corpus.pictures.tolist()}
    languages = set(corpus.all_languages())
    asked = _held_out(corpus)
    meanings: dict[str, dict[tuple[str, str], str]] = {}
    by_picture: set[str] = set()
    by_text = 0
    with bar("Sentences without pictures", sum(map(len, sources))) as progress:
        for source in sources:
            ids = [picture_id(name) for name in source.pictures.tolist()]
            for owner, code, text in zip(source.owners.tolist(), source.languages.tolist(), source.texts, strict=True):
                progress.advance()
                if source.splits[owner] != "train" or code not in languages:
                    continue
                if ids[owner] in known:
                    by_picture.add(ids[owner])
                    continue
                said = normalised(text)
                if (code, said) in asked:
                    by_text += 1
                else:
                    meanings.setdefault(ids[owner], {}).setdefault((code, said), text)
    found = [
        Meaning(name, "train", tuple((code, text) for (code, _), text in said.items()))
        for name, said in meanings.items()
        if len(said) > 1  # a sentence that stands alone has nobody to meet
    ]
    if not found:
        named = ", ".join(source.name for source in sources)
        raise UserError(f"corpus.text_only: nothing in {named} is left to train on in {', '.join(sorted(languages))}")
    return Unpictured(as_corpus("+".join(source.name for source in sources), found), len(by_picture), by_text)


def picture_id(name: str) -> str:
    """What the names of one picture in several corpora have in common: their number on Flickr or in COCO."""
    stem = PurePosixPath(name).stem
    found = _FLICKR.fullmatch(stem) or _COCO.fullmatch(stem)
    return found[1] if found else stem


def _held_out(corpus: Corpus) -> set[tuple[str, str]]:
    rows = np.flatnonzero(corpus.splits[corpus.owners] != "train").tolist()
    return {(str(corpus.languages[row]), normalised(corpus.texts[row])) for row in rows}


def read_pairs(path: Path) -> Corpus:
    """Translations in a .tsv file: its first line names the languages of the columns, each other one says one thing in
    them. A language that lacks a sentence has an empty field."""
    codes: list[str] = []
    meanings: list[Meaning] = []
    for number, line in numbered_lines(path):
        fields = line.rstrip("\r\n").split("\t")
        try:
            if not codes:
                codes = [checks.language_code(field) for field in fields]
                if len(codes) < 2:
                    raise BadRow("the first line names the languages of at least two columns, with tabs between them")
                continue
            if not line.strip():
                continue
            if len(fields) != len(codes):
                raise BadRow(f"{len(fields)} columns where the first line names {len(codes)}")
            said = [
                (code, checks.caption_text(field)) for code, field in zip(codes, fields, strict=True) if field.strip()
            ]
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}") from None
        meanings.append(Meaning(f"{path.stem.replace('.', ' ')} {number}", "train", tuple(said)))
    if not meanings:
        raise UserError(f"{path}: holds no pair of sentences")
    return as_corpus(path.name, meanings)
