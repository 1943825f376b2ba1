"""Machine-translated captions, so that every picture has some in every language (Burns et al. 2020, supplement 7.1).

What people wrote stays first. In the dev and test splits a language that has captions of its own is left alone, for
translations would be asked as if they were people's words; a language that has none is tested on translations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.entailment import Entailments
from groundling.corpus.info import Translated
from groundling.errors import UserError, did_you_mean
from groundling.translation.source import TranslationSource
from groundling.translation.translation_table import Line, plain

PIVOT = "en"


@dataclass(frozen=True)
class Filled:
    """A corpus with translations added.

    Attributes:
        made: by language, how many captions are new.
        short: by language, how many pictures still have fewer than wanted, for want of captions or translations.
        lines: what was translated into what, each once.
    """

    corpus: Corpus
    made: dict[str, int]
    short: dict[str, int]
    lines: list[Line]


@dataclass
class _Need:
    """A picture that wants captions: how many, the rows that can be translated, and what it has."""

    picture: int
    missing: int
    rows: list[int]
    texts: set[str]
    new: list[str] = field(default_factory=list)


def fill(
    corpus: Corpus,
    source: TranslationSource,
    to: Sequence[str],
    at_least: int = 5,
    languages: Sequence[str] | None = None,
    test_too: bool = False,
) -> Filled:
    """Translations, marked by the source's origin, until each picture has `at_least` captions in each language of `to`.

    Args:
        source: what translates.
        languages: translate from these, the first preferred; when left out, from English, then from the others. What
            people wrote comes before what they translated; what a machine made is never translated again.
        test_too: put `at_least` of them beside people's captions in dev and test, too.
    """
    present = corpus.all_languages()
    for code in languages or []:
        if code not in present:
            raise UserError(f'corpus {corpus.name} has no captions in "{code}"{did_you_mean(code, present)}')
    order = list(languages or sorted(present, key=lambda code: (code != PIVOT, present.index(code))))
    owners, codes, texts = corpus.owners.tolist(), corpus.languages.tolist(), list(corpus.texts)
    made: dict[str, int] = {}
    short: dict[str, int] = {}
    lines: dict[Line, None] = {}
    new_owners: list[int] = []
    new_codes: list[str] = []
    for target in to:
        beside = source.origin if test_too else None
        needs = _needs(corpus, target, [code for code in order if code != target], at_least, beside)
        _translate(needs, corpus, source, target, lines)
        for need in needs:
            new_owners += [need.picture] * len(need.new)
            new_codes += [target] * len(need.new)
            texts += need.new
        made[target] = sum(len(need.new) for need in needs)
        short[target] = sum(need.missing > 0 for need in needs)
    if not new_owners and any(short.values()):
        raise UserError(
            f"{source.name}: translates none of the captions of corpus {corpus.name} to {', '.join(to)}; "
            "see that languages and texts are the same in both"
        )
    origins = [*corpus.origins.tolist(), *[source.origin] * len(new_owners)]
    filled = replace(
        corpus,
        name=corpus.name if not new_owners else f"{corpus.name}-translated",
        owners=np.array([*owners, *new_owners], dtype=np.int64),
        languages=np.array([*codes, *new_codes], dtype=np.str_),
        texts=texts,
        origins=np.array(origins, dtype=np.str_),
        info=replace(corpus.info, translated=Translated(source.name, captions=made)),
    )
    return Filled(filled, made, short, list(lines))


def fill_statements(
    corpus: Corpus, source: TranslationSource, to: Sequence[str], languages: Sequence[str] | None = None
) -> Filled:
    """Translations of all statements that a language of `to` does not have yet, with the labels of their originals.

    Args:
        languages: translate from these, the first preferred; when left out, from English, then from the others.
    """
    if corpus.statements is None:
        raise UserError(f"corpus {corpus.name} has no statements to translate; leave --statements out for its captions")
    given = corpus.statements
    present = given.all_languages()
    for code in languages or []:
        if code not in present:
            raise UserError(f'corpus {corpus.name} has no statements in "{code}"{did_you_mean(code, present)}')
    order = list(languages or sorted(present, key=lambda code: (code != PIVOT, present.index(code))))
    rows: dict[str, dict[str, int]] = {}  # statement → its row in each language
    for row, (name, code) in enumerate(zip(given.ids.tolist(), given.languages.tolist(), strict=True)):
        rows.setdefault(name, {})[code] = row
    made: dict[str, int] = {}
    short: dict[str, int] = {}
    lines: dict[Line, None] = {}
    new: list[tuple[int, str, str]] = []  # the original's row, language and text
    for target in to:
        asked: dict[str, list[int]] = {}
        for said in rows.values():
            there = [code for code in order if code in said and code != target]
            if target not in said and there:
                asked.setdefault(there[0], []).append(said[there[0]])
        answers: dict[int, str | None] = {}
        for code, some in asked.items():
            answers |= dict(zip(some, source.translate([given.texts[row] for row in some], code, target), strict=True))
        found = {row: answer for row, answer in answers.items() if answer is not None}
        for row, answer in found.items():
            new.append((row, target, answer))
            lines[str(given.languages[row]), target, given.texts[row], answer] = None
        made[target], short[target] = len(found), len(answers) - len(found)
    if not new and any(short.values()):
        raise UserError(
            f"{source.name}: translates none of the statements of corpus {corpus.name} to {', '.join(to)}; "
            "see that languages and texts are the same in both"
        )
    again = [row for row, _, _ in new]
    statements = Entailments(
        np.concatenate([given.owners, given.owners[again]]),
        np.array([*given.languages.tolist(), *(code for _, code, _ in new)], dtype=np.str_),
        [*given.texts, *(text for _, _, text in new)],
        np.concatenate([given.labels, given.labels[again]]),
        np.concatenate([given.ids, given.ids[again]]),
    )
    filled = replace(
        corpus,
        name=corpus.name if not new else f"{corpus.name}-translated",
        statements=statements,
        info=replace(corpus.info, translated=Translated(source.name, statements=made)),
    )
    return Filled(filled, made, short, list(lines))


def _needs(corpus: Corpus, target: str, order: Sequence[str], at_least: int, beside: str | None) -> list[_Need]:
    """`beside`: count only captions of this origin in dev and test, and translate there, too."""
    have: dict[int, list[int]] = {}
    rows: dict[int, list[tuple[int, int, int]]] = {}
    place = {code: rank for rank, code in enumerate(order)}
    kinds = {"human": 0, "translation": 1}
    captions = zip(corpus.owners.tolist(), corpus.languages.tolist(), corpus.origins.tolist(), strict=True)
    for row, (owner, code, origin) in enumerate(captions):
        if code == target:
            have.setdefault(owner, []).append(row)
        elif code in place and origin in kinds:
            rows.setdefault(owner, []).append((kinds[origin], place[code], row))
    spoken = {str(corpus.splits[owner]) for owner in have}
    needs = []
    for picture, split in enumerate(corpus.splits.tolist()):
        own = have.get(picture, [])
        if split != "train" and split in spoken:
            if beside is None:
                continue
            counted = sum(corpus.origins[row] == beside for row in own)
        else:
            counted = len(own)
        if counted < at_least:
            choice = [row for _, _, row in sorted(rows.get(picture, []))]
            needs.append(_Need(picture, at_least - counted, choice, {plain(corpus.texts[row]) for row in own}))
    return needs


def _translate(
    needs: list[_Need], corpus: Corpus, source: TranslationSource, target: str, lines: dict[Line, None]
) -> None:
    """Round by round: what a picture still misses is asked for, until it has enough or nothing more to translate.

    A translation that says what the picture's captions in that language say already is not added a second time.
    """
    while asked := [(need, row) for need in needs for row in need.rows[: need.missing]]:
        answers: dict[int, str | None] = {}
        for code in dict.fromkeys(str(corpus.languages[row]) for _, row in asked):
            rows = [row for _, row in asked if corpus.languages[row] == code]
            answers |= dict(zip(rows, source.translate([corpus.texts[row] for row in rows], code, target), strict=True))
        for need in needs:
            need.rows = need.rows[max(need.missing, 0) :]
        for need, row in asked:
            answer = answers[row]
            if answer is None:
                continue
            lines[str(corpus.languages[row]), target, corpus.texts[row], answer] = None
            if plain(answer) not in need.texts:
                need.texts.add(plain(answer))
                need.new.append(answer)
                need.missing -= 1
