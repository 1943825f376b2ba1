"""Sentences that mean the same in a known and in a new language, from a corpus's captions (from files: `pairs`).

They come as a corpus whose "pictures" are meanings: what is said in two languages of one meaning are captions of one
owner. There is nothing to look at, so nobody asks for features.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from groundling.corpus.corpus import Corpus


@dataclass(frozen=True)
class Meaning:
    """What is said of one thing: (language, text), in known languages and in a new one."""

    name: str
    split: str
    sentences: tuple[tuple[str, str], ...]


def as_corpus(name: str, meanings: Sequence[Meaning]) -> Corpus:
    said = [(row, code, text) for row, meaning in enumerate(meanings) for code, text in meaning.sentences]
    return Corpus(
        name=name,
        pictures=np.array([meaning.name for meaning in meanings], dtype=str),
        splits=np.array([meaning.split for meaning in meanings], dtype=str),
        owners=np.array([row for row, _, _ in said], dtype=np.int64),
        languages=np.array([code for _, code, _ in said], dtype=str),
        texts=[text for _, _, text in said],
        origins=np.full(len(said), "human"),
    )


def of_statements(corpus: Corpus, known: Sequence[str], new: Sequence[str]) -> list[Meaning]:
    """Statements that share an id, of a corpus whose captions are its statements (see `Corpus.judged`)."""
    assert corpus.statements is not None  # noqa: S101 (for the type checker: they are its captions)
    return _meanings(corpus, corpus.statements.ids.tolist(), known, new)


def of_captions(corpus: Corpus, known: Sequence[str], new: Sequence[str]) -> list[Meaning]:
    """Captions of the same picture: comparable ones, which are no translations."""
    return _meanings(corpus, corpus.pictures[corpus.owners].tolist(), known, new)


def _meanings(corpus: Corpus, keys: Iterable[str], known: Sequence[str], new: Sequence[str]) -> list[Meaning]:
    """Captions by key, those of each new language with the known ones; keys that lack either are left out."""
    found: dict[str, tuple[str, dict[str, list[str]]]] = {}
    splits = corpus.splits[corpus.owners].tolist()
    for key, split, code, text in zip(keys, splits, corpus.languages.tolist(), corpus.texts, strict=True):
        found.setdefault(key, (split, {}))[1].setdefault(code, []).append(text)
    return [
        meaning(key, split, [(c, text) for c in known for text in said.get(c, [])], (code, said[code]))
        for key, (split, said) in found.items()
        for code in new
        if code in said and any(c in said for c in known)
    ]


def meaning(key: str, split: str, known: Sequence[tuple[str, str]], new: tuple[str, Sequence[str]]) -> Meaning:
    return Meaning(f"{key} {new[0]}", split, (*known, *((new[0], text) for text in new[1])))
