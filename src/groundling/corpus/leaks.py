"""Whether a test set can be trusted: captions and pictures of dev and test that are also in train."""

import hashlib
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import regex

from groundling.corpus import near_duplicates
from groundling.corpus.corpus import Corpus, Integers
from groundling.corpus.near_duplicates import HELD_OUT, SAME, Features
from groundling.progress import bar

SHORT = 5  # words; where a script has no spaces, characters
_EXAMPLES = 5
_BLOCK = 2048
_NOT_WORDS = regex.compile(r"[\p{P}\s]+")
_ACCENTS_ALONE = regex.compile(r"[`^´¨¯¸ˆ˜]")  # typed for quotes, as in ``so'' and it´s; NFKC would take them apart
_UNSEEN = regex.compile(r"[\p{Cf}\u0640\u064b-\u0652\u0670]")  # direction marks, joiners, Arabic vowel signs, tatweel
_NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}"
_WORD = regex.compile(rf"[{_NO_SPACES}]|[^\s{_NO_SPACES}]+")


def leaks(
    corpus: Corpus, features: Features | None = None, rows: Integers | None = None, threshold: float = SAME
) -> dict[str, Any]:
    """What of dev and test (of captions, those that are queries) is also in train.

    "captions": language → split → how many of how many, how many of these are generic, and a few examples.
    "pictures_by_content": split → count and examples, by the bytes of the files; None where the corpus has no files.
    "pictures_by_feature": see `near_duplicates.find`; None where no features are given. Picture i has the features in
    row i, or in `rows[i]`, which is −1 where it has none.
    """
    if features is not None and rows is None and len(features) != len(corpus.pictures):
        raise ValueError(f"{len(features)} rows of features for {len(corpus.pictures)} pictures")
    by_feature = None
    if features is not None:
        rows = np.arange(len(features)) if rows is None else rows
        by_feature = near_duplicates.find(corpus.pictures, corpus.splits, features, rows, threshold)
    return {
        "captions": _caption_leaks(corpus),
        "pictures_by_content": None if corpus.root is None else _content_leaks(corpus, corpus.root),
        "pictures_by_feature": by_feature,
    }


def normalised(text: str) -> str:
    """The caption without what does not make it another caption: case, width, punctuation, spacing, unseen signs."""
    folded = _compatible(_compatible(_ACCENTS_ALONE.sub(" ", text)).casefold())
    seen = _UNSEEN.sub("", _ACCENTS_ALONE.sub(" ", folded))
    return _NOT_WORDS.sub(" ", _compatible(seen)).strip()


def _compatible(text: str) -> str:
    """One way to write each letter: composed, and of ordinary width and style."""
    return unicodedata.normalize("NFKC", text)


def normalised_captions(corpus: Corpus) -> list[str]:
    keys = []
    with bar("Comparing captions", len(corpus)) as progress:
        for start in range(0, len(corpus), _BLOCK):
            keys += [normalised(text) for text in corpus.texts[start : start + _BLOCK]]
            progress.advance(len(keys) - start)
    return keys


def _caption_leaks(corpus: Corpus) -> dict[str, dict[str, Any]]:
    """A leaked caption is generic where it is short, or said of several training pictures: less of a worry."""
    splits, keys, asked = corpus.splits[corpus.owners], normalised_captions(corpus), corpus.is_query()
    found: dict[str, dict[str, Any]] = {}
    for language in corpus.all_languages():
        here = corpus.languages == language
        train: dict[str, set[int]] = {}
        for row in np.flatnonzero(here & (splits == "train")):
            if keys[row]:  # captions of punctuation alone say nothing
                train.setdefault(keys[row], set()).add(int(corpus.owners[row]))
        found[language] = {}
        for split in HELD_OUT:
            rows = np.flatnonzero(here & (splits == split) & asked)
            leaked = [int(row) for row in rows if keys[row] in train]
            words = {row: len(_WORD.findall(keys[row])) for row in leaked}
            generic = {row for row in leaked if words[row] <= SHORT or len(train[keys[row]]) > 1}
            worst = sorted(leaked, key=lambda row: (row in generic, -words[row]))
            found[language][split] = {
                "count": len(leaked),
                "of": len(rows),
                "generic": len(generic),
                "examples": [corpus.texts[row] for row in worst[:_EXAMPLES]],
            }
    return found


def _content_leaks(corpus: Corpus, root: Path) -> dict[str, Any]:
    """Only files of a size that train and held-out pictures share are read; most need not be."""
    sizes: dict[int, list[int]] = {}
    missing = 0
    with bar("Comparing picture files", len(corpus.pictures)) as progress:
        for row, name in enumerate(corpus.pictures.tolist()):
            path = root / name
            if path.is_file():
                sizes.setdefault(path.stat().st_size, []).append(row)
            else:
                missing += 1
                progress.advance()
        same: dict[int, int] = {}
        for rows in sizes.values():
            in_train = corpus.splits[rows] == "train"
            if in_train.any() and not in_train.all():
                same.update(_same_content(corpus, root, rows))
            progress.advance(len(rows))
    found: dict[str, Any] = {}
    for split in HELD_OUT:
        pairs = [[row, same[row]] for row in sorted(same) if corpus.splits[row] == split]
        examples = [[str(corpus.pictures[row]) for row in pair] for pair in pairs[:_EXAMPLES]]
        found[split] = {"count": len(pairs), "examples": examples}
    return {**found, "missing_files": missing}


def _same_content(corpus: Corpus, root: Path, rows: list[int]) -> dict[int, int]:
    """Held-out row → the first training row with the same bytes."""
    digests = {row: _digest(root / str(corpus.pictures[row])) for row in rows}
    train: dict[bytes, int] = {}
    for row in rows:
        if corpus.splits[row] == "train":
            train.setdefault(digests[row], row)
    return {row: train[digests[row]] for row in rows if corpus.splits[row] != "train" and digests[row] in train}


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
