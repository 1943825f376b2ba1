"""groundling compare"""

from typing import TYPE_CHECKING, Annotated

import typer

from groundling.cli.output import AsJson, Data, Device, print_json, print_table

if TYPE_CHECKING:
    from groundling.evaluation.compare import Comparison


def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="Evaluated runs, folders that `groundling evaluate --out` wrote, or pretrained models, which are "
            "asked what the first evaluated one was asked; the first is what the others are compared with.",
        ),
    ],
    depth: Annotated[int, typer.Option(min=1, help="Compare R@DEPTH.")] = 10,
    samples: Annotated[int, typer.Option(min=100, max=1_000_000, help="Random draws of each test.")] = 10_000,
    data: Data = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Is one model better than another on the same test queries, or is it chance?

    Paired bootstrap interval and permutation test over pictures, by language and direction. A p-value speaks of these
    two trainings; whether the system is better takes several seeds (`groundling reproduce`). A model whose weights or
    settings have changed since it was evaluated is evaluated again first.
    """
    from groundling.errors import UserError
    from groundling.evaluation.compare import compare as compare_runs
    from groundling.evaluation.compare import evaluated_alike

    if len(models) < 2:
        raise UserError("name at least two models; the first is what the others are compared with")
    baseline, *others = evaluated_alike(models, data, device)
    results = [compare_runs(other, baseline, depth, samples) for other in others]
    if as_json:
        return print_json([result.to_json() for result in results])
    for result in results:
        _show(result, depth)


def _show(result: "Comparison", depth: int) -> None:
    from groundling.evaluation.compare import ENTAILMENT
    from groundling.evaluation.metrics import DIRECTIONS
    from groundling.report.formatted_table import Column, Table
    from groundling.report.languages import language_name
    from groundling.report.numbers import Value

    columns = [Column("language", text=True), Column("direction", text=True), Column("baseline"), Column("run")]
    columns += [Column("difference"), Column("95% interval", text=True), Column("p", decimals=4)]
    rows: list[list[Value]] = [
        [
            language_name(code),
            DIRECTIONS.get(direction, "entailment"),
            found.baseline,
            found.run,
            found.difference,
            f"{found.low:+.1f} … {found.high:+.1f}",
            found.p,
        ]
        for code, directions in result.languages.items()
        for direction, found in directions.items()
    ]
    judged = any(ENTAILMENT in directions for directions in result.languages.values())
    title = f"{'Accuracy' if judged else f'R@{depth}'} of {result.run} against {result.baseline}"
    print_table(Table(title, columns, rows))
