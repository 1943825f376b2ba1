"""Whether a test set can be trusted: captions and pictures of dev and test that are also in train."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import regex

from groundling.corpus import near_duplicates
from groundling.corpus.caption_keys import CaptionKeys, normalised, owners_by_key
from groundling.corpus.columns import Mask
from groundling.corpus.corpus import Corpus, Integers
from groundling.corpus.near_captions import NEAR, near_captions
from groundling.corpus.near_duplicates import HELD_OUT, SAME, Features
from groundling.progress import bar

SHORT = 5  # words; where a script has no spaces, characters
_EXAMPLES = 5
_NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}"
_WORD = regex.compile(rf"[{_NO_SPACES}]|[^\s{_NO_SPACES}]+")


def leaks(
    corpus: Corpus,
    features: Features | None = None,
    rows: Integers | None = None,
    threshold: float = SAME,
    keys: CaptionKeys | None = None,
) -> dict[str, Any]:
    """What of dev and test (of captions, those that are queries) is also in train.

    "captions": language → split → how many of how many, how many of these are generic, and a few examples.
    "captions_nearly": those that are not there word for word, but nearly (see `near_captions`), and a few pairs.
    "pictures_by_content": split → count and examples, by the bytes of the files; None where the corpus has no files.
    "pictures_by_feature": see `near_duplicates.find`; None where no features are given. Picture i has the features in
    row i, or in `rows[i]`, which is −1 where it has none.

    `keys` are those of the corpus, where they are known already.
    """
    if features is not None and rows is None and len(features) != len(corpus.pictures):
        raise ValueError(f"{len(features)} rows of features for {len(corpus.pictures)} pictures")
    by_feature = None
    if features is not None:
        rows = np.arange(len(features)) if rows is None else rows
        by_feature = near_duplicates.find(corpus.pictures, corpus.splits, features, rows, threshold)
    keys = CaptionKeys.of(corpus) if keys is None else keys
    asked = corpus.is_query()
    captions, there = _caption_leaks(corpus, keys, asked)
    return {
        "captions": captions,
        "captions_nearly": _near_leaks(corpus, keys, asked & ~there),
        "pictures_by_content": None if corpus.root is None else _content_leaks(corpus, corpus.root),
        "pictures_by_feature": by_feature,
    }


def _caption_leaks(corpus: Corpus, keys: CaptionKeys, asked: Mask) -> tuple[dict[str, dict[str, Any]], Mask]:
    """What was found, and for each caption whether it is one of those found.

    A leaked caption is generic where it is short, or said of several training pictures: less of a worry.
    """
    in_train = (corpus.splits == "train")[corpus.owners] & (keys.hashes != 0)  # punctuation alone says nothing
    found: dict[str, dict[str, Any]] = {}
    all_leaked = np.zeros(len(corpus), dtype=bool)
    for language in corpus.all_languages():
        here = corpus.languages == language
        known, pictures, _ = owners_by_key(keys.hashes[here & in_train], corpus.owners[here & in_train])
        found[language] = {}
        for split in HELD_OUT:
            rows = np.flatnonzero(here & (corpus.splits == split)[corpus.owners] & asked)
            place = np.searchsorted(known, keys.hashes[rows])
            there = np.flatnonzero(place < len(known))
            there = there[known[place[there]] == keys.hashes[rows[there]]]
            leaked, several = rows[there], pictures[place[there]] > 1
            words = np.array([len(_WORD.findall(normalised(corpus.texts[row]))) for row in leaked], dtype=np.int64)
            generic = (words <= SHORT) | several
            worst = leaked[np.lexsort((-words, generic))]
            all_leaked[leaked] = True
            found[language][split] = {
                "count": len(leaked),
                "of": len(rows),
                "generic": int(generic.sum()),
                "examples": [corpus.texts[row] for row in worst[:_EXAMPLES]],
            }
    return found, all_leaked


def _near_leaks(corpus: Corpus, keys: CaptionKeys, asked: Mask) -> dict[str, Any]:
    """Language → split → how many captions are nearly in train, and the nearest of them with their counterparts."""
    found: dict[str, Any] = {
        language: {split: {"count": 0, "examples": []} for split in HELD_OUT} for language in corpus.all_languages()
    }
    for pair in sorted(near_captions(corpus, keys, asked), key=lambda pair: -pair.similarity):
        table = found[str(corpus.languages[pair.row])][str(corpus.splits[corpus.owners[pair.row]])]
        table["count"] += 1
        if len(table["examples"]) < _EXAMPLES:
            table["examples"].append([corpus.texts[pair.row], corpus.texts[pair.train]])
    return {"threshold": NEAR, "languages": found}


def _content_leaks(corpus: Corpus, root: Path) -> dict[str, Any]:
    """Only files of a size that train and held-out pictures share are read; most need not be."""
    sizes = np.full(len(corpus.pictures), -1, dtype=np.int64)
    in_train = corpus.splits == "train"
    with bar("Comparing picture files", len(sizes)) as progress:
        for row in range(len(sizes)):
            path = root / str(corpus.pictures[row])
            if path.is_file():
                sizes[row] = path.stat().st_size
            progress.advance()
    shared = np.intersect1d(sizes[in_train & (sizes >= 0)], sizes[~in_train & (sizes >= 0)])
    alike = np.flatnonzero(np.isin(sizes, shared))
    train: dict[bytes, int] = {}  # the first of each content
    held_out: list[tuple[int, bytes]] = []
    with bar("Comparing picture files of equal size", len(alike)) as progress:
        for row in alike.tolist():
            digest = _digest(root / str(corpus.pictures[row]))
            if in_train[row]:
                train.setdefault(digest, row)
            else:
                held_out.append((row, digest))
            progress.advance()
    found: dict[str, Any] = {}
    for split in HELD_OUT:
        pairs = [(row, train[key]) for row, key in held_out if key in train and corpus.splits[row] == split]
        examples = [[str(corpus.pictures[row]) for row in pair] for pair in pairs[:_EXAMPLES]]
        found[split] = {"count": len(pairs), "examples": examples}
    return {**found, "missing_files": int((sizes < 0).sum())}


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
