"""What is in a corpus: counts, lengths, duplicates; and in words what `leaks` found."""

from typing import Any

import numpy as np

from groundling.corpus.caption_keys import CaptionKeys, owners_by_key
from groundling.corpus.corpus import Corpus, Integers, Strings, tally
from groundling.corpus.inspect_statements import describe_statements, statement_lines
from groundling.corpus.leaks import SHORT
from groundling.corpus.near_duplicates import HELD_OUT

_SHOWN = 10  # pairs of pictures; JSON has them all


def describe(corpus: Corpus, keys: CaptionKeys | None = None) -> dict[str, Any]:
    """Counts and lengths as plain data, ready for a table or for JSON. `keys`: where they are known already."""
    owners = corpus.owners
    keys = CaptionKeys.of(corpus) if keys is None else keys
    table: dict[str, Any] = {}
    for language in corpus.all_languages():
        rows = np.flatnonzero(corpus.languages == language)
        lengths = keys.characters[rows]
        _, said_of, same = owners_by_key(keys.hashes[rows], owners[rows])
        table[language] = {
            "captions": len(rows),
            "per_picture": _spread(np.bincount(owners[rows], minlength=len(corpus.pictures))),
            "characters": {"median": float(np.median(lengths)), "longest": int(lengths.max())},
            "origins": _shares(corpus.origins[rows]),
            "duplicates": {"same_picture": same, "other_pictures": int((said_of - 1).sum())},
        }
    return {
        "name": corpus.name,
        "root": None if corpus.root is None else str(corpus.root),
        "pictures": len(corpus.pictures),
        "captions": len(corpus),
        "splits": corpus.counts(),
        "per_picture": _spread(np.bincount(owners, minlength=len(corpus.pictures))),
        "origins": _shares(corpus.origins),
        "languages": table,
        "skipped": corpus.info.get("skipped"),
        "note": corpus.info.get("note"),
        "statements": describe_statements(corpus),
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
    if facts.get("note"):
        lines.append(facts["note"])
    lines += statement_lines(facts)
    return lines + (_leak_lines(facts["leaks"]) if "leaks" in facts else [])


def _leak_lines(found: dict[str, Any]) -> list[str]:
    lines, generic = [], False
    for split in HELD_OUT:
        for language, table in found["captions"].items():
            if table[split]["count"]:
                counts, example = table[split], table[split]["examples"][0]
                generic |= counts["generic"] > 0
                among = f" ({counts['generic']:,} of them generic)" if counts["generic"] else ""
                lines.append(
                    f"{split}: {counts['count']:,} of {counts['of']:,} {language} captions are also in train{among}, "
                    f'such as "{example}"'
                )
    if generic:
        lines.append(
            f"Generic: at most {SHORT} words (characters, where a script has no spaces), or said of several pictures "
            "in train"
        )
    nearly = found["captions_nearly"]
    lines += _near_lines(nearly["languages"], nearly["threshold"])
    by_content, by_feature = found["pictures_by_content"], found["pictures_by_feature"]
    lines += _file_lines(by_content) + _feature_lines(by_feature, files=by_content is not None)
    kinds = [*found["captions"].values(), *nearly["languages"].values(), by_content or {}, by_feature or {}]
    if not any(table.get(split, {}).get("count") for table in kinds for split in HELD_OUT):
        lines.append("Nothing of dev or test was found in train by what was compared")
    return lines


def _near_lines(found: dict[str, Any], threshold: float) -> list[str]:
    lines = []
    for split in HELD_OUT:
        for language, table in found.items():
            if table[split]["count"]:
                one, other = table[split]["examples"][0]
                lines.append(
                    f"{split}: {table[split]['count']:,} more {language} captions are nearly in train (at least "
                    f'{threshold:.0%} of letter triples in common), such as "{one}" beside "{other}"'
                )
    return lines


def _file_lines(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return ["Picture files were not compared: the corpus has none"]
    lines = [
        f"{split}: {found[split]['count']:,} pictures are also in train (the same file), such as "
        f"{' and '.join(found[split]['examples'][0])}"
        for split in HELD_OUT
        if found[split]["count"]
    ]
    missing = found["missing_files"]
    return [*lines, f"{missing:,} picture files are not there and were not compared"] if missing else lines


def _feature_lines(found: dict[str, Any] | None, files: bool) -> list[str]:
    if found is None:
        how = "--features FOLDER, where `groundling features CORPUS --out FOLDER` has written them"
        return [f"Picture features were not compared: give {how if files else '--features ARRAY.npy and --names LIST'}"]
    lines, checked = [], found["checked"]
    for split in HELD_OUT:
        counts, nearest = found[split], found[split]["nearest"]
        if counts["count"]:
            lines.append(
                f"{split}: {counts['count']:,} of {checked[split]:,} pictures look the same as one of "
                f"{checked['train']:,} in train (cosine of features at least {found['threshold']:g}; "
                f"{counts['identical']:,} have the very same features):"
            )
            shown = counts["pairs"][:_SHOWN]
            lines += [f"  {pair['cosine']:.6f}  {pair['picture']} and {pair['train']}" for pair in shown]
            if counts["count"] > _SHOWN:
                lines.append(f"  … and {counts['count'] - _SHOWN:,} more, all in --json")
        elif nearest:
            lines.append(
                f"{split}: none of {checked[split]:,} pictures looks the same as one of {checked['train']:,} in train "
                f"by its features; the nearest, cosine {nearest['cosine']:.3f}, are {nearest['picture']} and "
                f"{nearest['train']}"
            )
    for key, reason in (("without_features", "no features"), ("without_direction", "features that are zero or broken")):
        if found[key]:
            lines.append(f"{len(found[key]):,} pictures have {reason} and were not compared, such as {found[key][0]}")
    return lines


def _range(spread: dict[str, float]) -> str:
    low, high = spread["min"], spread["max"]
    return f"{low}" if low == high else f"{low} to {high}, median {spread['median']:g},"


def _spread(counts: Integers) -> dict[str, float]:
    if not len(counts):
        return {"min": 0, "median": 0.0, "max": 0}
    return {"min": int(counts.min()), "median": float(np.median(counts)), "max": int(counts.max())}


def _shares(values: Strings) -> dict[str, float]:
    counts = tally(values)
    return {value: counts[value] / len(values) for value in sorted(counts)}
