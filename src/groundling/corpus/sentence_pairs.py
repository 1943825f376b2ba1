"""Sentences that mean the same in a known and in a new language: from a table of pairs, or from a corpus's captions.

Either way they come as a corpus whose "pictures" are meanings: what is said in two languages of one meaning are
captions of one owner. There is nothing to look at, so nobody asks for features.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.errors import UserError, did_you_mean

FEWEST = 50  # pairs; of fewer nothing can be held out that tells anything
HELD_OUT = 10  # a tenth of the pairs stops the training, another tenth is the test
MOST_HELD_OUT = 2000


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


def read(path: Path, new: str, known: str | None, teacher_knows: Sequence[str]) -> Corpus:
    """The pairs in a .tsv file: a sentence that the teacher knows, a tab, the same in the language `new`.

    The first language is `known`, or what a first line of two language codes says, or the teacher's only one. A tenth
    of the known sentences, drawn by what they say, with all that is paired with them, is the dev split, another tenth
    the test split.
    """
    pairs: dict[str, list[str]] = {}
    count = 0
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 2:
            what = "no tab" if len(fields) == 1 else f"{len(fields) - 1} tabs"
            raise UserError(
                f"{path.name}:{number}: {what} in this line; write a known sentence, one tab, the sentence in {new}"
            )
        if number == 1 and _code(fields[1]) == new and _code(fields[0]) is not None:
            header = _code(fields[0])
            if known is not None and header != known:
                raise UserError(f"{path.name}:1: the header says {header}, and --from {known}; mend one of them")
            known = header
            continue
        try:
            first, second = (checks.caption_text(field) for field in fields)
        except BadRow as problem:
            raise UserError(f"{path.name}:{number}: {problem}; write both sentences, or leave the line out") from None
        pairs.setdefault(first.strip(), []).append(second.strip())
        count += 1
    if known is None and len(teacher_knows) == 1:
        known = teacher_knows[0]
    if known is None:
        raise UserError(
            f"{path.name}: which language are the first sentences in? Say it with --from, or with a first line such as "
            f'"{teacher_knows[0]}<tab>{new}"'
        )
    if known not in teacher_knows:
        raise UserError(f'{path.name}: the teacher does not know "{known}"{did_you_mean(known, teacher_knows)}')
    if len(pairs) < FEWEST:
        raise UserError(
            f"{path.name}: {count} pairs of {len(pairs)} different known sentences; at least {FEWEST} are needed"
        )
    return as_corpus(path.name, _split(pairs, known, new))


def fingerprint(path: Path) -> str | None:
    """SHA-256 of a file; None where it cannot be read, which whoever reads it will tell."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _split(pairs: dict[str, list[str]], known: str, new: str) -> list[Meaning]:
    held_out = min(MOST_HELD_OUT, len(pairs) // HELD_OUT)
    drawn = sorted(pairs, key=lambda text: hashlib.sha256(text.encode()).digest())
    split = {
        text: "dev" if place < held_out else "test" if place < 2 * held_out else "train"
        for place, text in enumerate(drawn)
    }
    return [
        Meaning(f"pair-{number}", split[text], ((known, text), *((new, other) for other in others)))
        for number, (text, others) in enumerate(pairs.items())
    ]


def _code(field: str) -> str | None:
    try:
        return checks.language_code(field)
    except BadRow:
        return None


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
