"""What is in a corpus, and whether its test set can be trusted: counts, lengths, duplicates, leaks."""

import hashlib
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from groundling.corpus.corpus import Corpus, Integers
from groundling.progress import bar

SAME_FEATURE = 0.999  # cosine; re-encoded or resized copies of one photo are above it, different photos below
HELD_OUT = ("dev", "test")
_EXAMPLES = 5
_BLOCK = 2048
_NOT_WORDS = regex.compile(r"[\p{P}\s]+")


def describe(corpus: Corpus) -> dict[str, Any]:
    """Counts and lengths as plain data, ready for a table or for JSON."""
    owners, languages = corpus.owners, corpus.languages
    lengths = np.array([len(text) for text in corpus.texts], dtype=np.int64)
    keys = _keys(corpus)
    table: dict[str, Any] = {}
    for language in corpus.all_languages():
        rows = np.flatnonzero(languages == language)
        same, across = _duplicates(owners[rows].tolist(), [keys[row] for row in rows])
        table[language] = {
            "captions": len(rows),
            "per_picture": _spread(np.bincount(owners[rows], minlength=len(corpus.pictures))),
            "characters": {"median": float(np.median(lengths[rows])), "longest": int(lengths[rows].max())},
            "origins": _shares(corpus.origins[rows].tolist()),
            "duplicates": {"same_picture": same, "other_pictures": across},
        }
    return {
        "name": corpus.name,
        "root": None if corpus.root is None else str(corpus.root),
        "pictures": len(corpus.pictures),
        "captions": len(corpus),
        "splits": corpus.counts(),
        "per_picture": _spread(np.bincount(owners, minlength=len(corpus.pictures))),
        "origins": _shares(corpus.origins.tolist()),
        "languages": table,
        "skipped": corpus.info.get("skipped"),
    }


def leaks(corpus: Corpus, features: npt.NDArray[np.floating[Any]] | None = None) -> dict[str, Any]:
    """Captions (those that are test queries) and pictures of dev and test that are also in train.

    "captions": language → split → count and a few examples. "pictures": split → the same, by the content of the files
    (None where the corpus has no files) and by features (None where none are given; row i is picture i).
    """
    if features is not None and len(features) != len(corpus.pictures):
        raise ValueError(f"{len(features)} rows of features for {len(corpus.pictures)} pictures")
    return {
        "captions": _caption_leaks(corpus),
        "pictures_by_content": None if corpus.root is None else _content_leaks(corpus, corpus.root),
        "pictures_by_feature": None if features is None else _feature_leaks(corpus, features),
    }


def summary(facts: dict[str, Any]) -> list[str]:
    """Lines for people, from what `describe` found and, under "leaks", what `leaks` found."""
    lines = [
        f"{facts['pictures']:,} pictures, {facts['captions']:,} captions ({_range(facts['per_picture'])} per picture)"
    ]
    for language, found in facts["languages"].items():
        length, repeats = found["characters"], found["duplicates"]
        origins = ", ".join(f"{share:.0%} {origin}" for origin, share in found["origins"].items())
        lines.append(
            f"{language}: {_range(found['per_picture'])} per picture, {length['median']:g} characters "
            f"(longest {length['longest']:,}), {origins}, said again of the same picture {repeats['same_picture']:,}, "
            f"of another {repeats['other_pictures']:,}"
        )
    if facts.get("skipped"):
        lines.append(
            "Left out when it was built: " + ", ".join(f"{n:,} {what}" for what, n in facts["skipped"].items())
        )
    return lines + (_leak_lines(facts["leaks"]) if "leaks" in facts else [])


def _leak_lines(found: dict[str, Any]) -> list[str]:
    kinds = {f"{language} captions": found["captions"][language] for language in found["captions"]}
    kinds["pictures (same file)"] = found["pictures_by_content"] or {}
    kinds["pictures (same features)"] = found["pictures_by_feature"] or {}
    lines = [
        f"{split}: {table[split]['count']:,} {what} are also in train, such as {_shown(table[split]['examples'][0])}"
        for split in HELD_OUT
        for what, table in kinds.items()
        if split in table and table[split]["count"]
    ]
    return lines or ["Nothing of dev or test was found in train"]


def _shown(example: str | list[str]) -> str:
    return f'"{example}"' if isinstance(example, str) else " and ".join(example)


def _range(spread: dict[str, float]) -> str:
    low, high = spread["min"], spread["max"]
    return f"{low}" if low == high else f"{low} to {high}, median {spread['median']:g},"


def normalised(text: str) -> str:
    """The caption without what does not make it another caption: case, width, punctuation, spacing."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _NOT_WORDS.sub(" ", folded).strip()


def _keys(corpus: Corpus) -> list[str]:
    keys = []
    with bar("Comparing captions", len(corpus)) as progress:
        for start in range(0, len(corpus), _BLOCK):
            keys += [normalised(text) for text in corpus.texts[start : start + _BLOCK]]
            progress.advance(len(keys) - start)
    return keys


def _caption_leaks(corpus: Corpus) -> dict[str, dict[str, Any]]:
    splits, keys, asked = corpus.splits[corpus.owners], _keys(corpus), corpus.is_query()
    found: dict[str, dict[str, Any]] = {}
    for language in corpus.all_languages():
        here = corpus.languages == language
        train = {keys[row] for row in np.flatnonzero(here & (splits == "train"))}
        train.discard("")  # captions of punctuation alone say nothing
        found[language] = {}
        for split in HELD_OUT:
            rows = np.flatnonzero(here & (splits == split) & asked)
            found[language][split] = _counted([corpus.texts[row] for row in rows if keys[row] in train])
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
        twins: dict[int, int] = {}
        for rows in sizes.values():
            in_train = corpus.splits[rows] == "train"
            if in_train.any() and not in_train.all():
                twins.update(_same_content(corpus, root, rows))
            progress.advance(len(rows))
    return {**_pairs(corpus, twins), "missing_files": missing}


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


def _feature_leaks(corpus: Corpus, features: npt.NDArray[np.floating[Any]]) -> dict[str, Any]:
    """Held-out pictures against all training pictures, block by block: neither side need fit in memory at once."""
    train = np.flatnonzero(corpus.splits == "train")
    held_out = np.flatnonzero(corpus.splits != "train")
    twins: dict[int, int] = {}
    with bar("Comparing picture features", len(held_out)) as progress:
        for start in range(0, len(held_out), _BLOCK):
            rows = held_out[start : start + _BLOCK]
            queries = _unit(features[rows])
            best, nearest = np.full(len(rows), -1.0), np.zeros(len(rows), dtype=np.int64)
            for begin in range(0, len(train), _BLOCK):
                candidates = train[begin : begin + _BLOCK]
                cosines = queries @ _unit(features[candidates]).T
                top = cosines.argmax(axis=1)
                value = cosines[np.arange(len(rows)), top]
                better = value > best
                best[better], nearest[better] = value[better], candidates[top[better]]
            same = best >= SAME_FEATURE
            twins.update(zip(rows[same].tolist(), nearest[same].tolist(), strict=True))
            progress.advance(len(rows))
    return _pairs(corpus, twins)


def _unit(block: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """Rows of length 1; a row that has no direction (all zero, or not finite) becomes zero and is like no other."""
    wide = np.asarray(block, dtype=np.float32)
    wide = np.where(np.isfinite(wide).all(axis=1, keepdims=True), wide, 0)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(length > 0, length, 1)).astype(np.float32)


def _pairs(corpus: Corpus, twins: dict[int, int]) -> dict[str, Any]:
    """Split → how many of its pictures have a twin in train, and a few pairs of names."""
    by_split: dict[str, list[list[str]]] = {split: [] for split in HELD_OUT}
    for row in sorted(twins):
        by_split[str(corpus.splits[row])].append([str(corpus.pictures[row]), str(corpus.pictures[twins[row]])])
    return {split: _counted(pairs) for split, pairs in by_split.items()}


def _counted(found: list[Any]) -> dict[str, Any]:
    return {"count": len(found), "examples": found[:_EXAMPLES]}


def _duplicates(owners: list[int], keys: list[str]) -> tuple[int, int]:
    """Captions beyond the first that say the same of the same picture, and those that say the same of another one."""
    distinct = set(zip(owners, keys, strict=True))
    texts = Counter(key for _, key in distinct)
    return len(keys) - len(distinct), sum(count - 1 for count in texts.values())


def _spread(counts: Integers) -> dict[str, float]:
    if not len(counts):
        return {"min": 0, "median": 0.0, "max": 0}
    return {"min": int(counts.min()), "median": float(np.median(counts)), "max": int(counts.max())}


def _shares(values: list[str]) -> dict[str, float]:
    counts = Counter(values)
    return {value: counts[value] / len(values) for value in sorted(counts)}
