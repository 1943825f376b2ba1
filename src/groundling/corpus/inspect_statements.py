"""What is in the statements of a corpus: labels by split and language, what repeats, what the words give away."""

from collections import Counter
from typing import Any

import numpy as np

from groundling.corpus.caption_keys import normalised
from groundling.corpus.corpus import SPLITS, Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.corpus.near_duplicates import HELD_OUT


def describe_statements(corpus: Corpus) -> dict[str, Any] | None:
    """Counts as plain data; None where the corpus has no statements."""
    statements = corpus.statements
    if statements is None:
        return None
    splits = corpus.splits[statements.owners]
    return {
        "statements": len(statements),
        "different": len(np.unique(statements.ids)),
        "labels": {
            split: {
                language: _labels(statements.labels[(splits == split) & (statements.languages == language)])
                for language in sorted(statements.all_languages())
            }
            for split in SPLITS
        },
        "torn_translations": _torn(statements),
    }


def statement_leaks(corpus: Corpus, text_only: dict[str, Any]) -> dict[str, Any] | None:
    """Language → split → how many statements are word for word in train; and what classifiers make of words alone, by
    language (see `evaluation.text_only`)."""
    statements = corpus.statements
    if statements is None:
        return None
    splits = corpus.splits[statements.owners]
    known = {text: normalised(text) for text in set(statements.texts)}
    keys = [known[text] for text in statements.texts]
    repeated: dict[str, Any] = {}
    for language in sorted(statements.all_languages()):
        here = statements.languages == language
        train = {keys[row] for row in np.flatnonzero(here & (splits == "train"))}
        repeated[language] = {}
        for split in HELD_OUT:
            rows = np.flatnonzero(here & (splits == split))
            repeated[language][split] = {"count": sum(keys[row] in train for row in rows), "of": len(rows)}
    return {"in_train": repeated, "text_only": text_only}


def statement_lines(facts: dict[str, Any]) -> list[str]:
    """Lines for people, from both of the above under "statements" and "statement_leaks"."""
    found, leaks = facts.get("statements"), facts.get("statement_leaks")
    if not found:
        return []
    lines = [f"{found['statements']:,} statements with labels, {found['different']:,} without their translations"]
    if found["torn_translations"]:
        lines.append(f"{found['torn_translations']:,} statements and their translations disagree on picture or label")
    if leaks is None:
        return lines
    for split in HELD_OUT:
        shares = {
            language: f"{counts[split]['count']:,} of {counts[split]['of']:,}"
            for language, counts in leaks["in_train"].items()
            if counts[split]["count"]
        }
        lines += [
            f"{split}: {share} statements ({' '.join(languages)}) are word for word in train, about other pictures"
            for share, languages in _grouped(shares).items()
        ]
    told = {
        language: f"{row['split']}: without a look at the pictures, {row['majority']:.1%} of labels are right by "
        f"always saying the most frequent one, {row['words']:.1%} by the words of the statements"
        for language, row in leaks["text_only"].items()
    }
    lines += [f"{line} ({' '.join(languages)})" for line, languages in _grouped(told).items()]
    if not told:
        lines.append("How much words alone give away was not measured: no statements to train on, or none to test on")
    return lines


def label_rows(found: dict[str, Any]) -> list[list[str | int]]:
    """Rows of a table: split, languages with the same counts together, and the number of each label."""
    rows: list[list[str | int]] = []
    for split, languages in found["labels"].items():
        counts = {language: tuple(table.values()) for language, table in languages.items() if any(table.values())}
        rows += [[split, " ".join(codes), *numbers] for numbers, codes in _grouped(counts).items()]
    return rows


def _grouped(values: dict[str, Any]) -> dict[Any, list[str]]:
    """Value → the languages that have it."""
    groups: dict[Any, list[str]] = {}
    for language, value in values.items():
        groups.setdefault(value, []).append(language)
    return groups


def _labels(labels: Any) -> dict[str, int]:
    counts = Counter(labels.tolist())
    return {label: counts[label] for label in LABELS}


def _torn(statements: Entailments) -> int:
    """Ids whose rows do not agree on picture and label."""
    first: dict[str, tuple[int, str]] = {}
    torn = set()
    rows = zip(statements.ids.tolist(), statements.owners.tolist(), statements.labels.tolist(), strict=True)
    for name, owner, label in rows:
        if first.setdefault(name, (owner, label)) != (owner, label):
            torn.add(name)
    return len(torn)
