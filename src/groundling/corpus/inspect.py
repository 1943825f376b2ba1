"""What is in a corpus: counts, lengths, duplicates; and all of it in words."""

from dataclasses import dataclass

import numpy as np

from groundling.corpus.caption_keys import CaptionKeys, owners_by_key
from groundling.corpus.corpus import Corpus, Integers, Strings, tally
from groundling.corpus.inspect_statements import StatementFacts, StatementLeaks, describe_statements, statement_lines
from groundling.corpus.leak_lines import leak_lines
from groundling.corpus.leaks import Leaks


@dataclass(frozen=True)
class Spread:
    """The least, the middle and the most of some counts."""

    min: int
    median: float
    max: int

    def __str__(self) -> str:
        return f"{self.min}" if self.min == self.max else f"{self.min} to {self.max}, median {self.median:g},"


@dataclass(frozen=True)
class Characters:
    """How long captions are."""

    median: float
    longest: int


@dataclass(frozen=True)
class Duplicates:
    """Captions beyond the first that say the same of the same picture, and those that say the same of another one."""

    same_picture: int
    other_pictures: int


@dataclass(frozen=True)
class LanguageFacts:
    """What is there in one language; `origins` are shares."""

    captions: int
    per_picture: Spread
    characters: Characters
    origins: dict[str, float]
    duplicates: Duplicates


@dataclass(frozen=True)
class CorpusFacts:
    """
    Attributes:
        splits: of each split, how many pictures and captions of each language.
        per_picture: captions.
        origins: shares of the captions.
        skipped, note: what was said when it was built.
        statements: None where it has none.
    """

    name: str
    root: str | None
    pictures: int
    captions: int
    splits: dict[str, dict[str, int]]
    per_picture: Spread
    origins: dict[str, float]
    languages: dict[str, LanguageFacts]
    skipped: dict[str, int] | None
    note: str | None
    statements: StatementFacts | None


def describe(corpus: Corpus, keys: CaptionKeys | None = None) -> CorpusFacts:
    """Counts and lengths. `keys`: where they are known already."""
    owners = corpus.owners
    keys = CaptionKeys.of(corpus) if keys is None else keys
    table = {}
    for language in corpus.all_languages():
        rows = np.flatnonzero(corpus.languages == language)
        lengths = keys.characters[rows]
        _, said_of, same = owners_by_key(keys.hashes[rows], owners[rows])
        table[language] = LanguageFacts(
            len(rows),
            _spread(np.bincount(owners[rows], minlength=len(corpus.pictures))),
            Characters(float(np.median(lengths)), int(lengths.max())),
            _shares(corpus.origins[rows]),
            Duplicates(same, int((said_of - 1).sum())),
        )
    return CorpusFacts(
        name=corpus.name,
        root=None if corpus.root is None else str(corpus.root),
        pictures=len(corpus.pictures),
        captions=len(corpus),
        splits=corpus.counts(),
        per_picture=_spread(np.bincount(owners, minlength=len(corpus.pictures))),
        origins=_shares(corpus.origins),
        languages=table,
        skipped=corpus.info.skipped,
        note=corpus.info.note,
        statements=describe_statements(corpus),
    )


def summary(facts: CorpusFacts, leaks: Leaks | None = None, statement_leaks: StatementLeaks | None = None) -> list[str]:
    """Lines for people, from what `describe` found and, where they were asked, what `leaks` found."""
    lines = [f"{facts.pictures:,} pictures, {facts.captions:,} captions ({facts.per_picture} per picture)"]
    for language, found in facts.languages.items():
        length, repeats = found.characters, found.duplicates
        origins = ", ".join(f"{share:.0%} {origin}" for origin, share in found.origins.items())
        lines.append(
            f"{language}: {found.per_picture} per picture, {length.median:g} characters "
            f"(longest {length.longest:,}), {origins}, said again of the same picture {repeats.same_picture:,}, "
            f"of another {repeats.other_pictures:,}"
        )
    if facts.skipped:
        lines.append("Left out when it was built: " + ", ".join(f"{n:,} {what}" for what, n in facts.skipped.items()))
    if facts.note:
        lines.append(facts.note)
    lines += statement_lines(facts.statements, statement_leaks)
    return lines + ([] if leaks is None else leak_lines(leaks))


def _spread(counts: Integers) -> Spread:
    if not len(counts):
        return Spread(0, 0.0, 0)
    return Spread(int(counts.min()), float(np.median(counts)), int(counts.max()))


def _shares(values: Strings) -> dict[str, float]:
    counts = tally(values)
    return {value: counts[value] / len(values) for value in sorted(counts)}
