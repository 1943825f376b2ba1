"""Which data is trained on: the conditions of Kádár et al. 2018, as operations on the training split.

Dev and test are never touched. What is drawn depends on the seed and on names alone, not on the order of rows or on
what else is in the corpus: the half of the pictures, and the one caption of a picture, are the same wherever they are
drawn.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from groundling.corpus.corpus import Corpus, Integers
from groundling.errors import UserError


def one_caption(corpus: Corpus, seed: int) -> Corpus:
    """One caption, drawn at random, for each training picture and language: comparable captions of one per picture."""
    keep = corpus.splits[corpus.owners] != "train"
    rows: dict[tuple[int, str], list[int]] = {}
    for row in np.flatnonzero(~keep).tolist():
        rows.setdefault((int(corpus.owners[row]), str(corpus.languages[row])), []).append(row)
    for (picture, language), captions in rows.items():
        keep[captions[_draw(seed, language, str(corpus.pictures[picture])) % len(captions)]] = True
    return corpus.keep_captions(keep)


def half(corpus: Corpus, seed: int) -> Corpus:
    """Half of the training pictures with all their captions, in every language the same half (100% overlap)."""
    keep = _parts(corpus, 2, seed) != 1
    return corpus.keep_pictures(keep)


def some_pictures(corpus: Corpus, number: int, seed: int) -> Corpus:
    """So many of the training pictures that have captions, with all their captions: the 100 are among the 200."""
    told = np.zeros(len(corpus.pictures), dtype=bool)
    told[corpus.owners] = True
    if corpus.statements is not None:
        told[corpus.statements.owners] = True
    order = _drawn(corpus, np.flatnonzero((corpus.splits == "train") & told), seed)
    if number > len(order):
        raise UserError(f"corpus {corpus.name} has {len(order):,} training pictures, and not {number:,}")
    keep = corpus.splits != "train"
    keep[order[:number]] = True
    return corpus.keep_pictures(keep)


def disjoint(corpus: Corpus, languages: Sequence[str], seed: int) -> Corpus:
    """As many equal parts of the training pictures as there are languages, each captioned in one of them (0% overlap).

    The first language has the part that `half` keeps, where there are two.
    """
    if len(languages) < 2:
        raise UserError("disjoint pictures need at least two languages (corpus.languages)")
    part = _parts(corpus, len(languages), seed)[corpus.owners]  # −1 outside of train
    wanted = np.array([*languages, ""])[part]  # the language whose captions a picture keeps
    return corpus.keep_captions((part < 0) | (corpus.languages == wanted))


def captions_from(corpus: Corpus, language: str, sources: Sequence[Corpus]) -> Corpus:
    """The captions of one language from elsewhere: comparable captions instead of translations, or both of them."""
    kept = corpus.keep_captions(corpus.languages != language)
    for source in sources:
        if language not in source.all_languages():
            raise UserError(f'corpus {source.name} has no captions in "{language}"')
        kept = add(kept, source.only([language]))
    return kept


def tested_on(corpus: Corpus, other: Corpus) -> Corpus:
    """The test captions of `other` instead of this corpus's own, in the languages that both have."""
    asked = other.split("test").only(corpus.all_languages())
    if not len(asked):
        raise UserError(f"corpus {other.name} has no test captions in a language of corpus {corpus.name}")
    replaced = np.isin(corpus.languages, asked.all_languages()) & (corpus.splits[corpus.owners] == "test")
    return add(corpus.keep_captions(~replaced), asked)


def add(corpus: Corpus, other: Corpus) -> Corpus:
    """The captions of both, by picture name: comparable captions added to translations, say.

    Captions of `other` come after those of `corpus`; a picture that both have must be in the same split.
    """
    row_of = {name: row for row, name in enumerate(corpus.pictures.tolist())}
    new = [name for name in other.pictures.tolist() if name not in row_of]
    row_of |= {name: len(corpus.pictures) + place for place, name in enumerate(new)}
    rows = np.array([row_of[name] for name in other.pictures.tolist()], dtype=np.int64)
    splits = np.concatenate([corpus.splits, other.splits[rows >= len(corpus.pictures)]])
    torn = np.flatnonzero(splits[rows] != other.splits)
    if len(torn):
        name, ours, theirs = other.pictures[torn[0]], splits[rows[torn[0]]], other.splits[torn[0]]
        raise UserError(f'picture "{name}" is in {ours} of {corpus.name} but in {theirs} of {other.name}')
    return replace(
        corpus,
        name="+".join(dict.fromkeys([*corpus.name.split("+"), *other.name.split("+")])),
        pictures=np.concatenate([corpus.pictures, np.array(new, dtype=str)]) if new else corpus.pictures,
        splits=splits,
        owners=np.concatenate([corpus.owners, rows[other.owners]]),
        languages=np.concatenate([corpus.languages, other.languages]),
        texts=[*corpus.texts, *other.texts],
        origins=np.concatenate([corpus.origins, other.origins]),
    )


def _parts(corpus: Corpus, number: int, seed: int) -> Integers:
    """For each picture the part of the training pictures it belongs to, 0 … number − 1 of equal sizes; −1 elsewhere."""
    order = _drawn(corpus, np.flatnonzero(corpus.splits == "train"), seed)
    part = np.full(len(corpus.pictures), -1, dtype=np.int64)
    for place, row in enumerate(order):
        part[row] = place * number // len(order)
    return part


def _drawn(corpus: Corpus, pictures: Integers, seed: int) -> list[int]:
    """These pictures in the order in which they are drawn."""
    return sorted(pictures.tolist(), key=lambda row: _draw(seed, "", str(corpus.pictures[row])))


def _draw(seed: int, what: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}\0{what}\0{name}".encode()).digest()[:8], "big")
