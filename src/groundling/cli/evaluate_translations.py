"""The questions of `groundling evaluate` that have to do with translations: asked, and shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast

import typer

from groundling.cli.output import print_table, warn_of_skipped


def ask(
    run: Path, consistency: str | None, translate_to: str | None, source: str | None, common: dict[str, Any]
) -> dict[str, Any]:
    """--consistency, --translate-to, or else --by-origin."""
    if consistency:
        from groundling.evaluation.consistency.evaluate import evaluate_consistency

        how = cast(Literal["average", "learned"], consistency)
        return evaluate_consistency(run, how, source or "own", **common)
    if translate_to:
        from groundling.evaluation.translated_queries import evaluate_translated

        return evaluate_translated(run, translate_to, source or "own", **common)
    from groundling.evaluation.origins import evaluate_by_origin

    return evaluate_by_origin(run, **common)


def show(answer: dict[str, Any]) -> None:
    from groundling.report.retrieval_tables import recall_table

    warn_of_skipped(answer["skipped"])
    if "origins" in answer:
        for origin, result in answer["origins"].items():
            table = recall_table(result)
            notes = [*table.notes, _competing(result)]
            print_table(replace(table, title=f"{table.title}, captions of origin {origin}", notes=notes))
        return
    print_table(recall_table(answer))
    if "consistency" in answer:
        _show_consistency(answer)
    for code, count in answer.get("untranslated", {}).items():
        typer.echo(_left_out(code, count, code in answer["languages"], answer["source"]), err=True)


def _left_out(code: str, count: int, others_ask: bool, source: str) -> str:
    if others_ask:
        return f"{count:,} captions in {code} have no translation ({source}) and were left out"
    return f"{code} was left out: {count:,} of its captions have no translation ({source}), which are too many"


def _competing(result: dict[str, Any]) -> str:
    counts = ", ".join(f"{code} {part['captions']:,}" for code, part in result["languages"].items())
    return f"Captions: {counts}. Image→text is the easier the fewer captions compete."


def _show_consistency(answer: dict[str, Any]) -> None:
    from groundling.report.languages import language_name
    from groundling.report.numbers import Value
    from groundling.report.retrieval_tables import Column, Table

    facts, importance = answer["consistency"], answer["consistency"].get("importance")
    columns = [Column("language", text=True), Column("translated"), Column("mR alone"), Column("mR together")]
    columns += [Column("gain"), *([Column("weight", decimals=3)] if importance else [])]
    rows: list[list[Value]] = []
    for code in dict.fromkeys([*answer["languages"], *facts["languages"]]):
        together, alone = (part["languages"].get(code, {}).get("mR") for part in (answer, answer["alone"]))
        gain = None if together is None else together - alone
        cells: list[Value] = [language_name(code), facts["translated"].get(code), alone, together, gain]
        rows.append([*cells, *([importance[code]] if importance else [])])
    notes = [f"Translations: {facts['source']}. Translated: queries with at least one, in percent."]
    if importance:
        notes.append(
            f"Learned: {facts['parameters']} weights from {facts['learned_from']:,} dev queries. "
            "Weight: a language's share of the score when all of them agree."
        )
    if facts.get("upper_bound"):
        notes.append(
            "Comparable captions tell more about the picture that is looked for than anybody knows who searches: "
            "an upper bound, not a result."
        )
    print_table(Table(f"Each query with its translations ({facts['how']})", columns, rows, notes))
