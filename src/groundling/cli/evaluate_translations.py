"""The questions of `groundling evaluate` that have to do with translations: asked, and shown."""

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

import typer

from groundling.cli.output import print_json, print_table, warn_of_skipped

if TYPE_CHECKING:
    from groundling.evaluation.loading import LoadedModel
    from groundling.evaluation.results import ConsistencyResult, OriginsResult, RetrievalResult, TranslatedResult


def ask(
    loaded: "LoadedModel",
    consistency: str | None,
    translate_to: str | None,
    source: str | None,
    as_json: bool,
) -> None:
    """--consistency, --translate-to, or else --by-origin."""
    if consistency:
        from groundling.evaluation.consistency.evaluate import ask_together

        together = ask_together(loaded, cast(Literal["average", "learned"], consistency), source or "own")
        return print_json(together.to_json()) if as_json else _show_consistency(together)
    if translate_to:
        from groundling.evaluation.translated_queries import ask_translated

        translated = ask_translated(loaded, translate_to, source or "own")
        return print_json(translated.to_json()) if as_json else _show_translated(translated)
    from groundling.evaluation.origins import ask_by_origin

    origins = ask_by_origin(loaded)
    return print_json(origins.to_json()) if as_json else _show_origins(origins)


def _show_origins(answer: "OriginsResult") -> None:
    from groundling.report.retrieval_tables import recall_table

    warn_of_skipped(answer.skipped)
    for origin, result in answer.origins.items():
        table = recall_table(result)
        notes = [*table.notes, _competing(result)]
        print_table(replace(table, title=f"{table.title}, captions of origin {origin}", notes=notes))


def _show_translated(answer: "TranslatedResult") -> None:
    from groundling.report.retrieval_tables import recall_table

    warn_of_skipped(answer.result.skipped)
    print_table(recall_table(answer.result))
    for code, count in answer.untranslated.items():
        typer.echo(_left_out(code, count, code in answer.result.languages, answer.source), err=True)


def _left_out(code: str, count: int, others_ask: bool, source: str) -> str:
    if others_ask:
        return f"{count:,} captions in {code} have no translation ({source}) and were left out"
    return f"{code} was left out: {count:,} of its captions have no translation ({source}), which are too many"


def _competing(result: "RetrievalResult") -> str:
    counts = ", ".join(f"{code} {part.captions:,}" for code, part in result.languages.items())
    return f"Captions: {counts}. Image→text is the easier the fewer captions compete."


def _show_consistency(answer: "ConsistencyResult") -> None:
    from groundling.report.formatted_table import Column, Table
    from groundling.report.languages import language_name
    from groundling.report.numbers import Value
    from groundling.report.retrieval_tables import recall_table

    warn_of_skipped(answer.together.skipped)
    print_table(recall_table(answer.together))
    learning = answer.learning
    columns = [Column("language", text=True), Column("translated"), Column("mR alone"), Column("mR together")]
    columns += [Column("gain"), *([Column("weight", decimals=3)] if learning else [])]
    rows: list[list[Value]] = []
    for code in dict.fromkeys([*answer.together.languages, *answer.languages]):
        asked = code in answer.together.languages
        together, alone = (one.value(code, "mR") if asked else None for one in (answer.together, answer.alone))
        gain = None if together is None or alone is None else together - alone
        weight = [learning.importance[code]] if learning else []
        rows.append([language_name(code), answer.translated.get(code), alone, together, gain, *weight])
    notes = [f"Translations: {answer.source}. Translated: queries with at least one, in percent."]
    if learning:
        notes.append(
            f"Learned: {learning.parameters} weights from {learning.learned_from:,} dev queries. "
            "Weight: a language's share of the score when all of them agree."
        )
    if answer.upper_bound:
        notes.append(
            "Comparable captions tell more about the picture that is looked for than anybody knows who searches: "
            "an upper bound, not a result."
        )
    print_table(Table(f"Each query with its translations ({answer.how})", columns, rows, notes))
