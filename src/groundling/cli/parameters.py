"""groundling parameters"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import ANY_MODEL, AsJson, Data, TextModel, print_json, print_table

if TYPE_CHECKING:
    from groundling.evaluation.parameters import ParameterReport


def parameters(
    models: Annotated[list[str] | None, typer.Argument(metavar="MODEL", help=ANY_MODEL)] = None,
    text_model: TextModel = None,
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Instead of models: LIWE, CLMR and BERT+GRU at the sizes of Wehrmann et al. 2019 (supplement, Table "
            "1), beside the numbers printed there.",
        ),
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """How many parameters a model has, by part: those that are trained, and those it needs to answer.

    Only what runs is counted. For its word vectors also how many times smaller they are than a word table for the same
    training captions, the "reduction" of papers.
    """
    from groundling.errors import UserError

    if bool(models) == table:
        raise UserError("name one or more models, or ask for the published ones with --table alone")
    if table:
        return _published(as_json)
    from groundling.evaluation.parameters import describe
    from groundling.model import load

    described = {name: describe(load(name, text_model, "cpu"), data) for name in models or []}
    if as_json:
        return print_json([{"run": run, **one.to_json()} for run, one in described.items()])
    for run, one in described.items():
        _show(run, one)
    if len(described) > 1:
        _compare(described)


def _show(run: str, one: "ParameterReport") -> None:
    from groundling.report.formatted_table import Column, Table
    from groundling.report.numbers import Value

    columns = [Column("part", text=True), Column("trained", decimals=0), Column("at test time", decimals=0)]
    rows: list[list[Value]] = [[part.name, part.trainable, part.test_time] for part in one.parts]
    words = sum(part.trainable for part in one.parts if part.for_words)
    foot: list[list[Value]] = [
        ["all", one.counts.trainable, one.counts.test_time],
        ["of which for words", words, one.counts.for_words],
    ]
    print_table(Table(f"Parameters of {run} ({one.system})", columns, rows, [_note(one)], foot))


def _note(one: "ParameterReport") -> str:
    table = one.word_table
    if table is None:
        return f"No word table to compare with: {one.problem}."
    return (
        f"A word table for the same captions has {table.words:,} × {table.dimensions} = {table.parameters:,} "
        f"parameters, {_times(one.reduction)} those for words here."
    )


def _compare(described: "dict[str, ParameterReport]") -> None:
    from groundling.report.formatted_table import Column, Table

    columns = [Column("run", text=True), Column("system", text=True), Column("trained", decimals=0)]
    columns += [Column("at test time", decimals=0), Column("for words", decimals=0), Column("reduction")]
    rows = [
        [run, one.system, one.counts.trainable, one.counts.test_time, one.counts.for_words, _times(one.reduction)]
        for run, one in described.items()
    ]
    print_table(Table("Parameters", columns, rows, ["Reduction: a word table for the same captions / for words."]))


def _published(as_json: bool) -> None:
    from groundling.evaluation.parameter_table import count_rows, published_parameters
    from groundling.report.formatted_table import Column, Table

    table = published_parameters()
    rows = count_rows(table)
    if as_json:
        return print_json([asdict(row) for row in rows])
    columns = [Column("", text=True)]
    for group in ("ours", "with biases, as published"):
        columns += [Column("parameters", group), Column("reduction", group)]
    columns += [Column("millions", "published"), Column("reduction", "published")]
    lines = [
        [
            row.name,
            row.parameters,
            _times(row.reduction),
            row.parameters_with_biases,
            _times(row.reduction_with_biases),
            f"{row.published_millions:.1f}M",
            _times(row.published_reduction),
        ]
        for row in rows
    ]
    print_table(Table(table.title, columns, lines, table.notes))


def _times(factor: float | None) -> str | None:
    """46×, 0.08×"""
    if factor is None:
        return None
    return f"{factor:.0f}×" if factor >= 1 else f"{factor:.2f}×"
